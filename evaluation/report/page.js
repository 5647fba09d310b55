// The filter of a page's questions. Without it all of them are shown.
"use strict";
(function () {
  const form = document.querySelector("form");
  if (!form) return;
  const questions = Array.from(document.querySelectorAll(".question"));
  const texts = new Map();
  const textOf = (question) => {
    if (!texts.has(question)) texts.set(question, question.textContent.toLowerCase());
    return texts.get(question);
  };
  const isWrong = (question, which) => {
    const wrong = question.dataset.wrong.split(" ").filter(Boolean);
    return !which || (which === "*" ? wrong.length > 0 : wrong.includes(which));
  };
  const chosen = () => Object.fromEntries(new FormData(form).entries());
  const apply = () => {
    const { wrong, need, kind, text } = chosen();
    const wanted = (text || "").trim().toLowerCase();
    let shown = 0;
    for (const question of questions) {
      const fits = isWrong(question, wrong) && (!need || question.dataset.need === need) &&
        (!kind || question.dataset.kind === kind) && (!wanted || textOf(question).includes(wanted));
      question.hidden = !fits;
      shown += fits;
    }
    form.querySelector("output").textContent = `${shown} of ${questions.length} questions on this page`;
    const kept = new URLSearchParams(Object.entries(chosen()).filter(([, value]) => value)).toString();
    history.replaceState(null, "", kept ? `#${kept}` : location.pathname + location.search);
    for (const link of document.querySelectorAll("nav a[data-page]")) link.hash = kept;
  };
  const given = new URLSearchParams(location.hash.slice(1));
  for (const field of form.elements) if (field.name && given.has(field.name)) field.value = given.get(field.name);
  let waiting = 0;
  form.addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(apply, 120); });
  form.addEventListener("submit", (event) => { event.preventDefault(); apply(); });
  form.hidden = false;
  apply();
})();

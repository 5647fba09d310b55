// The filter of questions: of those on a page, or of all by the index of the page that finds them.
"use strict";
(function () {
  const AT_ONCE = 100; // questions found that are shown before one asks for more
  const told = (number) => number.toLocaleString("en");

  // Of a page's own questions it hides those that do not fit.
  function onThisPage() {
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
    const named = document.getElementById(location.hash.slice(1));
    if (questions.includes(named)) {
      named.open = true;
      named.scrollIntoView();
    }
    return ({ wrong, need, kind, text }) => {
      let shown = 0;
      for (const question of questions) {
        const fits = isWrong(question, wrong) && (!need || question.dataset.need === need) &&
          (!kind || question.dataset.kind === kind) && (!text || textOf(question).includes(text));
        question.hidden = !fits;
        shown += fits;
      }
      return `${told(shown)} of ${told(questions.length)} questions on this page`;
    };
  }

  // Of all questions it lists those that fit, with where they are.
  function inAll({ verdicts, methods, questions }) {
    const list = document.querySelector(".found");
    const button = document.querySelector("main > button");
    document.querySelector(".unscripted").remove();
    const texts = questions.map(([, , , , question, others]) => `${question}\n${others}`.toLowerCase());
    const isWrong = (signs, which) => !which || (which === "*" ? /[12]/.test(signs) : /[12]/.test(signs[which - 1]));
    const element = (name, look, ...inside) => {
      const made = document.createElement(name);
      made.className = look;
      made.append(...inside); // texts stay texts
      return made;
    };
    const item = (place) => {
      const [page, signs, , , question] = questions[place];
      const link = element("a", "asked", element("bdi", "", question));
      link.href = `${String(page).padStart(4, "0")}.html#question-${place + 1}`;
      const signed = methods.map((label, method) => {
        const [name, sign] = verdicts[signs[method]];
        return element("span", `verdict ${name}`, `${sign} ${label}`);
      });
      return element("li", "", element("span", "number", `${place + 1}`), link, element("span", "verdicts", ...signed));
    };
    let waiting = [];
    const more = () => {
      list.append(...waiting.splice(0, AT_ONCE).map(item));
      button.hidden = !waiting.length;
      button.textContent = `${Math.min(AT_ONCE, waiting.length)} more`;
    };
    button.addEventListener("click", () => {
      const last = list.lastElementChild;
      more();
      last.nextElementSibling.querySelector("a").focus();
    });
    return ({ wrong, need, kind, text }) => {
      waiting = [];
      questions.forEach(([, signs, its, sort], place) => {
        if (isWrong(signs, wrong) && (!need || its === need) && (!kind || sort === kind) &&
          (!text || texts[place].includes(text))) waiting.push(place);
      });
      const said = `${told(waiting.length)} of ${told(questions.length)} questions`;
      list.replaceChildren();
      more();
      return said;
    };
  }

  const form = document.querySelector("form");
  if (!form) return;
  const index = document.getElementById("index");
  const show = index ? inAll(JSON.parse(index.textContent)) : onThisPage();
  const chosen = () => Object.fromEntries(new FormData(form).entries());
  const apply = () => {
    const wanted = chosen();
    form.querySelector("output").textContent = show({ ...wanted, text: (wanted.text || "").trim().toLowerCase() });
    const kept = new URLSearchParams(Object.entries(wanted).filter(([, value]) => value)).toString();
    for (const link of document.querySelectorAll("nav a[data-page]")) link.hash = kept;
    return kept ? `#${kept}` : location.pathname + location.search;
  };
  const change = () => history.replaceState(null, "", apply());
  const given = new URLSearchParams(location.hash.slice(1));
  for (const field of form.elements) if (field.name && given.has(field.name)) field.value = given.get(field.name);
  let waiting = 0;
  form.addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(change, 120); });
  form.addEventListener("submit", (event) => { event.preventDefault(); change(); });
  form.hidden = false;
  apply();
})();

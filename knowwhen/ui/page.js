() => {
  // What a reader has opened stays open, and focused, when a tree that grows is drawn anew.
  const open = new Set();
  let focused = null;
  const named = (name) => document.querySelector(`details[data-kept="${name}"]`);
  document.addEventListener("toggle", ({ target }) => {
    const name = target.dataset?.kept;
    if (name) target.open ? open.add(name) : open.delete(name);
  }, true);
  document.addEventListener("focusin", ({ target }) => {
    focused = target.matches("summary") ? target.parentElement.dataset.kept : null;
  });
  new MutationObserver(() => {
    for (const details of document.querySelectorAll("details[data-kept]:not([open])")) {
      if (open.has(details.dataset.kept)) details.open = true;
    }
    if (focused && document.activeElement === document.body) named(focused)?.querySelector("summary").focus();
  }).observe(document.body, { childList: true, subtree: true });
  // What is said of a run is told to who cannot see it.
  for (const live of document.querySelectorAll(".kw-live")) live.setAttribute("aria-live", "polite");
}

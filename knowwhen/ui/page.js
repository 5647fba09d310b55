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
  // A button that is pressed and then closed (Stop, Next) hands the focus to its neighbour.
  let button = null;
  document.addEventListener("focusin", ({ target }) => { button = target.closest("button"); });
  new MutationObserver(() => {
    if (!button?.disabled) return;
    button.parentElement.querySelector("button:enabled")?.focus();
    button = null;
  }).observe(document.body, { attributeFilter: ["disabled"], subtree: true });
  // Gradio's list of choices opens at any key; the Tab that leaves it would leave it open over the page.
  document.addEventListener("keydown", (event) => {
    if (event.key === "Tab" && event.target.matches("[role=combobox]")) event.stopPropagation();
  }, true);
}

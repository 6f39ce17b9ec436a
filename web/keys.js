// The keyboard.

/** @typedef {import("./main.js").App} App */

/** @type {Array<[string, string]>} what the help shows */
export const KEYS = [
  ["w s", "zoom in, out at the pointer"], ["a d, ← →", "move left, right"], ["↑ ↓", "scroll"], ["ctrl + wheel", "zoom at the pointer"],
  ["drag", "move"], ["shift + drag", "measure a span"], ["double click, f", "fit what is picked, or the span"], ["0", "show everything"],
  ["/", "search"], ["n N", "next, previous match"], ["] [", "next, previous event of this name"], ["enter", "follow the arrow"], ["p", "pin the row"],
  ["alt + ↑ ↓", "move the row"], ["browser back", "undo a jump"], ["esc", "clear"], ["?", "this"],
];

/** @param {App} app */
export function listenToKeys(app) {
  let pointer = NaN;
  window.addEventListener("mousemove", (event) => { pointer = event.clientX; });
  /** @type {Record<string, () => void>} */
  const plain = {
    w: () => app.view.zoom(0.7, app.pointerTime(pointer)), s: () => app.view.zoom(1 / 0.7, app.pointerTime(pointer)),
    a: () => app.view.pan(-(app.view.to - app.view.from) * 0.15), d: () => app.view.pan((app.view.to - app.view.from) * 0.15),
    ArrowLeft: () => app.view.pan(-(app.view.to - app.view.from) * 0.15), ArrowRight: () => app.view.pan((app.view.to - app.view.from) * 0.15),
    f: () => app.fitChosen(), 0: () => app.view.show(app.view.first, app.view.last, true), "/": () => app.search.focus(),
    n: () => app.search.step(1), N: () => app.search.step(-1), "]": () => app.sibling(1), "[": () => app.sibling(-1), Enter: () => app.followArrow(),
    p: () => app.pinChosen(), "?": () => app.showKeys(), Escape: () => app.clear(),
  };
  window.addEventListener("keydown", (event) => {
    const target = /** @type {HTMLElement} */ (event.target);
    const typing = target instanceof HTMLInputElement || target instanceof HTMLSelectElement || target instanceof HTMLTextAreaElement;
    if (event.key === "Escape" && typing)
      target.blur();
    if (typing || event.ctrlKey || event.metaKey || target.closest("#bottom, #side, dialog") && event.key !== "/" && event.key !== "Escape")
      return;
    if (event.altKey && (event.key === "ArrowUp" || event.key === "ArrowDown")) {
      event.preventDefault();
      app.moveChosen(event.key === "ArrowUp" ? -1 : 1);
      return;
    }
    const action = !event.altKey && plain[event.key];
    if (!action)
      return;
    event.preventDefault();
    action();
  });
}

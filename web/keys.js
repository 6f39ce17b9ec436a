// The keyboard.

/** @typedef {import("./main.js").App} App */

/** @type {Array<[string, string]>} what the help shows */
export const KEYS = [
  ["w s", "zoom in, out at the pointer"], ["a d, ← →", "move left, right"], ["↑ ↓", "scroll the rows"],
  ["ctrl + wheel, pinch", "zoom at the pointer"], ["wheel on the ruler", "zoom"],
  ["drag, two fingers", "move"], ["shift + drag", "measure a span"],
  ["double click, f", "fit what is picked, or the span"], ["z", "zoom to the span"], ["0", "show everything"],
  ["Home End", "go to the beginning, the end"], ["/", "search"],
  ["n N", "next, previous match"], ["] [", "next, previous event of this name"], ["enter", "follow the arrow"], ["p", "pin the row"],
  ["alt + ↑ ↓", "reorder the row"], ["+ -", "open, close all rows"],
  ["c", "colour by kind, name, row"],
  ["alt + drag", "move one report against the others"], ["browser back", "undo a jump"], ["esc", "clear"], ["?", "this"],
];

const STEP = 0.15;
const MODES = ["class", "name", "row"];

/** @param {App} app @returns {Record<string, () => void>} */
function actionsOf(app) {
  const { view, timeline } = app;
  const pan = (/** @type {number} */ part) => view.pan((view.to - view.from) * part);
  const pointer = () => app.pointerTime(timeline.pointerX);
  const openAll = (/** @type {boolean} */ open) => {
    app.rows.openAll(open);
    app.rowsChanged();
  };
  return {
    w: () => view.zoom(0.7, pointer()), s: () => view.zoom(1 / 0.7, pointer()),
    a: () => pan(-STEP), d: () => pan(STEP),
    ArrowLeft: () => pan(-STEP), ArrowRight: () => pan(STEP),
    ArrowUp: () => timeline.scroll.scrollBy(0, -60), ArrowDown: () => timeline.scroll.scrollBy(0, 60),
    PageUp: () => timeline.scroll.scrollBy(0, -0.9 * timeline.height), PageDown: () => timeline.scroll.scrollBy(0, 0.9 * timeline.height),
    f: () => app.fitChosen(), z: () => app.zoomToSpan(), 0: () => app.showAll(), "/": () => app.search.focus(),
    Home: () => view.show(view.first, view.first + view.to - view.from, true),
    End: () => view.show(view.last - (view.to - view.from), view.last, true),
    n: () => app.search.step(1), N: () => app.search.step(-1), "]": () => app.sibling(1), "[": () => app.sibling(-1),
    Enter: () => app.followArrow(), p: () => app.pinChosen(),
    c: () => app.setColour(MODES[(MODES.indexOf(app.colourMode) + 1) % MODES.length]),
    "+": () => openAll(true), "-": () => openAll(false), "?": () => app.theme.showKeys(),
    Escape: () => app.clear(),
  };
}

/** Keys that mean something to what has the focus. @param {HTMLElement} target @param {string} key */
function isTaken(target, key) {
  if (target instanceof HTMLInputElement || target instanceof HTMLSelectElement || target instanceof HTMLTextAreaElement)
    return true;
  if ((target instanceof HTMLButtonElement || target.getAttribute("role") === "separator") && (key === "Enter" || key === " "))
    return true;
  return Boolean(target.closest("#bottom, #side, dialog")) && !["/", "Escape", "?", "n", "N", "[", "]"].includes(key);
}

/** @param {App} app */
export function listenToKeys(app) {
  const actions = actionsOf(app);
  window.addEventListener("pointermove", (event) => { app.timeline.pointerX = event.clientX; });
  window.addEventListener("keydown", (event) => {
    const target = /** @type {HTMLElement} */ (event.target);
    if (document.body.dataset.view === "kernels")
      return;
    if (event.key === "Escape" && isTaken(target, "x")) {
      // A search field would forget its text, and n could not go on from match to match.
      if (target instanceof HTMLInputElement)
        event.preventDefault();
      target.blur();
      return;
    }
    if (event.ctrlKey || event.metaKey || isTaken(target, event.key))
      return;
    if (event.altKey && (event.key === "ArrowUp" || event.key === "ArrowDown")) {
      event.preventDefault();
      app.moveChosen(event.key === "ArrowUp" ? -1 : 1);
      return;
    }
    const action = !event.altKey && actions[event.key];
    if (!action)
      return;
    event.preventDefault();
    action();
  });
}

// The names of rows at the left: a tree that mouse and keyboard open, close, pin and put in another order.
import * as format from "../format.js";
import { isFolding, keyOf, summary } from "./rows.js";
import { lookedAt, shareOf } from "./shares.js";

/** @typedef {import("./rows.js").Row} Row */
/** @typedef {import("../main.js").App} App */

const DRAG_PIXELS = 6;
/** So long, in ms, the view rests before shares are told of it: they would flicker, and every frame make all labels anew. */
const REST = 150;

/**
 * Writes what is other than it was; null: not there.
 * @param {Element} element @param {Record<string, string | null>} attributes @param {string} [text]
 */
function put(element, attributes, text) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null)
      element.removeAttribute(name);
    else if (element.getAttribute(name) !== value)
      element.setAttribute(name, value);
  }
  if (text !== undefined && element.textContent !== text)
    element.textContent = text;
}

/** @param {string} key */
function newLabel(key) {
  const label = document.createElement("div");
  const parts = ["mark", "name", "found", "sum"].map((part) => `<span class="${part}"></span>`);
  label.innerHTML = `${parts.join("")}<button class="pin" tabindex="-1"></button>`;
  label.setAttribute("role", "treeitem");
  label.dataset.key = key;
  return label;
}

export class Labels {
  /** @param {App} app @param {HTMLElement} element */
  constructor(app, element) {
    this.app = app;
    this.element = element;
    /** @type {Map<string, HTMLElement>} by row */
    this.shown = new Map();
    /** What the shares that are shown are of. */
    this.told = "";
    /** @type {Map<string, { sum: string, busy: string }>} by row */
    this.shares = new Map();
    this.timer = 0;
    /** @type {null | { row: Row, y: number, moved: boolean }} */
    this.drag = null;
    element.addEventListener("click", (event) => this.click(event));
    element.addEventListener("keydown", (event) => this.key(event));
    element.addEventListener("pointerdown", (event) => this.press(event));
    element.addEventListener("pointermove", (event) => this.moved(event));
    element.addEventListener("pointerup", (event) => this.release(event));
    element.addEventListener("focusin", (event) => this.focused(event));
  }

  /** A label stays the same element as long as its row is in sight: a press and its release are no click where it was another in between.
   * @param {Array<{ row: Row, y: number }>} placed */
  draw(placed) {
    this.rest();
    const chosen = this.app.row;
    const first = placed.some(({ row }) => row === chosen) ? chosen : placed.find(({ row }) => row)?.row;
    const focused = this.element.contains(document.activeElement);
    const keys = new Set(placed.map(({ row }) => keyOf(row)));
    for (const [key, label] of this.shown)
      if (!keys.has(key)) {
        label.remove();
        this.shown.delete(key);
      }
    placed.forEach(({ row, y }, i) => {
      const key = keyOf(row);
      const label = this.shown.get(key) || newLabel(key);
      this.shown.set(key, label);
      this.fill(label, row, y, row === first);
      if (this.element.children[i] !== label)
        this.element.insertBefore(label, this.element.children[i] || null);
    });
    if (focused)
      this.focus(false);
  }

  /** While the view moves, shares stay those of before. */
  rest() {
    const { from, to, isSpan } = lookedAt(this.app);
    const now = `${from}/${to}/${isSpan}`;
    if (now === this.told) {
      if (!this.timer)
        this.shares.clear();
      return;
    }
    this.told = now;
    window.clearTimeout(this.timer);
    this.timer = window.setTimeout(() => {
      this.timer = 0;
      this.app.timeline.redraw();
    }, REST);
  }

  /** @param {Row} row */
  share(row) {
    const known = this.shares.get(keyOf(row));
    if (known)
      return known;
    const share = shareOf(this.app, row);
    const sum = summary(row, share);
    const { from, to, isSpan } = lookedAt(this.app);
    const looked = `${isSpan ? "measured span" : "window"} (${format.duration(to - from)})`;
    const made = { sum, busy: share === null ? "" : `busy for ${sum} of the ${looked}` };
    this.shares.set(keyOf(row), made);
    return made;
  }

  /** @param {HTMLElement} label @param {Row} row @param {number} y @param {boolean} reachable by the tab key */
  fill(label, row, y, reachable) {
    const folding = isFolding(row);
    const chosen = row === this.app.row;
    const pin = row.pinned ? "Unpin" : "Pin to the top";
    const { sum: share, busy } = this.share(row);
    const [mark, name, found, sum, button] = label.children;
    const events = row.count ? format.some(row.count, row.draw === "plot" ? "values" : "events") : "";
    put(label, {
      class: ["label", row.draw, row.pinned && "pinned", chosen && "chosen", row.kind === "report" && "report"].filter(Boolean).join(" "),
      "aria-level": String(row.depth + 1), "aria-selected": String(chosen), "aria-label": `${row.label} ${busy || share}`,
      tabindex: reachable ? "0" : "-1", "aria-expanded": folding ? String(row.open) : null,
      style: `top:${y}px;height:${row.height - 1}px;padding-left:${6 + Math.min(row.depth, 8) * 12}px`,
      title: [row.label, row.detail, busy, events].filter(Boolean).join("\n"),
    });
    put(mark, {}, folding ? (row.open ? "▾" : "▸") : "");
    put(name, {}, row.label);
    put(found, { title: `${format.count(row.found)} matches`, hidden: row.found ? null : "" }, format.count(row.found));
    put(sum, {}, share);
    put(button, { title: `${pin} (p)`, "aria-label": pin }, row.pinned ? "●" : "○");
  }

  /** @param {EventTarget | null} target */
  rowOf(target) {
    const key = target instanceof Element ? /** @type {HTMLElement | null} */ (target.closest(".label"))?.dataset.key : undefined;
    return key ? this.app.rows.byKey.get(key) : undefined;
  }

  /** @param {boolean} byKeys */
  focus(byKeys) {
    const key = this.app.row && keyOf(this.app.row);
    const label = key && /** @type {HTMLElement | null} */ (this.element.querySelector(`[data-key="${key}"]`));
    if (label)
      label.focus({ preventScroll: true });
    else if (byKeys)
      this.element.focus({ preventScroll: true });
  }

  /** @param {FocusEvent} event */
  focused(event) {
    const row = this.rowOf(event.target);
    if (row && row !== this.app.row && !this.drag)
      this.app.rowChosen(row);
  }

  /** @param {MouseEvent} event */
  click(event) {
    const row = this.rowOf(event.target);
    if (!row)
      return;
    if (/** @type {HTMLElement} */ (event.target).classList.contains("pin"))
      this.app.rows.pin(row);
    else if (isFolding(row))
      this.app.rows.toggle(row);
    this.app.rowChosen(row);
    this.app.rowsChanged();
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const { rows, row } = this.app;
    if (!row || event.ctrlKey || event.metaKey)
      return;
    const all = [...rows.pins, ...rows.shown];
    const at = all.indexOf(row);
    /** @type {Record<string, () => void>} */
    const actions = {
      ArrowDown: () => this.choose(all[Math.min(at + 1, all.length - 1)]), ArrowUp: () => this.choose(all[Math.max(at - 1, 0)]),
      ArrowRight: () => (isFolding(row) && !row.open ? rows.toggle(row) : row.children.length && this.choose(all[at + 1])),
      ArrowLeft: () => (isFolding(row) && row.open ? rows.toggle(row) : row.above && this.choose(row.above)),
      Enter: () => isFolding(row) && rows.toggle(row), " ": () => isFolding(row) && rows.toggle(row),
    };
    const action = event.altKey ? null : actions[event.key];
    if (!action)
      return;
    event.preventDefault();
    event.stopPropagation();
    action();
    this.app.rowsChanged();
  }

  /** @param {Row | undefined} row */
  choose(row) {
    if (!row)
      return;
    this.app.rowChosen(row);
    this.app.bringRow(row);
    this.app.timeline.draw();
    this.focus(true);
  }

  /** @param {PointerEvent} event */
  press(event) {
    const row = this.rowOf(event.target);
    if (row && event.button === 0 && !/** @type {HTMLElement} */ (event.target).classList.contains("pin"))
      this.drag = { row, y: event.clientY, moved: false };
  }

  /** @param {PointerEvent} event */
  moved(event) {
    const { drag } = this;
    if (!drag)
      return;
    if (!drag.moved && Math.abs(event.clientY - drag.y) > DRAG_PIXELS) {
      drag.moved = true;
      this.element.setPointerCapture(event.pointerId);
      this.element.classList.add("dragging");
    }
    if (!drag.moved)
      return;
    const over = this.app.timeline.rowAt(event.clientY - this.element.getBoundingClientRect().top);
    const { rows } = this.app;
    /** @type {Row | null | undefined} */
    let place = over;
    while (place && place.above !== drag.row.above)
      place = place.above;
    if (place && place !== drag.row && rows.siblings(drag.row).includes(place)) {
      rows.moveTo(drag.row, place);
      this.app.row = drag.row;
      this.app.rowsChanged();
    }
  }

  /** A drag is no click. @param {PointerEvent} event */
  release(event) {
    const moved = this.drag?.moved;
    this.drag = null;
    this.element.classList.remove("dragging");
    if (moved) {
      event.preventDefault();
      this.element.addEventListener("click", (click) => click.stopImmediatePropagation(), { once: true, capture: true });
    }
  }
}

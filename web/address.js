// The address says what is looked at, so that it can be sent to somebody, and the back button undoes a jump.

import { isFolding } from "./timeline/rows.js";

/** @typedef {import("./main.js").App} App */
/**
 * @typedef {object} State what an address says; what is missing is as it is at first
 * @property {[number, number]} [window]
 * @property {[number, number]} [span]
 * @property {import("./main.js").Picked} [picked]
 * @property {string[]} opened keys of rows
 * @property {string[]} closed
 * @property {string[]} pinned
 * @property {string} [view] where there is another than the timeline
 * @property {string} [colour]
 * @property {string} [panel]
 * @property {string} [search]
 * @property {string} [filter]
 * @property {string} [align]
 * @property {number[]} [offsets] of reports
 */

const WRITE_DELAY = 200;

/** @param {string[]} keys */
const keyList = (keys) => keys.map((key) => key.replace("/", ".")).join(",");

/** @param {State} state */
export function writeState(state) {
  const parts = [];
  if (state.window)
    parts.push(`from=${Math.round(state.window[0])}`, `to=${Math.round(state.window[1])}`);
  if (state.span)
    parts.push(`span=${Math.round(state.span[0])}:${Math.round(state.span[1])}`);
  if (state.picked)
    parts.push(`event=${state.picked.report}.${state.picked.row}.${state.picked.lane}.${state.picked.index}`);
  for (const name of /** @type {const} */ (["opened", "closed", "pinned"]))
    if (state[name].length)
      parts.push(`${name}=${keyList(state[name])}`);
  for (const name of /** @type {const} */ (["view", "colour", "panel", "search", "filter", "align"]))
    if (state[name])
      parts.push(`${name}=${encodeURIComponent(/** @type {string} */ (state[name]))}`);
  if (state.offsets?.some((offset) => offset !== 0))
    parts.push(`offsets=${state.offsets.map(Math.round).join(",")}`);
  return parts.join("&");
}

/** @param {string | null} text @param {string} mark @param {number} count @returns {number[] | null} */
function numbers(text, mark, count) {
  const list = (text || "").split(mark).map((part) => (/^-?\d+$/.test(part) ? Number(part) : NaN));
  return list.length === count && list.every(Number.isSafeInteger) ? list : null;
}

/** @param {string | null} text */
const keysOf = (text) => (text || "").split(",").filter((key) => /^\d+\.-?\d+$/.test(key)).map((key) => key.replace(".", "/"));

/** @param {string} hash @returns {State} */
export function readState(hash) {
  const values = new URLSearchParams(hash.replace(/^#/, ""));
  /** @type {State} */
  const state = { opened: keysOf(values.get("opened")), closed: keysOf(values.get("closed")), pinned: keysOf(values.get("pinned")) };
  const window = numbers(`${values.get("from")}:${values.get("to")}`, ":", 2);
  const span = numbers(values.get("span"), ":", 2);
  const event = numbers(values.get("event"), ".", 4);
  if (window && window[1] > window[0])
    state.window = [window[0], window[1]];
  if (span && span[1] >= span[0])
    state.span = [span[0], span[1]];
  if (event && event.every((n) => n >= 0))
    state.picked = { report: event[0], row: event[1], lane: event[2], index: event[3] };
  for (const name of /** @type {const} */ (["colour", "panel", "search", "filter", "align"])) {
    const text = values.get(name);
    if (text)
      state[name] = text;
  }
  const offsets = (values.get("offsets") || "").split(",").map((part) => (/^-?\d+$/.test(part) ? Number(part) : NaN));
  if (offsets.every(Number.isSafeInteger))
    state.offsets = offsets;
  return state;
}

/** What is looked at now. @param {App} app @returns {State} */
export function stateOf(app) {
  const rows = [...app.rows.byKey.entries()];
  const changed = rows.filter(([, row]) => row.open !== row.openAtFirst && isFolding(row));
  return {
    window: [app.view.from, app.view.to], span: app.view.span ?? undefined, picked: app.view.picked ?? undefined,
    opened: changed.filter(([, row]) => row.open).map(([key]) => key), closed: changed.filter(([, row]) => !row.open).map(([key]) => key),
    pinned: rows.filter(([, row]) => row.pinned).map(([key]) => key), colour: app.colourMode === "class" ? undefined : app.colourMode,
    panel: app.bottom.current === "events" ? undefined : app.bottom.current,
    search: app.search.text || undefined, filter: app.rows.filter || undefined,
    view: app.kernels.has ? "timeline" : undefined,
    align: app.alignment.way === "start" ? undefined : app.alignment.way, offsets: app.loaded.map((report) => report.offset),
  };
}

/** Shows what an address says. @param {App} app @param {State} state */
export function restoreState(app, state) {
  app.address.restoring = true;
  if (state.offsets && app.loaded.length > 1) {
    app.alignment.way = state.align || "start";
    app.alignment.set(state.offsets);
  }
  for (const [key, row] of app.rows.byKey) {
    row.open = state.opened.includes(key) || (row.openAtFirst && !state.closed.includes(key));
    row.pinned = state.pinned.includes(key);
  }
  app.setFilter(state.filter || "");
  app.setColour(state.colour || app.colourMode);
  app.view.span = state.span || null;
  app.view.show(...(state.window || /** @type {[number, number]} */ ([app.view.first, app.view.last])));
  app.search.restore(state.search || "");
  const picked = state.picked && app.rows.find(state.picked.report, state.picked.row) ? state.picked : null;
  app.view.picked = picked;
  app.pick(picked, true);
  if (app.started && app.bottom.current !== (state.panel || "events"))
    app.bottom.open(state.panel || "events");
  app.address.restoring = false;
}

export class Address {
  /** @param {App} app */
  constructor(app) {
    this.app = app;
    this.timer = 0;
    this.restoring = true;
    window.addEventListener("popstate", () => app.restore(readState(location.hash)));
  }

  /** What is looked at now. */
  text() {
    return writeState(this.app.state());
  }

  /** Soon, as it changes with every step of a drag. */
  change() {
    if (this.restoring || this.timer)
      return;
    this.timer = window.setTimeout(() => this.write(), WRITE_DELAY);
  }

  write() {
    window.clearTimeout(this.timer);
    this.timer = 0;
    const address = `#${this.text()}`;
    if (location.hash !== address)
      history.replaceState(null, "", address);
  }

  /** A jump follows: where one is now is kept for the back button. */
  jump() {
    if (this.restoring)
      return;
    this.write();
    history.pushState(null, "", location.hash);
  }
}

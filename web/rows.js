// The tree of rows: which are open, pinned, hidden; where each lies.
import * as format from "./format.js";

export const LANE = 18;
const HEIGHTS = { group: 22, slices: LANE, points: 20, plot: 44 };
/** Rows of these kinds are closed at first. */
const CLOSED = new Set(["thread", "cpu", "quiet"]);
const MOST_LANES = 12;

/**
 * @typedef {object} Row
 * @property {number} report
 * @property {number} id
 * @property {number} parent
 * @property {string} kind
 * @property {string} label
 * @property {string} [detail]
 * @property {"group" | "slices" | "points" | "plot"} draw
 * @property {number} lanes
 * @property {number} [share]
 * @property {number} [count]
 * @property {boolean} [quiet]
 * @property {string} [unit]
 * @property {number} [least]
 * @property {number} [most]
 * @property {Row[]} children
 * @property {Row | null} above
 * @property {number} depth
 * @property {boolean} open
 * @property {boolean} pinned
 * @property {number} top
 * @property {number} height
 */

/** The rows of all reports in one tree. */
export class Rows {
  constructor() {
    /** @type {Row[]} */
    this.roots = [];
    /** @type {Map<string, Row>} */
    this.byKey = new Map();
    /** @type {Row[]} those that are shown, from the top */
    this.shown = [];
    this.height = 0;
    this.filter = "";
  }

  /** @param {number} report @param {any[]} list @param {string} [heading] where there are several reports */
  add(report, list, heading) {
    const base = heading === undefined ? null : this.make({ id: -1, parent: 0, kind: "report", label: heading, draw: "group", lanes: 1 }, report);
    if (base)
      this.roots.push(base);
    for (const item of list)
      this.make(item, report);
    for (const item of list) {
      const row = /** @type {Row} */ (this.byKey.get(`${report}/${item.id}`));
      row.above = this.byKey.get(`${report}/${item.parent}`) || base;
      (row.above ? row.above.children : this.roots).push(row);
    }
    this.foldQuiet(report);
    this.lay();
  }

  /** @param {any} item @param {number} report @returns {Row} */
  make(item, report) {
    /** @type {Row} */
    const row = { ...item, report, children: [], above: null, depth: 0, open: !CLOSED.has(item.kind), pinned: false, top: 0, height: 0 };
    this.byKey.set(`${report}/${item.id}`, row);
    return row;
  }

  /** Threads that do little hide behind one line. @param {number} report */
  foldQuiet(report) {
    let number = -10;
    for (const process of [...this.byKey.values()].filter((row) => row.report === report && row.kind === "process")) {
      const quiet = process.children.filter((row) => row.kind === "thread" && row.quiet);
      if (quiet.length < 3)
        continue;
      const fold = this.make({ id: number--, parent: process.id, kind: "quiet", label: `${quiet.length} quiet threads`, draw: "group", lanes: 0 }, report);
      fold.above = process;
      fold.children = quiet;
      for (const row of quiet)
        row.above = fold;
      process.children = [...process.children.filter((row) => !quiet.includes(row)), fold];
    }
  }

  /** @param {Row} row */
  heightOf(row) {
    if (row.draw !== "slices")
      return HEIGHTS[row.draw] || LANE;
    return Math.min(Math.max(row.lanes, 1), MOST_LANES) * LANE + 4;
  }

  /** @param {Row} row @returns {boolean} it, or something below it, has the text */
  matches(row) {
    if (!this.filter)
      return true;
    return row.label.toLowerCase().includes(this.filter) || row.kind.includes(this.filter) || row.children.some((child) => this.matches(child));
  }

  /** @param {Row[]} rows @param {number} depth */
  place(rows, depth) {
    for (const row of rows) {
      if (!this.matches(row))
        continue;
      row.depth = depth;
      if (!row.pinned)
        this.put(row);
      if (row.open || this.filter)
        this.place(row.children, depth + 1);
    }
  }

  /** @param {Row} row */
  put(row) {
    row.top = this.height;
    row.height = this.heightOf(row);
    this.height += row.height;
    this.shown.push(row);
  }

  lay() {
    this.shown = [];
    this.height = 0;
    for (const row of this.byKey.values())
      if (row.pinned)
        this.put(row);
    this.place(this.roots, 0);
  }

  /** @param {Row} row */
  toggle(row) {
    row.open = !row.open;
    this.lay();
  }

  /** @param {Row} row */
  pin(row) {
    row.pinned = !row.pinned;
    this.lay();
  }

  /** Among its siblings, by one place. @param {Row} row @param {number} by */
  move(row, by) {
    const list = row.above ? row.above.children : this.roots;
    const at = list.indexOf(row);
    const to = Math.max(0, Math.min(list.length - 1, at + by));
    list.splice(at, 1);
    list.splice(to, 0, row);
    this.lay();
  }

  /** Opens everything above a row, so that it is shown. @param {Row} row */
  reveal(row) {
    for (let above = row.above; above; above = above.above)
      above.open = true;
    this.lay();
  }

  /** @param {number} report @param {number} id */
  find(report, id) {
    return this.byKey.get(`${report}/${id}`);
  }

  /** @param {number} y */
  at(y) {
    let low = 0;
    let high = this.shown.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.shown[middle].top + this.shown[middle].height <= y)
        low = middle + 1;
      else
        high = middle;
    }
    return this.shown[low];
  }

  /** Those that lie, in part at least, between two heights. @param {number} from @param {number} to */
  between(from, to) {
    const first = this.at(from);
    if (!first)
      return [];
    const rows = [];
    for (let i = this.shown.indexOf(first); i < this.shown.length && this.shown[i].top < to; i++)
      rows.push(this.shown[i]);
    return rows;
  }
}

/** What stands at the right of a row's name. @param {Row} row */
export function summary(row) {
  if (row.share !== undefined && row.share !== null)
    return format.percent(row.share);
  if (row.draw === "plot")
    return row.unit || "";
  return row.count ? format.count(row.count) : "";
}

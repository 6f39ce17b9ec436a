// The tree of rows: which are open, pinned, hidden; where each lies.
import * as format from "../format.js";

export const LANE = 18;
const THIN_LANE = 4;
const HEIGHTS = { group: 22, slices: LANE, points: 20, plot: 58 };
/** Rows of these kinds are closed at first. */
const CLOSED = new Set(["thread", "cpus", "quiet"]);
/** With more GPUs than this all but the first are one line at first. */
const OPEN_GPUS = 2;
const OPEN_STREAMS = 6;
/** More lines in one plot are not told apart. */
const MOST_SERIES = 5;

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
 * @property {boolean} [overlaid] all lanes in one line, the first on top
 * @property {string} [unit]
 * @property {number} [least]
 * @property {number} [most]
 * @property {Row[]} [series] of a plot of several: the rows whose values it has
 * @property {Row[]} children
 * @property {Row | null} above
 * @property {number} depth
 * @property {boolean} open of a row without children: its lanes have their full height
 * @property {boolean} openAtFirst
 * @property {boolean} pinned
 * @property {number} found matches of a search
 * @property {number} top
 * @property {number} height
 * @property {import("./strips.js").Strip} [strip]
 */

/** @param {string} label */
function familyOf(label) {
  return label.split(/[\s_]/)[0];
}

/** @param {Row} row */
export function keyOf(row) {
  return `${row.report}/${row.id}`;
}

/** What a row is, whatever its number and wherever it is folded. @param {Row} row @returns {string} */
function pathOf(row) {
  const folded = row.above && ["quiet", "metrics"].includes(row.above.kind);
  const above = folded ? /** @type {Row} */ (row.above).above : row.above;
  return `${above ? pathOf(above) : ""}/${row.kind} ${row.kind === "quiet" ? "" : row.label} ${row.detail || ""}`;
}

/** Rows by what they are; of several that are called the same, by their order. @param {Row[]} rows @returns {Map<string, Row>} */
function byPath(rows) {
  /** @type {Map<string, Row>} */
  const found = new Map();
  /** @type {Map<string, number>} */
  const counts = new Map();
  for (const row of [...rows].sort((a, b) => a.id - b.id)) {
    const path = pathOf(row);
    const n = counts.get(path) || 0;
    counts.set(path, n + 1);
    found.set(`${path}#${n}`, row);
  }
  return found;
}

/** @param {Row} row */
export function laneHeight(row) {
  return row.draw !== "slices" || row.open ? LANE : THIN_LANE;
}

/** @param {Row} row */
export function heightOf(row) {
  if (row.draw !== "slices")
    return HEIGHTS[row.draw] || LANE;
  return Math.max(linesOf(row) * laneHeight(row) + 4, LANE + 4);
}

/** How many lanes stand below each other. @param {Row} row */
export function linesOf(row) {
  return row.draw !== "slices" || row.overlaid ? 1 : Math.max(row.lanes, 1);
}

/** How far below the row's top a lane is drawn. @param {Row} row @param {number} lane */
export function laneTop(row, lane) {
  return row.draw !== "slices" ? 2 : 2 + (row.overlaid ? 0 : lane) * laneHeight(row);
}

/** It can be opened and closed. @param {Row} row */
export function isFolding(row) {
  return row.children.length > 0 || linesOf(row) > 1;
}

/** The rows of all reports in one tree. */
export class Rows {
  constructor() {
    /** @type {Row[]} */
    this.roots = [];
    /** @type {Map<string, Row>} */
    this.byKey = new Map();
    /** @type {Row[]} those that are shown, from the top */
    this.shown = [];
    /** @type {Row[]} those that stay at the top */
    this.pins = [];
    this.pinsHeight = 0;
    this.height = 0;
    this.filter = "";
    /** Changes with everything that is laid out anew. */
    this.version = 0;
  }

  /** @param {number} report @param {any[]} list @param {string} [heading] where there are several reports */
  add(report, list, heading) {
    const item = { id: -1, parent: null, kind: "report", label: heading, draw: "group", lanes: 0 };
    const base = heading === undefined ? null : this.make(item, report);
    if (base)
      this.roots.push(base);
    for (const item of list)
      this.make(item, report);
    for (const item of list) {
      const row = /** @type {Row} */ (this.byKey.get(`${report}/${item.id}`));
      row.above = item.parent === null ? base : this.byKey.get(`${report}/${item.parent}`) || base;
      (row.above ? row.above.children : this.roots).push(row);
    }
    this.foldQuiet(report);
    this.gatherPlots(report);
    this.lay();
  }

  /** @param {any} item @param {number} report @returns {Row} */
  make(item, report) {
    const open = !CLOSED.has(item.kind);
    /** @type {Row} */
    const row = {
      ...item, report, children: [], above: null, depth: 0, open, openAtFirst: open, pinned: false, found: 0, top: 0, height: 0,
    };
    this.byKey.set(keyOf(row), row);
    return row;
  }

  /** A recording has more rows by now: those that are known stay as they are. Numbers may be others than before.
   * @param {number} report @param {any[]} list @returns {Map<number, number>} the new number of each that there was */
  renew(report, list) {
    const before = [...this.byKey.values()].filter((row) => row.report === report);
    const heading = before.find((row) => row.kind === "report");
    for (const row of before)
      this.byKey.delete(keyOf(row));
    this.roots = this.roots.filter((row) => row.report !== report);
    this.add(report, list, heading?.label);
    const after = byPath([...this.byKey.values()].filter((row) => row.report === report));
    const numbers = new Map();
    for (const [path, old] of byPath(before)) {
      const row = after.get(path);
      if (!row)
        continue;
      const { open, openAtFirst, pinned } = old;
      Object.assign(row, { open, openAtFirst, pinned, strip: row.id === old.id ? old.strip : undefined });
      numbers.set(old.id, row.id);
    }
    this.roots.sort((x, y) => x.report - y.report);
    this.lay();
    return numbers;
  }

  /** Threads that do little hide behind one line. @param {number} report */
  foldQuiet(report) {
    let number = -10;
    for (const process of [...this.byKey.values()].filter((row) => row.report === report && row.kind === "process")) {
      const quiet = process.children.filter((row) => row.kind === "thread" && row.quiet);
      if (quiet.length < 3)
        continue;
      const label = `${quiet.length} quiet threads`;
      const fold = this.make({ id: number--, parent: process.id, kind: "quiet", label, draw: "group", lanes: 0 }, report);
      fold.above = process;
      fold.children = quiet;
      for (const row of quiet)
        row.above = fold;
      process.children = [...process.children.filter((row) => !quiet.includes(row)), fold];
    }
  }

  /**
   * Plots of one family (the same unit, the same first word: DRAM read and write) are one row, which opens into them.
   * @param {number} report
   */
  gatherPlots(report) {
    let number = -1000;
    const hasPlots = (/** @type {Row} */ row) => row.children.some((child) => child.draw === "plot");
    for (const above of [...this.byKey.values()].filter((row) => row.report === report && hasPlots(row))) {
      /** @type {Map<string, Row[]>} */
      const families = new Map();
      for (const row of above.children.filter((child) => child.draw === "plot")) {
        const key = `${familyOf(row.label)}/${row.unit}`;
        families.set(key, [...(families.get(key) || []), row]);
      }
      for (const members of families.values())
        if (members.length >= 2 && members.length <= MOST_SERIES)
          this.gather(above, members, number--);
    }
  }

  /** @param {Row} above @param {Row[]} members @param {number} id */
  gather(above, members, id) {
    const [least, most] = [Math.min(...members.map((row) => row.least ?? 0)), Math.max(...members.map((row) => row.most ?? 1))];
    const label = `${familyOf(members[0].label)} (${members.length})`;
    const detail = members.map((row) => row.label).join("\n");
    const item = { id, parent: above.id, kind: "metrics", label, detail, draw: "plot", lanes: 0, unit: members[0].unit, least, most };
    const made = this.make(item, above.report);
    Object.assign(made, { above, children: members, series: members, open: false, openAtFirst: false });
    above.children.splice(above.children.indexOf(members[0]), 0, made);
    above.children = above.children.filter((row) => !members.includes(row));
    for (const row of members)
      row.above = made;
  }

  /** What is open at first: all of a small report, the first GPU and the main threads of a large one. @param {number} room in pixels */
  openAsFits(room) {
    const all = [...this.byKey.values()];
    const gpus = all.filter((row) => row.kind === "gpu");
    gpus.forEach((gpu, i) => {
      gpu.open = gpus.length <= OPEN_GPUS || i === 0;
      for (const group of gpu.children)
        if (group.children.length > OPEN_STREAMS)
          group.open = group.kind === "compute" && i === 0;
    });
    const threads = all.filter((row) => row.kind === "thread");
    const mains = threads.filter((row) => row.above?.children[0] === row);
    this.lay();
    for (const thread of [...mains, ...threads.filter((row) => !mains.includes(row))]) {
      if (!thread.above?.open || this.height + thread.children.reduce((sum, row) => sum + heightOf(row), 0) > room)
        continue;
      thread.open = true;
      this.lay();
    }
    for (const row of all)
      row.openAtFirst = row.open;
    this.lay();
  }

  /** @param {Row} row */
  hasText(row) {
    return [row.label.toLowerCase(), row.kind, row.detail?.toLowerCase()].some((text) => text?.includes(this.filter));
  }

  /** @param {Row} row @returns {boolean} it, or something below it, has the text */
  matches(row) {
    return !this.filter || this.hasText(row) || row.children.some((child) => this.matches(child));
  }

  /**
   * @param {Row[]} rows @param {number} depth
   * @param {boolean} within a row that has the text of the filter: all below it is shown as it was
   */
  place(rows, depth, within) {
    for (const row of rows) {
      if (!within && !this.matches(row))
        continue;
      const has = within || (Boolean(this.filter) && this.hasText(row));
      row.depth = depth;
      if (!row.pinned)
        this.put(row);
      if (row.open || (this.filter && !has))
        this.place(row.children, depth + 1, has);
    }
  }

  /** @param {Row} row */
  put(row) {
    row.top = this.height;
    row.height = heightOf(row);
    this.height += row.height;
    this.shown.push(row);
  }

  lay() {
    this.version++;
    this.shown = [];
    this.pins = [...this.byKey.values()].filter((row) => row.pinned);
    this.pinsHeight = 0;
    for (const row of this.pins) {
      row.top = this.pinsHeight;
      row.height = heightOf(row);
      this.pinsHeight += row.height;
    }
    this.height = 0;
    this.place(this.roots, 0, false);
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

  /** @param {Row} row */
  siblings(row) {
    return row.above ? row.above.children : this.roots;
  }

  /** Among its siblings, by some places. @param {Row} row @param {number} by */
  move(row, by) {
    const list = this.siblings(row);
    const at = list.indexOf(row);
    const to = Math.max(0, Math.min(list.length - 1, at + by));
    list.splice(at, 1);
    list.splice(to, 0, row);
    this.lay();
  }

  /** To the place of another with the same heading. @param {Row} row @param {Row} place */
  moveTo(row, place) {
    const list = this.siblings(row);
    if (list.includes(place))
      this.move(row, list.indexOf(place) - list.indexOf(row));
  }

  /** Opens everything above a row, so that it is shown. @param {Row} row */
  reveal(row) {
    if (this.filter && !this.shown.includes(row))
      this.filter = "";
    for (let above = row.above; above; above = above.above)
      above.open = true;
    this.lay();
  }

  /** @param {boolean} open */
  openAll(open) {
    for (const row of this.byKey.values())
      if (row.children.length && row.kind !== "report")
        row.open = open;
    this.lay();
  }

  /** @param {number} report @param {number} id */
  find(report, id) {
    return this.byKey.get(`${report}/${id}`);
  }

  /** Whether a row is on the page, be it out of sight. @param {Row} row */
  isShown(row) {
    return row.pinned || this.shown[this.indexAt(row.top)] === row;
  }

  /** @param {number} y */
  indexAt(y) {
    let low = 0;
    let high = this.shown.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.shown[middle].top + this.shown[middle].height <= y)
        low = middle + 1;
      else
        high = middle;
    }
    return low;
  }

  /** @param {number} y */
  at(y) {
    return y < 0 ? undefined : this.shown[this.indexAt(y)];
  }

  /** Those that lie, in part at least, between two heights. @param {number} from @param {number} to */
  between(from, to) {
    const rows = [];
    for (let i = this.indexAt(from); i < this.shown.length && this.shown[i].top < to; i++)
      rows.push(this.shown[i]);
    return rows;
  }
}

/** What stands at the right of a row's name. @param {Row} row @param {number | null} share of what is looked at */
export function summary(row, share) {
  if (row.share !== undefined && row.share !== null)
    return share === null ? "" : format.percent(share);
  if (row.draw === "plot")
    return row.unit || "";
  return row.count ? format.count(row.count) : "";
}

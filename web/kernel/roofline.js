// Roofline: work for each byte against work a second, both logarithmic, below what arithmetic and each level of memory allow.
import { amount, attributesHtml, chartLine, chartText, choiceHtml, escape } from "./parts.js";

/** @typedef {import("./types.js").Block} Block */
/** @typedef {import("./types.js").Roof} Roof */

const WIDTH = 760;
const HEIGHT = 400;
const LEFT = 74;
const RIGHT = 18;
const TOP = 16;
const BOTTOM = 46;
/** Of levels, wherever they are drawn. @type {Record<string, string>} */
const LEVEL_CLASS = { DRAM: "level-dram", L2: "level-l2", L1: "level-l1" };
/** As --explain knows them. @type {Record<string, string>} */
const UNITS = { DRAM: "dram", L2: "lts", L1: "l1tex" };
/** Points of one kernel may lie on each other: those that are drawn first are larger. @type {Record<string, number>} */
const LARGER = { DRAM: 2.5, L2: 0.8, L1: -1 };
const SHAPES = ["circle", "square", "diamond", "triangle"];

/** Kinds of work that are shown: those done the most. */
const MOST_WORKS = 6;
const LABEL_HEIGHT = 14;
/** Less than that is no other line. */
const LEAST_HEADROOM = 1.005;

/** @typedef {"achieved" | "achieved_warm" | "achieved_before"} When */
/** @typedef {{ work: string, level: string, x: number, y: number, when: When }} Point */

/** @type {Record<When, { said: string, kind: string, size: number }>} */
const WHENS = {
  achieved: { said: "", kind: "", size: 6 },
  achieved_warm: { said: "warm caches, ", kind: " warm", size: 7.5 },
  achieved_before: { said: "baseline, ", kind: " old", size: 9 },
};

/** @param {Roof[]} rows @param {When} when @returns {Point[]} */
export function pointsOf(rows, when) {
  const value = (/** @type {Roof} */ roof) => roof[when] || 0;
  const traffic = rows.filter((row) => row.traffic && value(row) > 0);
  const point = (/** @type {Roof} */ work, /** @type {Roof} */ level) =>
    ({ work: work.name, level: level.name, x: value(work) / value(level), y: value(work), when });
  return rows.filter((row) => !row.traffic && value(row) > 0).flatMap((work) => traffic.map((level) => point(work, level)));
}

/** Powers of ten that enclose all of it. @param {number[]} values @returns {[number, number]} */
function decades(values) {
  const logs = values.filter((v) => v > 0 && Number.isFinite(v)).map(Math.log10);
  return logs.length ? [Math.floor(Math.min(...logs)), Math.ceil(Math.max(...logs) + 1e-9)] : [0, 1];
}

/** @param {number} x @param {number} y @param {number} size @param {string} shape */
function shapePath(x, y, size, shape) {
  if (shape === "square")
    return `M${x - size},${y - size}h${2 * size}v${2 * size}h${-2 * size}z`;
  if (shape === "diamond")
    return `M${x},${y - 1.3 * size}l${1.3 * size},${1.3 * size}l${-1.3 * size},${1.3 * size}l${-1.3 * size},${-1.3 * size}z`;
  if (shape === "triangle")
    return `M${x},${y - 1.2 * size}l${1.2 * size},${2.2 * size}h${-2.4 * size}z`;
  return `M${x - size},${y}a${size},${size} 0 1 0 ${2 * size},0a${size},${size} 0 1 0 ${-2 * size},0z`;
}

/** The works that are worth a roof: those done, and the highest. @param {Roof[]} rows */
function worksOf(rows) {
  const works = rows.filter((row) => !row.traffic && (row.peak || 0) > 0);
  const done = works.filter((row) => row.achieved > 0).sort((a, b) => b.achieved - a.achieved);
  return done.length ? done.slice(0, MOST_WORKS) : works.sort((a, b) => (b.peak || 0) - (a.peak || 0)).slice(0, 2);
}

export class Roofline {
  /** @param {Roof[]} rows @param {{ sm: number, dram: number }} headroom by how much the clocks could be higher; 1: not known */
  constructor(rows, headroom) {
    this.rows = rows;
    this.headroom = headroom;
    /** The clocks measured are known to be the highest. */
    this.areHighest = false;
    this.works = worksOf(rows);
    this.levels = rows.filter((row) => row.traffic && (row.peak || 0) > 0);
    const shown = [...this.works, ...rows.filter((row) => row.traffic)];
    this.points = /** @type {When[]} */ (Object.keys(WHENS)).flatMap((when) => pointsOf(shown, when));
    this.hidden = rows.filter((row) => !row.traffic && row.achieved > 0).length - this.works.filter((row) => row.achieved > 0).length;
    const top = Math.max(...this.works.map((row) => row.peak || 0), 1);
    const ridges = this.levels.flatMap((level) => this.works.map((work) => (work.peak || 0) / (level.peak || 1)));
    this.xs = decades([...this.points.map((p) => p.x), ...ridges]);
    // Room for slopes before they end.
    this.xs = [Math.min(this.xs[0], Math.log10(Math.min(...ridges)) - 1.2), this.xs[1] + 0.3];
    const feet = this.levels.map((level) => Math.max((level.peak || 0) * 10 ** this.xs[0], top / 1e5));
    this.ys = decades([...this.points.map((p) => p.y), top * headroom.sm, ...feet]);
  }

  /** @param {number} value */
  x(value) {
    return LEFT + ((Math.log10(value) - this.xs[0]) / (this.xs[1] - this.xs[0])) * (WIDTH - LEFT - RIGHT);
  }

  /** @param {number} value */
  y(value) {
    return HEIGHT - BOTTOM - ((Math.log10(value) - this.ys[0]) / (this.ys[1] - this.ys[0])) * (HEIGHT - TOP - BOTTOM);
  }

  /** A power of ten below. @param {number} exponent */
  columnHtml(exponent) {
    const x = this.x(10 ** exponent);
    return chartLine("grid", [x, x, TOP, HEIGHT - BOTTOM]) + chartText("tick", x, HEIGHT - BOTTOM + 16, "middle", plainPower(exponent));
  }

  /** A power of ten at the left. @param {number} exponent */
  lineHtml(exponent) {
    const y = this.y(10 ** exponent);
    return chartLine("grid", [LEFT, WIDTH - RIGHT, y, y]) + chartText("tick", LEFT - 8, y + 4, "end", amount(10 ** exponent, ""));
  }

  grid() {
    const middle = (TOP + HEIGHT - BOTTOM) / 2;
    const turned = attributesHtml({ x: 14, y: middle, "text-anchor": "middle", transform: `rotate(-90 14 ${middle})` });
    return exponents(this.xs).map((e) => this.columnHtml(e)).join("") + exponents(this.ys).map((e) => this.lineHtml(e)).join("") +
      chartText("axis", (LEFT + WIDTH - RIGHT) / 2, HEIGHT - 6, "middle", "operations a byte") +
      `<text class="axis" ${turned}>operations a second</text>`;
  }

  /** The slope of a level, up to where arithmetic ends it. @param {Roof} level @param {number} factor @param {string} more class */
  slope(level, factor, more) {
    const peak = (level.peak || 0) * factor;
    const top = Math.max(...this.works.map((work) => work.peak || 0)) * (more ? this.headroom.sm : 1);
    const x0 = Math.max(10 ** this.xs[0], 10 ** this.ys[0] / peak);
    const x1 = top / peak;
    if (!(x1 > x0))
      return "";
    return roofHtml(`${LEVEL_CLASS[level.name] || ""}${more}`, `M${this.x(x0)},${this.y(x0 * peak)}L${this.x(x1)},${this.y(top)}`,
      { name: level.name, peak, unit: "byte/s", explain: UNITS[level.name] || "", isTheoretical: more !== "" });
  }

  /** L1 has the clock of the multiprocessors, L2 one that is not known. @param {Roof} level */
  headroomOf(level) {
    return level.name === "DRAM" ? this.headroom.dram : level.name === "L1" ? this.headroom.sm : 1;
  }

  /** Names of roofs that would lie on each other are left to the pointer. @param {Roof} work */
  hasLabel(work) {
    const y = this.y(work.peak || 1);
    return this.works.slice(0, this.works.indexOf(work)).every((other) => Math.abs(this.y(other.peak || 1) - y) >= LABEL_HEIGHT);
  }

  /** The most that a level allows. @param {boolean} isTheoretical */
  fastest(isTheoretical) {
    return Math.max(...this.levels.map((level) => (level.peak || 0) * (isTheoretical ? this.headroomOf(level) : 1)));
  }

  /** The slopes of a level: measured and, where it is higher, theoretical. @param {Roof} level */
  slopes(level) {
    const headroom = this.headroomOf(level);
    return this.slope(level, 1, "") + (headroom > LEAST_HEADROOM ? this.slope(level, headroom, " theoretical") : "");
  }

  /** Where arithmetic ends. @param {Roof} work @param {number} factor @param {boolean} isTheoretical */
  top(work, factor, isTheoretical) {
    const peak = (work.peak || 0) * factor;
    const from = Math.max(10 ** this.xs[0], peak / this.fastest(isTheoretical));
    // Above the roof is the dashed one, where there is one.
    const labelAt = this.headroom.sm > LEAST_HEADROOM ? 15 : -5;
    const label = `${escape(work.name)} ${amount(peak, "op/s")}`;
    const roof = roofHtml(`work${isTheoretical ? " theoretical" : ""}`, `M${this.x(from)},${this.y(peak)}H${WIDTH - RIGHT}`,
      { name: work.name, peak, unit: "op/s", explain: "", isTheoretical });
    if (isTheoretical || !this.hasLabel(work))
      return roof;
    return roof + chartText("roof-name", WIDTH - RIGHT - 4, this.y(peak) + labelAt, "end", label);
  }

  /** The name of a level, along its slope. @param {Roof} level */
  levelName(level) {
    const peak = level.peak || 1;
    const at = Math.max(10 ** this.xs[0], 10 ** this.ys[0] / peak) * 1.25;
    const [x, y] = [this.x(at) + 6, this.y(at * peak) - 8];
    const placed = attributesHtml({ x, y, transform: `rotate(${-this.angle()} ${x} ${y})` });
    return `<text class="roof-name" ${placed}>${escape(level.name)} ${amount(peak, "byte/s")}</text>`;
  }

  roofs() {
    const factors = [1, this.headroom.sm].filter((factor, i) => i === 0 || factor > LEAST_HEADROOM);
    const tops = this.works.flatMap((work) => factors.map((factor, i) => this.top(work, factor, i > 0)));
    const slopes = this.levels.map((level) => this.slopes(level));
    return slopes.join("") + tops.join("") + this.levels.map((level) => this.levelName(level)).join("");
  }

  angle() {
    const dx = (WIDTH - LEFT - RIGHT) / (this.xs[1] - this.xs[0]);
    const dy = (HEIGHT - TOP - BOTTOM) / (this.ys[1] - this.ys[0]);
    return (Math.atan2(dy, dx) * 180) / Math.PI;
  }

  /** @param {Point} point @param {string} shape */
  pointHtml(point, shape) {
    const { said: first, kind, size } = WHENS[point.when];
    const said = `${first}${point.work}, ${point.level}: ${amount(point.x, "op/byte")}, ${amount(point.y, "op/s")}`;
    const drawn = attributesHtml({
      class: `point ${LEVEL_CLASS[point.level] || ""}${kind}`,
      d: shapePath(this.x(point.x), this.y(point.y), size + (LARGER[point.level] ?? 0), shape), tabindex: 0,
      "data-point": `${point.work}/${point.level}`, "data-when": point.when, "data-x": point.x, "data-y": point.y,
      "data-explain": UNITS[point.level] || "", "data-said": said, role: "img", "aria-label": said,
    });
    return `<path ${drawn}/>`;
  }

  marks() {
    const names = [...new Set(this.points.map((point) => point.work))];
    return this.points.map((point) => this.pointHtml(point, SHAPES[names.indexOf(point.work) % SHAPES.length])).join("");
  }

  /** What hollow points are. */
  otherLegends() {
    const has = (/** @type {When} */ when) => this.points.some((point) => point.when === when);
    return [...(has("achieved_warm") ? [swatchHtml("warm", "warm caches (hollow)")] : []),
      ...(has("achieved_before") ? [swatchHtml("old", "baseline (hollow)")] : [])];
  }

  /** What the lines are. */
  roofLegends() {
    const measured = `<span><i class="rule measured"></i>roof at the clocks measured`;
    if (Math.max(this.headroom.sm, this.headroom.dram) > LEAST_HEADROOM)
      return [`${measured}</span>`, `<span><i class="rule"></i>at the highest clocks</span>`];
    return [`${measured}${this.areHighest ? ", the highest of this GPU" : ""}</span>`];
  }

  legend() {
    const works = [...new Set(this.points.map((point) => point.work))];
    const items = works.map((work, i) => `<span>${shapeHtml(SHAPES[i % SHAPES.length])}${escape(work)}</span>`);
    const names = [...new Set(this.points.map((point) => point.level))];
    const levels = names.map((level) => swatchHtml(LEVEL_CLASS[level] || "", escape(level)));
    const more = this.hidden > 0 ? [`<span>${this.hidden} other kinds of work, less than these</span>`] : [];
    return `<div class="legend">${[...items, ...levels, ...this.otherLegends(), ...this.roofLegends(), ...more].join("")}</div>`;
  }

  html() {
    if (!this.works.length || !this.levels.length)
      return `<p class="kernel-note">The roofs of this chart were not recorded.</p>`;
    const none = this.points.length ? "" : chartText("nothing", WIDTH / 2, HEIGHT / 2, "middle", "The kernel did no work of this kind.");
    const chart = `${this.grid()}${this.roofs()}${this.marks()}${none}`;
    return `<svg class="roofline" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="Roofline">${chart}</svg>${this.legend()}`;
  }
}

/** Whole ones between two. @param {number[]} ends */
function exponents([from, to]) {
  const first = Math.ceil(from);
  return Array.from({ length: Math.max(0, Math.floor(to) - first + 1) }, (_, i) => first + i);
}

/** @typedef {{ name: string, peak: number, unit: string, explain: string, isTheoretical: boolean }} Said of a roof */

/** @param {string} kind @param {string} d @param {Said} roof */
function roofHtml(kind, d, { name, peak, unit, explain, isTheoretical }) {
  const clocks = isTheoretical ? "at the highest clocks" : "at the clocks that were measured";
  const said = `${name}: ${amount(peak, unit)}, ${clocks}`;
  const named = attributesHtml({ "data-roof": name, "data-peak": peak, "data-explain": explain, "data-said": said });
  return `<path class="roof ${kind}" d="${d}" ${named}/>`;
}

/** @param {string} kind @param {string} html */
const swatchHtml = (kind, html) => `<span><i class="swatch ${kind}"></i>${html}</span>`;

/** @param {string} shape */
function shapeHtml(shape) {
  return `<svg width="14" height="14" viewBox="0 0 14 14"><path class="point plain" d="${shapePath(7, 7, 4.5, shape)}"/></svg>`;
}

/** @param {number} exponent */
function plainPower(exponent) {
  return exponent < 0 ? (10 ** exponent).toPrecision(1) : amount(10 ** exponent, "");
}

/**
 * The one whose work is nearest to its peak, at as many levels as there are.
 * Compilers load constants by instructions of half precision, so that counts half.
 * @param {Block[]} blocks
 */
function busiestOf(blocks) {
  const share = (/** @type {Roof} */ row) => (row.traffic || !row.peak ? 0 : (row.achieved || 0) / row.peak);
  const work = (/** @type {Block} */ one) => Math.max(...one.rows.map(share), 0) * (one.title.includes("Half") ? 0.5 : 1);
  const levels = (/** @type {Block} */ one) => one.rows.filter((row) => row.traffic).length;
  const isMore = (/** @type {Block} */ one, /** @type {Block} */ best) =>
    work(one) > work(best) || (work(one) === work(best) && levels(one) > levels(best));
  return blocks.reduce((best, one) => (isMore(one, best) ? one : best));
}

/**
 * @param {Block[]} blocks of all rooflines @param {string} chosen title of the one that is shown
 * @param {Record<string, number | null>} clocks
 */
export function rooflineHtml(blocks, chosen, clocks) {
  const block = blocks.find((one) => one.title === chosen) || busiestOf(blocks);
  const options = blocks.map((one) => `<option${one === block ? " selected" : ""}>${escape(one.title)}</option>`).join("");
  const ratio = (/** @type {number | null} */ most, /** @type {number | null} */ now) => (most && now && most > now ? most / now : 1);
  const chart = new Roofline(block.rows, { sm: ratio(clocks?.sm_most, clocks?.sm), dram: ratio(clocks?.dram_most, clocks?.dram) });
  chart.areHighest = Boolean(clocks?.sm && clocks.sm_most && clocks.dram && clocks.dram_most);
  return choiceHtml("chart", "roofline", "Which roofline", options) + chart.html();
}

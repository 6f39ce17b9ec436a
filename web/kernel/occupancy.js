// Occupancy: what limits the blocks of an SM, and what other block sizes, registers and shared memory would give.
import { attributesHtml, barsHtml, chartLine, chartText, escape, factsHtml, numberOf, rowsOf, short } from "./parts.js";

/** @typedef {import("./types.js").Kernel} Kernel */
/** @typedef {import("./types.js").OccupancyCurve} OccupancyCurve */

const WIDTH = 300;
const HEIGHT = 150;
const LEFT = 30;
const BOTTOM = 32;
const TOP = 8;

const THEORETICAL = "sm__maximum_warps_per_active_cycle_pct";
/** @type {Record<string, string>} */
const AXES = { threads: "threads of a block", registers: "registers of a thread", shared: "bytes of shared memory of a block" };

/** @param {string} by */
function axisOf(by) {
  const key = Object.keys(AXES).find((name) => by.includes(name)) || "";
  return AXES[key] || by;
}

/** Warps at a value of the curve. @param {OccupancyCurve} curve */
export function warpsAt(curve) {
  const stretch = curve.stretches.find(([from, to]) => from <= curve.at && curve.at <= to);
  return stretch ? stretch[2] : null;
}

/** Warps over one of the sizes of a launch. */
class CurveChart {
  /** @param {OccupancyCurve} curve @param {number} most warps */
  constructor(curve, most) {
    this.curve = curve;
    this.most = most;
    this.axis = axisOf(curve.by);
    this.stretches = curve.stretches.filter(([from, to]) => to >= from);
    this.end = Math.max(...this.stretches.map(([, to]) => to), 1);
  }

  /** @param {number} value */
  x(value) {
    return LEFT + (value / this.end) * (WIDTH - LEFT - 8);
  }

  /** @param {number} warps */
  y(warps) {
    return HEIGHT - BOTTOM - (warps / this.most) * (HEIGHT - TOP - BOTTOM);
  }

  line() {
    const parts = this.stretches.map(([from, to, warps], i) => {
      const [x, y] = [this.x(from).toFixed(1), this.y(warps).toFixed(1)];
      return `${i ? `H${x}V${y}` : `M${x},${y}`}H${this.x(to).toFixed(1)}`;
    });
    return `<path class="line" d="${parts.join("")}"/>`;
  }

  /** @param {number} warps */
  tick(warps) {
    const y = this.y(warps);
    return chartLine("grid", [LEFT, WIDTH - 8, y, y]) + chartText("tick", LEFT - 5, y + 4, "end", String(warps));
  }

  /** Where the pointer finds what a stretch of the curve is. @param {OccupancyCurve["stretches"][0]} stretch */
  step([from, to, warps, share]) {
    const drawn = attributesHtml({
      class: "hit", x: this.x(from).toFixed(1), width: Math.max(2, this.x(to) - this.x(from)).toFixed(1), y: TOP,
      height: HEIGHT - TOP - BOTTOM, "data-explain": THEORETICAL, "data-said": `${from} to ${to} ${this.axis}: ${warps} warps, ${share} %`,
    });
    return `<rect ${drawn}/>`;
  }

  /** A launch on the curve. @param {string} kind @param {[number, number]} at @param {number} x @param {number} r @param {string} who */
  point(kind, [value, warps], x, r, who) {
    const drawn = attributesHtml({
      class: kind, cx: this.x(x), cy: this.y(warps), r, "data-at": value, "data-warps": warps, "data-explain": THEORETICAL,
      "data-said": `${who}: ${value} ${this.axis}, ${warps} warps`,
    });
    return `<circle ${drawn}/>`;
  }

  /** This launch. */
  here() {
    const { at } = this.curve;
    const warps = warpsAt(this.curve);
    if (warps === null)
      return "";
    return chartLine("here", [this.x(at), this.x(at), TOP, HEIGHT - BOTTOM]) + this.point("point", [at, warps], at, 4.5, "this launch");
  }

  texts() {
    const below = HEIGHT - BOTTOM + 14;
    return `<text class="tick" x="${LEFT}" y="${below}">0</text>` + chartText("tick", WIDTH - 8, below, "end", short(this.end)) +
      chartText("axis", (LEFT + WIDTH) / 2, HEIGHT - 4, "middle", `${escape(this.axis)}: ${short(this.curve.at)}`);
  }

  /** @param {[number, number] | null} before where the baseline is, and its warps */
  html(before) {
    const named = attributesHtml({
      viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": `Warps over ${this.axis}`, "data-curve": this.curve.by,
      "data-steps": this.stretches.length,
    });
    const ticks = [0, this.most / 2, this.most].map((warps) => this.tick(warps)).join("");
    const steps = this.stretches.map((stretch) => this.step(stretch)).join("");
    const old = before ? this.point("point old", before, Math.min(this.end, before[0]), 7, "baseline") : "";
    return `<figure class="curve"><svg ${named}>${ticks}${this.line()}${steps}${this.here()}${old}${this.texts()}</svg></figure>`;
  }
}

/** @param {Kernel} kernel @param {number} curve @returns {[number, number] | null} */
function beforeOf(kernel, curve) {
  const before = kernel.occupancy?.before;
  const at = before?.at[curve] ?? null;
  return before && before.warps !== null && at !== null ? [at, before.warps] : null;
}

/** @typedef {import("./types.js").Cell} Cell */

/** @param {Cell} row */
const isBar = (row) => /maximum_warps_per_active_cycle_pct|warps_active\.avg\.pct/.test(row.metric);
/** @param {Cell} row */
const isLimit = (row) => row.metric.startsWith("launch__occupancy_limit_");
/** @param {Cell} row */
const limitName = (row) => row.label.replace("Block Limit ", "");

/** What a block needs, as limits of the blocks of an SM; beside them the other rows. @param {Cell[]} rows */
function limitsHtml(rows) {
  const limits = rows.filter(isLimit);
  const others = factsHtml(rows.filter((row) => !isBar(row) && !isLimit(row)));
  if (!limits.length)
    return others;
  const least = Math.min(...limits.map((row) => numberOf(row.value)));
  const limited = limits.filter((row) => numberOf(row.value) === least).map(limitName);
  const bars = barsHtml(limits.map((cell) => ({ label: limitName(cell), cell })));
  const by = `<p class="kernel-note">Limited by ${escape(limited.join(" and "))}.</p>`;
  return `<div class="pair"><div><h4>Blocks an SM could hold, by</h4>${bars}${by}</div><div>${others}</div></div>`;
}

/** @param {Kernel} kernel */
function curvesHtml(kernel) {
  const most = kernel.occupancy?.most_warps || 64;
  const curves = (kernel.occupancy?.curves || []).map((curve, i) => new CurveChart(curve, most).html(beforeOf(kernel, i)));
  return curves.length ? `<h4>Warps an SM would hold with other</h4><div class="curves">${curves.join("")}</div>` : "";
}

/** @param {Kernel} kernel @param {import("./types.js").Section | undefined} section */
export function occupancyHtml(kernel, section) {
  const rows = rowsOf(section);
  const bars = rows.filter(isBar).sort((a, b) => Number(b.metric.includes("maximum")) - Number(a.metric.includes("maximum")));
  const shares = bars.length ? barsHtml(bars.map((cell) => ({ label: cell.label, cell })), { isPlain: true }) : "";
  return shares + limitsHtml(rows) + curvesHtml(kernel);
}

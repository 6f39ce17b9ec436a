// Occupancy: what limits the blocks of an SM, and what other block sizes, registers and shared memory would give.
import { barsHtml, escape, factsHtml, numberOf, rowsOf, short } from "./parts.js";

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

/** @param {OccupancyCurve} curve @param {number} most warps @param {[number, number] | null} before where the baseline is, and its warps */
function curveHtml(curve, most, before) {
  const stretches = curve.stretches.filter(([from, to]) => to >= from);
  const end = Math.max(...stretches.map(([, to]) => to), 1);
  const x = (/** @type {number} */ value) => LEFT + (value / end) * (WIDTH - LEFT - 8);
  const y = (/** @type {number} */ warps) => HEIGHT - BOTTOM - (warps / most) * (HEIGHT - TOP - BOTTOM);
  const line = stretches.map(([from, to, warps], i) => `${i ? `H${x(from).toFixed(1)}V${y(warps).toFixed(1)}` : `M${x(from).toFixed(1)},${y(warps).toFixed(1)}`}H${x(to).toFixed(1)}`).join("");
  const at = warpsAt(curve);
  const ticks = [0, most / 2, most].map((warps) => `<line class="grid" x1="${LEFT}" x2="${WIDTH - 8}" y1="${y(warps)}" y2="${y(warps)}"/><text class="tick" x="${LEFT - 5}" y="${y(warps) + 4}" text-anchor="end">${warps}</text>`).join("");
  const steps = stretches.map(([from, to, warps, share]) => `<rect class="hit" x="${x(from).toFixed(1)}" width="${Math.max(2, x(to) - x(from)).toFixed(1)}" y="${TOP}" height="${HEIGHT - TOP - BOTTOM}" data-explain="${THEORETICAL}" data-said="${from} to ${to} ${escape(axisOf(curve.by))}: ${warps} warps, ${share} %"/>`).join("");
  const point = at === null ? "" : `<line class="here" x1="${x(curve.at)}" x2="${x(curve.at)}" y1="${TOP}" y2="${HEIGHT - BOTTOM}"/><circle class="point" cx="${x(curve.at)}" cy="${y(at)}" r="4.5" data-at="${curve.at}" data-warps="${at}" data-explain="${THEORETICAL}" data-said="this launch: ${curve.at} ${escape(axisOf(curve.by))}, ${at} warps"/>`;
  const old = before ? `<circle class="point old" cx="${x(Math.min(end, before[0]))}" cy="${y(before[1])}" r="7" data-at="${before[0]}" data-warps="${before[1]}" data-explain="${THEORETICAL}" data-said="baseline: ${before[0]} ${escape(axisOf(curve.by))}, ${before[1]} warps"/>` : "";
  return `<figure class="curve"><svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="Warps over ${escape(axisOf(curve.by))}" data-curve="${escape(curve.by)}" data-steps="${stretches.length}">${ticks}<path class="line" d="${line}"/>${steps}${point}${old}` +
    `<text class="tick" x="${LEFT}" y="${HEIGHT - BOTTOM + 14}">0</text><text class="tick" x="${WIDTH - 8}" y="${HEIGHT - BOTTOM + 14}" text-anchor="end">${short(end)}</text>` +
    `<text class="axis" x="${(LEFT + WIDTH) / 2}" y="${HEIGHT - 4}" text-anchor="middle">${escape(axisOf(curve.by))}: ${short(curve.at)}</text></svg></figure>`;
}

/** @param {Kernel} kernel @param {number} curve @returns {[number, number] | null} */
function beforeOf(kernel, curve) {
  const before = kernel.occupancy?.before;
  const at = before?.at[curve] ?? null;
  return before && before.warps !== null && at !== null ? [at, before.warps] : null;
}

/** @param {Kernel} kernel @param {import("./types.js").Section | undefined} section */
export function occupancyHtml(kernel, section) {
  const rows = rowsOf(section);
  const isBar = (/** @type {{ metric: string }} */ row) => /maximum_warps_per_active_cycle_pct|warps_active\.avg\.pct/.test(row.metric);
  const isLimit = (/** @type {{ metric: string }} */ row) => row.metric.startsWith("launch__occupancy_limit_");
  const bars = rows.filter(isBar).sort((a, b) => Number(b.metric.includes("maximum")) - Number(a.metric.includes("maximum")));
  const limits = rows.filter(isLimit);
  const least = Math.min(...limits.map((row) => numberOf(row.value)));
  const limited = limits.filter((row) => numberOf(row.value) === least).map((row) => row.label.replace("Block Limit ", ""));
  const curves = kernel.occupancy ? kernel.occupancy.curves.map((curve, i) => curveHtml(curve, kernel.occupancy?.most_warps || 64, beforeOf(kernel, i))).join("") : "";
  return (bars.length ? barsHtml(bars.map((cell) => ({ label: cell.label, cell })), { isPlain: true }) : "") +
    (limits.length ? `<div class="pair"><div><h4>Blocks an SM could hold, by</h4>${barsHtml(limits.map((cell) => ({ label: cell.label.replace("Block Limit ", ""), cell })))}` +
      `<p class="kernel-note">Limited by ${escape(limited.join(" and "))}.</p></div><div>${factsHtml(rows.filter((row) => !isBar(row) && !isLimit(row)))}</div></div>` : factsHtml(rows.filter((row) => !isBar(row)))) +
    (curves ? `<h4>Warps an SM would hold with other</h4><div class="curves">${curves}</div>` : "");
}

// Values over time (counters sampled while the kernel ran) as small charts below each other, with one axis; and values by something else as bars.
import { barsHtml, escape, numberOf, short, unitText } from "./parts.js";

/** @typedef {import("./types.js").Curve} Curve */
/** @typedef {import("./types.js").Block} Block */

const WIDTH = 760;
const HEIGHT = 64;
const LEFT = 150;
const RIGHT = 96;
const MOST_BARS = 16;

/** Times and values. @param {Curve["points"]} points */
const pairs = (points) => points.map((point) => [point.offset ?? point.number, numberOf(point.value)]).filter(([, value]) => Number.isFinite(value));

/** @param {Curve} curve @param {[number, number]} span */
function chartHtml(curve, span) {
  const points = pairs(curve.points);
  const before = pairs(curve.before || []);
  const most = [...points, ...before].reduce((all, [, value]) => Math.max(all, value), curve.unit === "%" ? 100 : 1e-12);
  const x = (/** @type {number} */ time) => LEFT + ((time - span[0]) / Math.max(1, span[1] - span[0])) * (WIDTH - LEFT - RIGHT);
  const y = (/** @type {number} */ value) => HEIGHT - 6 - (Math.max(0, value) / most) * (HEIGHT - 14);
  const path = (/** @type {number[][]} */ all) => all.map(([time, value], i) => `${i ? "L" : "M"}${x(time).toFixed(1)},${y(value).toFixed(1)}`).join("");
  const line = path(points);
  const area = points.length ? `${line}V${HEIGHT - 6}H${x(points[0][0]).toFixed(1)}z` : "";
  const mean = points.reduce((sum, [, value]) => sum + value, 0) / Math.max(1, points.length);
  return `<svg class="timeline-chart" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${escape(curve.label)} over time" data-metric="${escape(curve.metric)}" data-explain="${escape(curve.metric)}" data-points="${points.length}" data-most="${most}">` +
    `<text class="box-name" x="${LEFT - 10}" y="${HEIGHT / 2 + 1}" text-anchor="end">${escape(curve.label)}</text><line class="grid" x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${HEIGHT - 6}" y2="${HEIGHT - 6}"/>` +
    `<path class="area" d="${area}"/><path class="line" d="${line}"/>${before.length ? `<path class="line old" d="${path(before)}"/>` : ""}<text class="tick" x="${WIDTH - RIGHT + 6}" y="14">${short(most)} ${escape(unitText(curve.unit))}</text><text class="tick" x="${WIDTH - RIGHT + 6}" y="${HEIGHT - 8}">mean ${short(mean)}</text></svg>`;
}

/** @param {Block[]} blocks */
export function timelinesHtml(blocks) {
  /** @type {Curve[]} */
  const all = blocks.flatMap((block) => block.rows);
  const times = all.flatMap((curve) => [...curve.points, ...(curve.before || [])].map((point) => point.offset ?? point.number));
  /** @type {[number, number]} */
  const span = [times.reduce((a, b) => Math.min(a, b), Infinity), times.reduce((a, b) => Math.max(a, b), -Infinity)];
  const groups = blocks.map((block) => `<h4>${escape(block.title)}</h4>${block.rows.map((/** @type {Curve} */ curve) => chartHtml(curve, span)).join("")}`).join("");
  return `<div class="timelines" data-from="${span[0]}" data-to="${span[1]}">${groups}<p class="kernel-note">From left to right: ${short((span[1] - span[0]) / 1000)} us of the kernel.</p></div>`;
}

/** What a cell says of its baseline. @param {number | undefined} before @param {number} now */
function was(before, now) {
  return before === undefined || !Number.isFinite(before) ? {} : { before, before_text: short(before), change: before ? (100 * (now - before)) / Math.abs(before) : null };
}

/** The values of one metric by opcode, link, device ... @param {Curve} curve */
export function curveBarsHtml(curve) {
  const points = curve.points.filter((point) => point.value !== null);
  if (points.some((point) => !Number.isFinite(numberOf(point.value))))
    return `<div class="fact"><dt>${escape(curve.label)}</dt><dd>${escape(points.map((point) => [point.label, point.value].filter((part) => part !== "").join(": ")).join(", "))}</dd></div>`;
  const order = [...points].sort((a, b) => numberOf(b.value) - numberOf(a.value));
  const before = new Map((curve.before || []).map((point) => [point.label || String(point.number), numberOf(point.value)]));
  const bars = order.map((point) => ({ label: point.label || String(point.number), explain: curve.metric, cell: { ...was(before.get(point.label || String(point.number)), numberOf(point.value)), label: point.label, metric: curve.metric, computed: false, value: numberOf(point.value), unit: curve.unit, text: short(numberOf(point.value)), shown: curve.unit } }));
  const rest = bars.slice(MOST_BARS);
  const most = Math.max(...bars.map((bar) => bar.cell.value), 1e-12);
  return `<div><h4>${escape(curve.label)}</h4>${barsHtml(bars.slice(0, MOST_BARS), { most })}${rest.length ? `<details><summary>${rest.length} more</summary>${barsHtml(rest, { most })}</details>` : ""}</div>`;
}

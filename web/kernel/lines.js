// Values over time (counters sampled while the kernel ran) as small charts below each other, with one axis; and values by something else as
// bars.
import { barsHtml, escape, numberOf, short, unitText } from "./parts.js";

/** @typedef {import("./types.js").Curve} Curve */
/** @typedef {import("./types.js").Block} Block */

const WIDTH = 760;
const HEIGHT = 64;
const LEFT = 186;
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
  return `<svg class="timeline-chart" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" tabindex="0" aria-label="${escape(curve.label)} over time" data-metric="${escape(curve.metric)}" data-explain="${escape(curve.metric)}" data-points="${points.length}" data-most="${most}">` +
    `<text class="box-name" x="${LEFT - 10}" y="${HEIGHT / 2 + 1}" text-anchor="end">${escape(curve.label)}</text><line class="grid" x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${HEIGHT - 6}" y2="${HEIGHT - 6}"/>` +
    `<path class="area" d="${area}"/><path class="line" d="${line}"/>${before.length ? `<path class="line old" d="${path(before)}"/>` : ""}<text class="tick" x="${WIDTH - RIGHT + 6}" y="14">${short(most)} ${escape(unitText(curve.unit))}</text><text class="tick" x="${WIDTH - RIGHT + 6}" y="${HEIGHT - 8}">mean ${short(mean)}</text></svg>`;
}

/** The sample that is nearest to a time. @param {number[][]} points by time @param {number} time @returns {number[] | undefined} */
export function nearest(points, time) {
  let [low, high] = [0, points.length - 1];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (points[middle][0] < time)
      low = middle + 1;
    else
      high = middle;
  }
  const [before, after] = [points[low - 1], points[low]];
  return before && after && time - before[0] < after[0] - time ? before : after;
}

/** Reads the values where the pointer is, in all charts of the axis at once; with the arrows to the left and right by the keyboard. */
export class TimelineReader {
  /** @param {HTMLElement} place @param {() => Block[]} blocks those that are shown */
  constructor(place, blocks) {
    this.blocks = blocks;
    place.addEventListener("pointermove", (event) => this.move(/** @type {Element} */ (event.target).closest(".timeline-chart"), event.clientX));
    place.addEventListener("focusin", (event) => this.move(/** @type {Element} */ (event.target).closest(".timeline-chart"), null));
    place.addEventListener("keydown", (event) => this.key(event));
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const chart = /** @type {Element} */ (event.target).closest(".timeline-chart");
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!chart || !by)
      return;
    const points = this.pointsOf(chart);
    const at = points.findIndex(([time]) => time === Number(chart.getAttribute("data-read")));
    this.read(chart, points[Math.max(0, Math.min(points.length - 1, at + by))]?.[0] ?? 0);
    event.preventDefault();
  }

  /** @param {Element} chart */
  pointsOf(chart) {
    const curve = this.blocks().flatMap((block) => block.rows).find((/** @type {Curve} */ row) => row.metric === chart.getAttribute("data-metric"));
    return curve ? pairs(curve.points) : [];
  }

  /** @param {Element | null} chart @param {number | null} x of the pointer; null: the first sample */
  move(chart, x) {
    if (!chart)
      return;
    const [from, to] = this.spanOf(chart);
    const box = chart.getBoundingClientRect();
    const part = x === null ? 0 : (((x - box.left) / box.width) * WIDTH - LEFT) / (WIDTH - LEFT - RIGHT);
    this.read(chart, from + Math.max(0, Math.min(1, part)) * (to - from));
  }

  /** @param {Element} chart */
  spanOf(chart) {
    const { from, to } = /** @type {HTMLElement} */ (chart.closest(".timelines")).dataset;
    return [Number(from), Number(to)];
  }

  /** @param {Element} chart @param {number} time */
  read(chart, time) {
    const curves = new Map(this.blocks().flatMap((block) => block.rows).map((/** @type {Curve} */ row) => [row.metric, row]));
    const [from, to] = this.spanOf(chart);
    for (const one of chart.closest(".timelines")?.querySelectorAll(".timeline-chart") || []) {
      const curve = curves.get(one.getAttribute("data-metric") || "");
      const point = nearest(pairs(curve?.points || []), time);
      one.querySelector(".reading-group")?.remove();
      if (!curve || !point)
        continue;
      const x = LEFT + ((point[0] - from) / Math.max(1, to - from)) * (WIDTH - LEFT - RIGHT);
      const before = nearest(pairs(curve.before || []), time);
      const old = before ? `<tspan class="old" dx="8">${escape(short(before[1]))}</tspan>` : "";
      one.setAttribute("data-read", String(point[0]));
      one.insertAdjacentHTML("beforeend", `<g class="reading-group" data-time="${point[0]}" data-value="${point[1]}"><line class="reader" x1="${x}" x2="${x}" y1="4" y2="${HEIGHT - 6}"/><text class="reading" x="${x + (x > WIDTH / 2 ? -6 : 6)}" y="16" text-anchor="${x > WIDTH / 2 ? "end" : "start"}">${escape(short(point[1]))} ${escape(unitText(curve.unit))} at ${escape(short(point[0] / 1000))} us${old}</text></g>`);
    }
  }
}

/** Whether there is something to draw. @param {Curve} curve */
const isAnything = (curve) => pairs([...curve.points, ...(curve.before || [])]).some(([, value]) => value !== 0);

/** Curves, and the names of those that stayed at nothing. @param {Block} block @param {[number, number]} span */
function groupHtml(block, span) {
  /** @type {Curve[]} */
  const curves = block.rows;
  const none = curves.filter((curve) => !isAnything(curve)).map((curve) => `<span class="still" data-metric="${escape(curve.metric)}" data-explain="${escape(curve.metric)}">${escape(curve.label)}</span>`);
  return `<h4>${escape(block.title)}</h4>${curves.filter(isAnything).map((curve) => chartHtml(curve, span)).join("")}${none.length ? `<p class="kernel-note">0 all the time: ${none.join(", ")}</p>` : ""}`;
}

/** @param {Block[]} blocks */
export function timelinesHtml(blocks) {
  /** @type {Curve[]} */
  const all = blocks.flatMap((block) => block.rows);
  const times = all.flatMap((curve) => [...curve.points, ...(curve.before || [])].map((point) => point.offset ?? point.number));
  /** @type {[number, number]} */
  const span = [times.reduce((a, b) => Math.min(a, b), Infinity), times.reduce((a, b) => Math.max(a, b), -Infinity)];
  const old = all.some((curve) => curve.before?.length) ? `<div class="legend"><span><i class="rule old"></i>baseline</span></div>` : "";
  return `<div class="timelines" data-from="${span[0]}" data-to="${span[1]}">${old}${blocks.map((block) => groupHtml(block, span)).join("")}<p class="kernel-note">From left to right: ${short((span[1] - span[0]) / 1000)} us of the kernel.</p></div>`;
}

/** What a cell says of its baseline. @param {number | undefined} before @param {number} now */
function was(before, now) {
  return before === undefined || !Number.isFinite(before) ? {} : { before, before_text: short(before), change: before ? (100 * (now - before)) / Math.abs(before) : null };
}

/** Texts and numbers that are names: nothing that has a length. @param {Curve} curve @param {Curve["points"]} points */
function namesHtml(curve, points) {
  const said = points.map((point) => [point.label || (points.length > 1 ? String(point.number) : ""), point.value].filter((part) => part !== "").join(": "));
  return `<div class="fact" data-explain="${escape(curve.metric)}"><dt>${escape(curve.label)}</dt><dd>${escape(said.join(", "))}</dd></div>`;
}

/** The values of one metric by opcode, link, device ... @param {Curve} curve */
export function curveBarsHtml(curve) {
  const points = curve.points.filter((point) => point.value !== null);
  if (points.some((point) => !Number.isFinite(numberOf(point.value))) || /\bIDs?\b/.test(curve.label))
    return namesHtml(curve, points);
  const order = [...points].sort((a, b) => numberOf(b.value) - numberOf(a.value));
  const before = new Map((curve.before || []).map((point) => [point.label || String(point.number), numberOf(point.value)]));
  const bars = order.map((point) => ({ label: point.label || String(point.number), explain: curve.metric, cell: { ...was(before.get(point.label || String(point.number)), numberOf(point.value)), label: point.label, metric: curve.metric, computed: false, value: numberOf(point.value), unit: curve.unit, text: short(numberOf(point.value)), shown: curve.unit } }));
  const rest = bars.slice(MOST_BARS);
  const most = Math.max(...bars.map((bar) => bar.cell.value), 1e-12);
  return `<div><h4>${escape(curve.label)}</h4>${barsHtml(bars.slice(0, MOST_BARS), { most })}${rest.length ? `<details><summary>${rest.length} more</summary>${barsHtml(rest, { most })}</details>` : ""}</div>`;
}

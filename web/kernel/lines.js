// Values over time (counters sampled while the kernel ran) as small charts below each other, with one axis; and values by something else as
// bars.
import { attributesHtml, barsHtml, chartLine, chartText, escape, moreHtml, numberOf, short, unitText } from "./parts.js";

/** @typedef {import("./types.js").Curve} Curve */
/** @typedef {import("./types.js").Block} Block */
/** @typedef {Curve["points"][0]} Point */

const WIDTH = 760;
const HEIGHT = 64;
const LEFT = 186;
const RIGHT = 96;
const MOST_BARS = 16;

/** Times and values. @param {Curve["points"]} points */
function pairs(points) {
  return points.map((point) => [point.offset ?? point.number, numberOf(point.value)]).filter(([, value]) => Number.isFinite(value));
}

/** The largest value; in percent the scale ends at 100. @param {number[][]} points @param {string} unit */
function mostOf(points, unit) {
  return points.reduce((all, [, value]) => Math.max(all, value), unit === "%" ? 100 : 1e-12);
}

/** Where a time and a value are drawn. @param {[number, number]} span @param {number} most */
function placesOf(span, most) {
  const x = (/** @type {number} */ time) => LEFT + ((time - span[0]) / Math.max(1, span[1] - span[0])) * (WIDTH - LEFT - RIGHT);
  const y = (/** @type {number} */ value) => HEIGHT - 6 - (Math.max(0, value) / most) * (HEIGHT - 14);
  return { x, y };
}

/** @param {number[][]} points @param {ReturnType<typeof placesOf>} places */
function pathOf(points, { x, y }) {
  return points.map(([time, value], i) => `${i ? "L" : "M"}${x(time).toFixed(1)},${y(value).toFixed(1)}`).join("");
}

/**
 * The line, what lies below it, and that of the baseline.
 * @param {number[][]} points @param {number[][]} before @param {ReturnType<typeof placesOf>} places
 */
function pathsHtml(points, before, places) {
  const line = pathOf(points, places);
  const area = points.length ? `${line}V${HEIGHT - 6}H${places.x(points[0][0]).toFixed(1)}z` : "";
  const old = before.length ? `<path class="line old" d="${pathOf(before, places)}"/>` : "";
  return `<path class="area" d="${area}"/><path class="line" d="${line}"/>${old}`;
}

/** The most and the mean, at the right. @param {number[][]} points @param {number} most @param {string} unit */
function ticksHtml(points, most, unit) {
  const mean = points.reduce((sum, [, value]) => sum + value, 0) / Math.max(1, points.length);
  const x = WIDTH - RIGHT + 6;
  return `<text class="tick" x="${x}" y="14">${short(most)} ${escape(unitText(unit))}</text>` +
    `<text class="tick" x="${x}" y="${HEIGHT - 8}">mean ${short(mean)}</text>`;
}

/** @param {Curve} curve @param {[number, number]} span */
function chartHtml(curve, span) {
  const points = pairs(curve.points);
  const before = pairs(curve.before || []);
  const most = mostOf([...points, ...before], curve.unit);
  const named = attributesHtml({
    class: "timeline-chart", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", tabindex: 0, "aria-label": `${curve.label} over time`,
    "data-metric": curve.metric, "data-explain": curve.metric, "data-points": points.length, "data-most": most,
  });
  const name = chartText("box-name", LEFT - 10, HEIGHT / 2 + 1, "end", escape(curve.label));
  const ground = chartLine("grid", [LEFT, WIDTH - RIGHT, HEIGHT - 6, HEIGHT - 6]);
  const paths = pathsHtml(points, before, placesOf(span, most));
  return `<svg ${named}>${name}${ground}${paths}${ticksHtml(points, most, curve.unit)}</svg>`;
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
    const chartOf = (/** @type {Event} */ event) => /** @type {Element} */ (event.target).closest(".timeline-chart");
    place.addEventListener("pointermove", (event) => this.move(chartOf(event), event.clientX));
    place.addEventListener("focusin", (event) => this.move(chartOf(event), null));
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

  /** Those that are shown, by their metric. @returns {Map<string, Curve>} */
  curves() {
    const rows = /** @type {Curve[]} */ (this.blocks().flatMap((block) => block.rows));
    return new Map(rows.map((row) => [row.metric, row]));
  }

  /** @param {Element} chart */
  pointsOf(chart) {
    const curve = this.curves().get(chart.getAttribute("data-metric") || "");
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
    const curves = this.curves();
    const [from, to] = this.spanOf(chart);
    for (const one of chart.closest(".timelines")?.querySelectorAll(".timeline-chart") || []) {
      const curve = curves.get(one.getAttribute("data-metric") || "");
      const point = nearest(pairs(curve?.points || []), time);
      one.querySelector(".reading-group")?.remove();
      if (!curve || !point)
        continue;
      const x = LEFT + ((point[0] - from) / Math.max(1, to - from)) * (WIDTH - LEFT - RIGHT);
      one.setAttribute("data-read", String(point[0]));
      one.insertAdjacentHTML("beforeend", readingHtml(point, nearest(pairs(curve.before || []), time), x, curve.unit));
    }
  }
}

/** What was sampled, at a line. @param {number[]} point @param {number[] | undefined} before @param {number} x @param {string} unit */
function readingHtml([time, value], before, x, unit) {
  const old = before ? `<tspan class="old" dx="8">${escape(short(before[1]))}</tspan>` : "";
  const said = `${escape(short(value))} ${escape(unitText(unit))} at ${escape(short(time / 1000))} us${old}`;
  const isRight = x > WIDTH / 2;
  const reading = chartText("reading", x + (isRight ? -6 : 6), 16, isRight ? "end" : "start", said);
  return `<g class="reading-group" data-time="${time}" data-value="${value}">${chartLine("reader", [x, x, 4, HEIGHT - 6])}${reading}</g>`;
}

/** Whether there is something to draw. @param {Curve} curve */
const isAnything = (curve) => pairs([...curve.points, ...(curve.before || [])]).some(([, value]) => value !== 0);

/** @param {Curve} curve */
function stillHtml({ metric, label }) {
  return `<span ${attributesHtml({ class: "still", "data-metric": metric, "data-explain": metric })}>${escape(label)}</span>`;
}

/** Curves, and the names of those that stayed at nothing. @param {Block} block @param {[number, number]} span */
function groupHtml(block, span) {
  /** @type {Curve[]} */
  const curves = block.rows;
  const still = curves.filter((curve) => !isAnything(curve)).map(stillHtml);
  const none = still.length ? `<p class="kernel-note">0 all the time: ${still.join(", ")}</p>` : "";
  return `<h4>${escape(block.title)}</h4>${curves.filter(isAnything).map((curve) => chartHtml(curve, span)).join("")}${none}`;
}

/** @param {Block[]} blocks */
export function timelinesHtml(blocks) {
  /** @type {Curve[]} */
  const all = blocks.flatMap((block) => block.rows);
  const times = all.flatMap((curve) => [...curve.points, ...(curve.before || [])].map((point) => point.offset ?? point.number));
  /** @type {[number, number]} */
  const span = [times.reduce((a, b) => Math.min(a, b), Infinity), times.reduce((a, b) => Math.max(a, b), -Infinity)];
  const old = all.some((curve) => curve.before?.length) ? `<div class="legend"><span><i class="rule old"></i>baseline</span></div>` : "";
  const groups = blocks.map((block) => groupHtml(block, span)).join("");
  const length = `<p class="kernel-note">From left to right: ${short((span[1] - span[0]) / 1000)} us of the kernel.</p>`;
  return `<div class="timelines" data-from="${span[0]}" data-to="${span[1]}">${old}${groups}${length}</div>`;
}

/** What a cell says of its baseline. @param {number | undefined} before @param {number} now */
function was(before, now) {
  if (before === undefined || !Number.isFinite(before))
    return {};
  return { before, before_text: short(before), change: before ? (100 * (now - before)) / Math.abs(before) : null };
}

/** Texts and numbers that are names: nothing that has a length. @param {Curve} curve @param {Curve["points"]} points */
function namesHtml(curve, points) {
  const nameOf = (/** @type {Point} */ point) => point.label || (points.length > 1 ? String(point.number) : "");
  const said = points.map((point) => [nameOf(point), point.value].filter((part) => part !== "").join(": ")).join(", ");
  return `<div class="fact" data-explain="${escape(curve.metric)}"><dt>${escape(curve.label)}</dt><dd>${escape(said)}</dd></div>`;
}

/** @param {Curve} curve @param {Point} point @param {Map<string, number>} before */
function barOf(curve, point, before) {
  const value = numberOf(point.value);
  const label = point.label || String(point.number);
  const cell = {
    ...was(before.get(label), value), label: point.label, metric: curve.metric, computed: false, value, unit: curve.unit,
    text: short(value), shown: curve.unit,
  };
  return { label, explain: curve.metric, cell };
}

/** The values of one metric by opcode, link, device ... @param {Curve} curve */
export function curveBarsHtml(curve) {
  const points = curve.points.filter((point) => point.value !== null);
  if (points.some((point) => !Number.isFinite(numberOf(point.value))) || /\bIDs?\b/.test(curve.label))
    return namesHtml(curve, points);
  const order = [...points].sort((a, b) => numberOf(b.value) - numberOf(a.value));
  const before = new Map((curve.before || []).map((point) => [point.label || String(point.number), numberOf(point.value)]));
  const bars = order.map((point) => barOf(curve, point, before));
  const rest = bars.slice(MOST_BARS);
  const most = Math.max(...bars.map((bar) => bar.cell.value), 1e-12);
  const more = moreHtml(rest.length, () => barsHtml(rest, { most }));
  return `<div><h4>${escape(curve.label)}</h4>${barsHtml(bars.slice(0, MOST_BARS), { most })}${more}</div>`;
}

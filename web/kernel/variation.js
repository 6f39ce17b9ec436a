// How much values differ between the launches of a kernel that ought to be alike: least, median, most and spread of each, and one of them
// launch by launch.
import { duration } from "../format.js";
import { copyText, tsv } from "../panels/panel.js";
import { amount, changeText, escape, note, percent, unitText } from "./parts.js";
import { MOST_VARIATION, headHtml, inOrder } from "./summary.js";

/** @typedef {import("./types.js").Spread} Spread */
/**
 * @typedef {{ launches: number, metrics: Spread[], metric: string, points: Array<{ place: number, id: number, value: number | null }> }}
 *   Answer
 */

const WIDTH = 900;
const HEIGHT = 190;
const LEFT = 86;
const RIGHT = 12;
const TOP = 14;
const BOTTOM = 30;
const MOST_LINES = 1000;
/** Launches of which each has its point. */
const MOST_POINTS = 2000;

/** @type {Array<{ title: string, key: keyof Spread, about: string }>} */
const COLUMNS = [
  { title: "Metric", key: "metric", about: "A click shows it launch by launch" }, { title: "This launch", key: "value", about: "What the chosen launch has" }, { title: "Least", key: "least", about: "Of all launches alike" },
  { title: "Median", key: "median", about: "Half of the launches have more" }, { title: "Most", key: "most", about: "Of all launches alike" }, { title: "Mean", key: "mean", about: "Of all launches alike" },
  { title: "Deviation", key: "deviation", about: "Standard deviation, of a sample" }, { title: "Spread", key: "percent", about: "The deviation in percent of the mean" },
];
/** @type {typeof COLUMNS[0]} */
const BASELINE = { title: "Baseline", key: "before", about: "The mean of the same kernel in the baseline" };

/** @param {Spread[]} metrics */
const columnsOf = (metrics) => (metrics.some((one) => one.before !== undefined) ? [...COLUMNS, BASELINE] : COLUMNS);

/** @param {number | null} value @param {string} unit */
function text(value, unit) {
  if (value === null)
    return "–";
  return unit === "ns" || unit === "nsecond" ? duration(value) : unit === "%" ? percent(value) : amount(value, unitText(unit));
}

/**
 * Metrics that differ, the most first; those that do not are only counted.
 * @param {Spread[]} metrics @param {number} order @param {string} filter
 */
export function arrangedSpreads(metrics, order, filter) {
  const words = filter.trim().toLowerCase().split(/\s+/).filter(Boolean);
  const kept = metrics.filter((one) => words.every((word) => one.metric.toLowerCase().includes(word)) && (words.length > 0 || one.least !== one.most));
  const key = [...COLUMNS, BASELINE][Math.abs(order) - 1]?.key ?? "percent";
  const value = (/** @type {Spread} */ one) => one[key] ?? null;
  return kept.sort((a, b) => (order < 0 ? inOrder(value(b), value(a)) : inOrder(value(a), value(b))) || inOrder(a.metric, b.metric));
}

/** More than a little from the median of three or more. @param {number} value @param {number} median @param {number} launches */
export function isOutlier(value, median, launches) {
  return launches >= 3 && Math.abs(value - median) > (MOST_VARIATION / 100) * Math.abs(median);
}

/** One metric over the launches. @param {Answer} answer @param {Spread} spread @param {number} chosen place */
export function chartHtml(answer, spread, chosen) {
  const points = answer.points.filter((point) => point.value !== null).slice(0, MOST_POINTS).map((point) => ({ ...point, value: Number(point.value) }));
  const median = spread.median ?? 0;
  const before = spread.before ?? null;
  const [low, high] = [Math.min(spread.least, before ?? 0, 0), Math.max(spread.most, before ?? 0, 0)];
  const x = (/** @type {number} */ i) => LEFT + ((i + 0.5) / points.length) * (WIDTH - LEFT - RIGHT);
  const y = (/** @type {number} */ value) => HEIGHT - BOTTOM - ((value - low) / Math.max(high - low, 1e-300)) * (HEIGHT - TOP - BOTTOM);
  const line = (/** @type {string} */ kind, /** @type {number} */ value, /** @type {boolean} */ named) => `<line class="${kind}" x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${y(value).toFixed(1)}" y2="${y(value).toFixed(1)}"/>${named ? `<text class="tick" x="${LEFT - 6}" y="${(y(value) + 4).toFixed(1)}" text-anchor="end">${escape(text(value, spread.unit))}</text>` : ""}`;
  const isApart = (/** @type {number} */ value) => Math.abs(y(value) - y(median)) > 14;
  const rules = line("grid", low, isApart(low)) + line("grid", high, isApart(high)) + line("median", median, true) + (before === null ? "" : line("old", before, false));
  const size = points.length > 300 ? 2.4 : 4.5;
  const dots = points.map((point, i) => {
    const odd = isOutlier(point.value, median, answer.launches);
    const far = median ? `, ${changeText((100 * (point.value - median)) / Math.abs(median))} from the median` : "";
    return `<circle class="launch${odd ? " outlier" : ""}${point.place === chosen ? " chosen" : ""}" cx="${x(i).toFixed(1)}" cy="${y(point.value).toFixed(1)}" r="${odd ? size + 1.2 : size}" data-place="${point.place}" data-value="${point.value}" tabindex="0" role="button" aria-label="launch ${point.id}: ${escape(text(point.value, spread.unit))}"><title>launch ${point.id}: ${escape(text(point.value, spread.unit))}${escape(far)}</title></circle>`;
  }).join("");
  const path = points.map((point, i) => `${i ? "L" : "M"}${x(i).toFixed(1)},${y(point.value).toFixed(1)}`).join("");
  return `<svg class="variation-chart" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="group" aria-label="${escape(answer.metric)} launch by launch" data-metric="${escape(answer.metric)}" data-explain="${escape(answer.metric)}">${rules}<path class="line" d="${path}"/>${dots}` +
    `<text class="axis" x="${(LEFT + WIDTH) / 2}" y="${HEIGHT - 8}" text-anchor="middle">launches, first to last</text></svg><div class="legend"><span><i class="rule median"></i>median</span>${before === null ? "" : `<span data-before="${before}"><i class="rule old"></i>baseline, mean: ${escape(text(before, spread.unit))}</span>`}<span><i class="swatch outlier"></i>more than ${MOST_VARIATION} % from the median</span></div>`;
}

export class VariationPage {
  /** @param {HTMLElement} place @param {(metric: string) => void} choose a metric for the chart */
  constructor(place, choose) {
    this.place = place;
    this.filter = "";
    this.order = -8;
    this.chosen = -1;
    /** @type {Answer} */
    this.answer = { launches: 0, metrics: [], metric: "", points: [] };
    place.addEventListener("input", (event) => {
      const input = /** @type {HTMLInputElement} */ (event.target);
      if (input.id !== "variation-filter")
        return;
      this.filter = input.value;
      this.showLines();
    });
    place.addEventListener("keydown", (event) => {
      const target = /** @type {Element} */ (event.target);
      if (event.key === "Enter" && target.matches(".launch"))
        target.dispatchEvent(new MouseEvent("click", { bubbles: true }));
    });
    place.addEventListener("click", (event) => this.click(/** @type {HTMLElement} */ (event.target), choose));
  }

  /** @param {HTMLElement} target @param {(metric: string) => void} choose */
  click(target, choose) {
    const heading = /** @type {HTMLElement | null} */ (target.closest("[data-spread]"));
    const row = /** @type {HTMLElement | null} */ (target.closest("tr[data-metric]"));
    if (target.closest("#variation-copy")) {
      copyText(this.tsv(), target);
    } else if (heading) {
      const column = Number(heading.dataset.spread);
      this.order = Math.abs(this.order) === column ? -this.order : column === 1 ? 1 : -column;
      this.showLines();
    } else if (row) {
      choose(row.dataset.metric || "");
    }
  }

  /** Of what is shown, in base units. */
  tsv() {
    const columns = columnsOf(this.answer.metrics);
    return tsv(columns.map((column) => column.title), arrangedSpreads(this.answer.metrics, this.order, this.filter).map((one) => columns.map((column) => one[column.key])));
  }

  /** @param {Answer} answer @param {number} chosen place */
  show(answer, chosen) {
    this.answer = answer;
    this.chosen = chosen;
    if (answer.launches < 2) {
      this.place.innerHTML = note("This kernel was launched once with this grid and block on this GPU: there is nothing to compare it with.");
      return;
    }
    const spread = answer.metrics.find((one) => one.metric === answer.metric);
    const outliers = spread ? answer.points.filter((point) => point.value !== null && isOutlier(point.value, spread.median ?? 0, answer.launches)).length : 0;
    const chart = spread ? `<article class="card" id="card-variation"><header><h3>${escape(answer.metric)}</h3><p class="about">${answer.launches} launches of this kernel with the same grid and block. ${outliers ? `${outliers} more than ${MOST_VARIATION} % from the median (${escape(text(spread.median, spread.unit))}): a click shows one.` : `All within ${MOST_VARIATION} % of the median (${escape(text(spread.median, spread.unit))}).`}</p></header>${chartHtml(answer, spread, this.chosen)}</article>` : "";
    this.place.innerHTML = `${chart}<div class="bar"><input id="variation-filter" type="search" placeholder="filter metrics: words of their names" aria-label="Show only metrics with these words" spellcheck="false" value="${escape(this.filter)}"><span id="variation-count" class="faint" role="status"></span><span class="spring"></span><button id="variation-copy" class="copy">Copy as TSV</button></div><div id="variation-lines"></div>`;
    this.showLines();
  }

  showLines() {
    const { metrics, metric } = this.answer;
    const kept = arrangedSpreads(metrics, this.order, this.filter);
    const same = metrics.filter((one) => one.least === one.most).length;
    const columns = columnsOf(metrics);
    const head = columns.map((column, i) => headHtml(column.title, column.about, i + 1, this.order, i === 0, "spread")).join("");
    const cell = (/** @type {Spread} */ one, /** @type {keyof Spread} */ key) => `<td class="number${key === "percent" && Number(one.percent) > MOST_VARIATION ? " varies" : ""}" data-column="${key}" data-value="${one[key] ?? ""}">${escape(key === "percent" ? percent(one.percent) : text(/** @type {number | null} */ (one[key] ?? null), one.unit))}</td>`;
    const lines = kept.slice(0, MOST_LINES).map((one) => `<tr data-metric="${escape(one.metric)}" data-explain="${escape(one.metric)}" class="${one.metric === metric ? "chosen" : ""}"><td class="text-metric"><button class="link" title="${escape(one.metric)}">${escape(one.metric)}</button></td>${columns.slice(1).map((column) => cell(one, column.key)).join("")}</tr>`);
    const count = this.place.querySelector("#variation-count");
    const box = this.place.querySelector("#variation-lines");
    if (count)
      count.textContent = `${kept.length} of ${metrics.length} metrics${this.filter ? "" : `; ${same} are the same in all launches`}`;
    if (box)
      box.innerHTML = `<table class="summary-table variation-table"><thead><tr>${head}</tr></thead><tbody>${lines.join("")}</tbody></table>${kept.length > MOST_LINES ? note(`The first ${MOST_LINES}; copying takes all.`) : ""}`;
  }
}

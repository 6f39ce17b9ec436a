// How much values differ between the launches of a kernel that ought to be alike: least, median, most and spread of each, and one of them
// launch by launch.
import { duration } from "../format.js";
import { copyText, tsv } from "../panels/panel.js";
import {
  amount, attributesHtml, changeText, chartLine, chartText, escape, filteredHtml, note, percent, unitText,
} from "./parts.js";
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

/** @typedef {{ title: string, key: keyof Spread, about: string }} Column */

/** @type {Column[]} */
const COLUMNS = [
  { title: "Metric", key: "metric", about: "A click shows it launch by launch" },
  { title: "This launch", key: "value", about: "Value of the selected launch" },
  { title: "Least", key: "least", about: "Of the same launches" },
  { title: "Median", key: "median", about: "Half of the launches have more" },
  { title: "Most", key: "most", about: "Of the same launches" },
  { title: "Mean", key: "mean", about: "Of the same launches" },
  { title: "Deviation", key: "deviation", about: "Standard deviation, of a sample" },
  { title: "Spread", key: "percent", about: "The deviation in percent of the mean" },
];
/** @type {Column} */
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
  const hasWords = (/** @type {Spread} */ one) => words.every((word) => one.metric.toLowerCase().includes(word));
  const kept = metrics.filter((one) => hasWords(one) && (words.length > 0 || one.least !== one.most));
  const key = [...COLUMNS, BASELINE][Math.abs(order) - 1]?.key ?? "percent";
  const value = (/** @type {Spread} */ one) => one[key] ?? null;
  return kept.sort((a, b) => (order < 0 ? inOrder(value(b), value(a)) : inOrder(value(a), value(b))) || inOrder(a.metric, b.metric));
}

/** More than a little from the median of three or more. @param {number} value @param {number} median @param {number} launches */
export function isOutlier(value, median, launches) {
  return launches >= 3 && Math.abs(value - median) > (MOST_VARIATION / 100) * Math.abs(median);
}

/** @typedef {{ place: number, id: number, value: number }} Point */

/** One metric over the launches. */
class Chart {
  /** @param {Answer} answer @param {Spread} spread @param {number} chosen place */
  constructor(answer, spread, chosen) {
    const known = answer.points.filter((point) => point.value !== null).slice(0, MOST_POINTS);
    /** @type {Point[]} */
    this.points = known.map((point) => ({ ...point, value: Number(point.value) }));
    this.answer = answer;
    this.spread = spread;
    this.chosen = chosen;
    this.median = spread.median ?? 0;
    this.before = spread.before ?? null;
    this.low = Math.min(spread.least, this.before ?? 0, 0);
    this.high = Math.max(spread.most, this.before ?? 0, 0);
  }

  /** @param {number} i */
  x(i) {
    return LEFT + ((i + 0.5) / this.points.length) * (WIDTH - LEFT - RIGHT);
  }

  /** @param {number} value */
  y(value) {
    return HEIGHT - BOTTOM - ((value - this.low) / Math.max(this.high - this.low, 1e-300)) * (HEIGHT - TOP - BOTTOM);
  }

  /** @param {number | null} value */
  text(value) {
    return escape(text(value, this.spread.unit));
  }

  /** @param {string} kind @param {number} value @param {boolean} named */
  lineHtml(kind, value, named) {
    const at = this.y(value).toFixed(1);
    const line = chartLine(kind, [LEFT, WIDTH - RIGHT, at, at]);
    return named ? line + chartText("tick", LEFT - 6, (this.y(value) + 4).toFixed(1), "end", this.text(value)) : line;
  }

  /** The least and the most, named where the median leaves room, the median, and the mean of the baseline. */
  rulesHtml() {
    const isApart = (/** @type {number} */ value) => Math.abs(this.y(value) - this.y(this.median)) > 14;
    return this.lineHtml("grid", this.low, isApart(this.low)) + this.lineHtml("grid", this.high, isApart(this.high)) +
      this.lineHtml("median", this.median, true) + (this.before === null ? "" : this.lineHtml("old", this.before, false));
  }

  /** How far a launch is from the median. @param {number} value */
  farText(value) {
    const { median } = this;
    return median ? `, ${changeText((100 * (value - median)) / Math.abs(median))} from the median` : "";
  }

  /** @param {Point} point @param {number} i */
  dotHtml(point, i) {
    const size = this.points.length > 300 ? 2.4 : 4.5;
    const odd = isOutlier(point.value, this.median, this.answer.launches);
    const said = `launch ${point.id}: ${text(point.value, this.spread.unit)}`;
    const drawn = attributesHtml({
      class: `launch${odd ? " outlier" : ""}${point.place === this.chosen ? " chosen" : ""}`,
      cx: this.x(i).toFixed(1), cy: this.y(point.value).toFixed(1), r: odd ? size + 1.2 : size,
      "data-place": point.place, "data-value": point.value, tabindex: 0, role: "button", "aria-label": said,
    });
    return `<circle ${drawn}><title>${escape(said + this.farText(point.value))}</title></circle>`;
  }

  pathHtml() {
    const steps = this.points.map((point, i) => `${i ? "L" : "M"}${this.x(i).toFixed(1)},${this.y(point.value).toFixed(1)}`);
    return `<path class="line" d="${steps.join("")}"/>`;
  }

  legendHtml() {
    const old = this.before === null ? "" :
      `<span data-before="${this.before}"><i class="rule old"></i>baseline, mean: ${this.text(this.before)}</span>`;
    return `<div class="legend"><span><i class="rule median"></i>median</span>${old}` +
      `<span><i class="swatch outlier"></i>more than ${MOST_VARIATION} % from the median</span></div>`;
  }

  html() {
    const { metric } = this.answer;
    const named = attributesHtml({
      class: "variation-chart", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "group", "aria-label": `${metric} launch by launch`,
      "data-metric": metric, "data-explain": metric,
    });
    const dots = this.points.map((point, i) => this.dotHtml(point, i)).join("");
    const axis = chartText("axis", (LEFT + WIDTH) / 2, HEIGHT - 8, "middle", "launches, first to last");
    return `<svg ${named}>${this.rulesHtml()}${this.pathHtml()}${dots}${axis}</svg>${this.legendHtml()}`;
  }
}

/** @param {Answer} answer @param {Spread} spread @param {number} chosen place */
export function chartHtml(answer, spread, chosen) {
  return new Chart(answer, spread, chosen).html();
}

/** How many launches are far from the median. @param {Answer} answer @param {Spread} spread */
function outliersText(answer, spread) {
  const isFar = (/** @type {number | null} */ value) => value !== null && isOutlier(value, spread.median ?? 0, answer.launches);
  const outliers = answer.points.filter((point) => isFar(point.value)).length;
  const median = escape(text(spread.median, spread.unit));
  return outliers ? `${outliers} more than ${MOST_VARIATION} % from the median (${median}): a click shows one.` :
    `All within ${MOST_VARIATION} % of the median (${median}).`;
}

/** @param {Answer} answer @param {number} chosen place */
function cardHtml(answer, chosen) {
  const spread = answer.metrics.find((one) => one.metric === answer.metric);
  if (!spread)
    return "";
  const about = `${answer.launches} launches of this kernel with the same grid and block. ${outliersText(answer, spread)}`;
  const header = `<header><h3>${escape(answer.metric)}</h3><p class="about">${about}</p></header>`;
  return `<article class="card" id="card-variation">${header}${chartHtml(answer, spread, chosen)}</article>`;
}

/** @param {Spread} one @param {keyof Spread} key */
function cellHtml(one, key) {
  const isShare = key === "percent";
  const said = isShare ? percent(one.percent) : text(/** @type {number | null} */ (one[key] ?? null), one.unit);
  const kind = isShare && Number(one.percent) > MOST_VARIATION ? "number varies" : "number";
  return `<td class="${kind}" data-column="${key}" data-value="${one[key] ?? ""}">${escape(said)}</td>`;
}

/** @param {Spread} one @param {Column[]} columns @param {boolean} isChosen */
function lineHtml(one, columns, isChosen) {
  const named = attributesHtml({ "data-metric": one.metric, "data-explain": one.metric, class: isChosen ? "chosen" : "" });
  const metric = escape(one.metric);
  const button = `<button class="link" title="${metric}">${metric}</button>`;
  return `<tr ${named}><td class="text-metric">${button}</td>${columns.slice(1).map((column) => cellHtml(one, column.key)).join("")}</tr>`;
}

/** @param {string} head @param {string[]} lines */
function tableHtml(head, lines) {
  return `<table class="summary-table variation-table"><thead><tr>${head}</tr></thead><tbody>${lines.join("")}</tbody></table>`;
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
    const kept = arrangedSpreads(this.answer.metrics, this.order, this.filter);
    return tsv(columns.map((column) => column.title), kept.map((one) => columns.map((column) => one[column.key])));
  }

  /** @param {Answer} answer @param {number} chosen place */
  show(answer, chosen) {
    this.answer = answer;
    this.chosen = chosen;
    if (answer.launches < 2) {
      this.place.innerHTML = note("This kernel was launched once with this grid and block on this GPU: " +
        "there is nothing to compare it with.");
      return;
    }
    this.place.innerHTML = cardHtml(answer, this.chosen) + filteredHtml("variation", this.filter);
    this.showLines();
  }

  showLines() {
    const { metrics, metric } = this.answer;
    const kept = arrangedSpreads(metrics, this.order, this.filter);
    const same = metrics.filter((one) => one.least === one.most).length;
    const columns = columnsOf(metrics);
    const head = columns.map((column, i) => headHtml(column.title, column.about, i + 1, this.order, i === 0, "spread")).join("");
    const lines = kept.slice(0, MOST_LINES).map((one) => lineHtml(one, columns, one.metric === metric));
    const count = this.place.querySelector("#variation-count");
    const box = this.place.querySelector("#variation-lines");
    if (count)
      count.textContent = `${kept.length} of ${metrics.length} metrics${this.filter ? "" : `; ${same} are the same in all launches`}`;
    if (box)
      box.innerHTML = tableHtml(head, lines) + (kept.length > MOST_LINES ? note(`The first ${MOST_LINES}; copying takes all.`) : "");
  }
}

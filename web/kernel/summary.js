// The kernels of a report, one line each: sorted by a click on a heading, filtered by a text, chosen by a click or the keyboard. Only the
// lines that are seen are there, so that there may be many.
import { duration } from "../format.js";
import { tsv } from "../panels/panel.js";
import { attributesHtml, changeText, escape, percent, short } from "./parts.js";

/** @typedef {import("./types.js").Launch} Launch */
/**
 * @typedef {{ title: string, key: string, about: string, text: (kernel: Launch) => string,
 *   value: (kernel: Launch) => number | string | null, share?: boolean, other?: (value: number) => string }} Column other: a value of it
 *   with warm caches, as text
 */

/** As high as the style sheet says a line is. */
export const LINE_HEIGHT = 22;
/** Above and below what is seen. */
const SPARE_LINES = 12;
/** Whose texts say how wide columns are. */
const MEASURED_LINES = 300;
/** Beside the median of three or more launches, as of `sonde kernel --variation`. */
export const MOST_VARIATION = 10;
const COUNT = new Intl.NumberFormat("en-US", { maximumFractionDigits: 0 });
const COLLATOR = new Intl.Collator("en");

/** @param {number | null} value @param {(value: number) => string} text */
const or = (value, text) => (value === null ? "" : text(value));
/** @param {number[]} size */
export const triple = (size) => size.join(" × ").replace(/( × 1)+$/, "");
/** Graphs and ranges, which are counted as one, have neither grid nor block. @param {Launch} kernel */
export const isKernel = (kernel) => kernel.registers !== null || [...kernel.grid, ...kernel.block].some((size) => size !== 1);
const cycles = (/** @type {number} */ value) => COUNT.format(value);

/** @type {Column[]} */
export const COLUMNS = [
  { title: "ID", key: "id", about: "Number of the launch, as sonde kernel counts them", text: (k) => String(k.id), value: (k) => k.id },
  { title: "Est. speed-up", key: "gain", about: "The most that a rule expects to gain of the kernel's time",
    text: (k) => percent(k.gain), value: (k) => k.gain, share: true },
  { title: "Function", key: "function", about: "The kernel's name without name spaces, templates and parameters",
    text: (k) => k.function, value: (k) => k.function },
  { title: "Name", key: "name", about: "The kernel's whole name", text: (k) => k.name.slice(0, 300), value: (k) => k.name },
  { title: "Duration", key: "duration", about: "Time the kernel took",
    text: (k) => or(k.duration, duration), value: (k) => k.duration, other: duration },
  { title: "Improvement", key: "improvement", about: "Time that the estimated speed-up would save",
    text: (k) => or(k.improvement, duration), value: (k) => k.improvement },
  { title: "Compute", key: "compute", about: "Compute throughput, of the peak",
    text: (k) => percent(k.compute), value: (k) => k.compute, share: true, other: percent },
  { title: "Memory", key: "memory", about: "Memory throughput, of the peak",
    text: (k) => percent(k.memory), value: (k) => k.memory, share: true, other: percent },
  { title: "Registers", key: "registers", about: "Registers of a thread", text: (k) => or(k.registers, short), value: (k) => k.registers },
  { title: "Grid", key: "grid", about: "Blocks of the grid",
    text: (k) => (isKernel(k) ? triple(k.grid) : ""), value: (k) => (isKernel(k) ? k.grid[0] * k.grid[1] * k.grid[2] : null) },
  { title: "Block", key: "block", about: "Threads of a block",
    text: (k) => (isKernel(k) ? triple(k.block) : ""), value: (k) => (isKernel(k) ? k.block[0] * k.block[1] * k.block[2] : null) },
  { title: "Cycles", key: "cycles", about: "Cycles that the GPU took",
    text: (k) => or(k.cycles, cycles), value: (k) => k.cycles, other: cycles },
  { title: "Verdict", key: "verdict", about: "What the kernel is limited by",
    text: (k) => k.verdict || (k.error ? "not counted" : ""), value: (k) => k.verdict },
];

const NAME = COLUMNS.findIndex((column) => column.key === "name");
const TEXTS = ["function", "name", "verdict"];

/** @param {number | string | null} x @param {number | string | null} y */
export function inOrder(x, y) {
  if (typeof x === "string" || typeof y === "string")
    return COLLATOR.compare(String(x ?? ""), String(y ?? ""));
  return Number(x ?? -Infinity) - Number(y ?? -Infinity);
}

/**
 * @param {Launch[]} kernels @param {number} sort column from 1 on, negative: the largest first @param {string} filter
 * @param {Set<number> | null} places of a group; null: all
 */
export function arranged(kernels, sort, filter, places = null) {
  const text = filter.trim().toLowerCase();
  const chosen = places ? kernels.filter((kernel) => places.has(kernel.place)) : kernels;
  const textOf = (/** @type {Launch} */ kernel) => `${kernel.name} ${kernel.function} ${kernel.verdict} ${kernel.id}`.toLowerCase();
  const kept = text ? chosen.filter((kernel) => textOf(kernel).includes(text)) : chosen;
  const column = COLUMNS[Math.abs(sort) - 1];
  if (!column)
    return kept;
  const order = (/** @type {Launch} */ a, /** @type {Launch} */ b) => inOrder(column.value(a), column.value(b));
  return [...kept].sort((a, b) => (sort < 0 ? order(b, a) : order(a, b)) || a.place - b.place);
}

/** Whether it took much longer or shorter than launches like it. @param {Launch} kernel */
export function isUnusual(kernel) {
  return kernel.alike >= 3 && Math.abs(kernel.above_median ?? 0) > MOST_VARIATION;
}

/** @param {Launch} kernel */
export function unusualText(kernel) {
  const above = kernel.above_median ?? 0;
  return `${percent(Math.abs(above))} ${above > 0 ? "above" : "below"} the median of ${kernel.alike} launches`;
}

/** @param {Launch} kernel */
function unusualHtml(kernel) {
  return `<span class="unusual" title="${escape(unusualText(kernel))}">${(kernel.above_median ?? 0) > 0 ? "▲" : "▼"}</span>`;
}

/** The change since the baseline, unless it is next to nothing. @param {unknown} value @param {unknown} before */
function changeHtml(value, before) {
  if (typeof value !== "number" || typeof before !== "number" || !before)
    return "";
  const change = ((value - before) / Math.abs(before)) * 100;
  return Math.abs(change) < 0.005 ? "" : `<span class="change" title="baseline: ${escape(String(before))}">${changeText(change)}</span>`;
}

/** What stands beside a value: with warm caches, the change since the baseline. @param {Launch} kernel @param {Column} column */
function besideHtml(kernel, column) {
  const warm = kernel.warm?.[column.key];
  const heat = typeof warm === "number" && column.other ?
    `<span class="warm" title="with warm caches" data-warm="${warm}">${escape(column.other(warm))}</span>` : "";
  const unusual = column.key === "duration" && isUnusual(kernel) ? unusualHtml(kernel) : "";
  return `${unusual}${heat}${changeHtml(column.value(kernel), kernel.before?.[column.key])}`;
}

/** What a cell says where the pointer rests. @param {Launch} kernel @param {string} key @returns {string | undefined} */
function titleOf(kernel, key) {
  if (key === "verdict" && kernel.error)
    return kernel.error;
  return key === "name" || key === "function" ? kernel.name.slice(0, 2000) : undefined;
}

/** @param {Launch} kernel @param {Column} column */
function cellHtml(kernel, column) {
  const { key, share } = column;
  const value = column.value(kernel);
  const cell = attributesHtml({
    class: `${TEXTS.includes(key) ? `text-${key}` : "number"}${share ? " share-cell" : ""}`,
    "data-column": key, "data-value": String(value ?? ""), title: titleOf(kernel, key),
    style: share && typeof value === "number" ? `--share:${Math.min(100, value).toFixed(2)}%` : undefined,
  });
  return `<td ${cell}>${escape(column.text(kernel))}${besideHtml(kernel, column)}</td>`;
}

/**
 * A heading that sorts.
 * @param {string} title @param {string} about @param {number} number from 1 on @param {number} sort @param {boolean} isText
 * @param {string} name of what is sorted
 */
export function headHtml(title, about, number, sort, isText, name) {
  const isChosen = Math.abs(sort) === number;
  const sorted = !isChosen ? "none" : sort < 0 ? "descending" : "ascending";
  const arrow = { none: "", descending: " ▾", ascending: " ▴" }[sorted];
  const button = `<button data-${name}="${number}" title="${escape(about)}">${escape(title)}${arrow}</button>`;
  return `<th class="${isText ? "" : "number"}" aria-sort="${sorted}">${button}</th>`;
}

/** Some of many. Programs repeat themselves: not in steps of the same length. @param {Launch[]} kernels */
function sampleOf(kernels) {
  if (kernels.length <= MEASURED_LINES)
    return kernels;
  const step = kernels.length / MEASURED_LINES;
  return Array.from({ length: MEASURED_LINES }, (_, i) => kernels[Math.floor((i + ((i * 7) % 11) / 11) * step)]);
}

/** The longest of each column, in a line that is not seen. @param {Launch[]} kernels */
function widestHtml(kernels) {
  const looked = sampleOf(kernels);
  const cells = COLUMNS.map((column) => {
    const all = looked.map((kernel) => cellHtml(kernel, column));
    const lengths = all.map((html) => html.replace(/<[^>]*>/g, "").length);
    return all[lengths.indexOf(Math.max(...lengths))] || "<td></td>";
  });
  return `<tfoot aria-hidden="true"><tr>${cells.join("")}</tr></tfoot>`;
}

/** @param {Launch[]} kernels @param {number} sort */
function tableHtml(kernels, sort) {
  const isText = (/** @type {Column} */ column) => TEXTS.includes(column.key);
  const head = COLUMNS.map((column, i) => headHtml(column.title, column.about, i + 1, sort, isText(column), "sort")).join("");
  const named = attributesHtml({ class: "summary-table", role: "grid", "aria-label": "Kernels", "aria-rowcount": kernels.length + 1 });
  const table = `<table ${named}><thead><tr>${head}</tr></thead><tbody></tbody>${widestHtml(kernels)}</table>`;
  return `<div class="summary-size" style="height:${(kernels.length + 1) * LINE_HEIGHT + 4}px">${table}</div>`;
}

/** @param {Launch} kernel @param {number} at its line @param {boolean} isChosen */
function lineHtml(kernel, at, isChosen) {
  const named = attributesHtml({
    "data-place": kernel.place, "aria-rowindex": at + 2, "aria-selected": String(isChosen), class: isChosen ? "chosen" : "",
  });
  return `<tr ${named}>${COLUMNS.map((column) => cellHtml(kernel, column)).join("")}</tr>`;
}

export class SummaryList {
  /** @param {HTMLElement} place that scrolls */
  constructor(place) {
    this.place = place;
    /** @type {Launch[]} arranged */
    this.kernels = [];
    this.chosen = -1;
    /** @type {[number, number]} lines that are there */
    this.there = [0, 0];
    place.addEventListener("scroll", () => this.showLines(false));
    new ResizeObserver(() => this.showLines(false)).observe(place);
  }

  /** @param {Launch[]} kernels arranged @param {number} chosen place @param {number} sort */
  show(kernels, chosen, sort) {
    this.kernels = kernels;
    this.chosen = chosen;
    const scroll = this.place.scrollTop;
    this.place.innerHTML = tableHtml(kernels, sort);
    this.fixWidths();
    this.place.scrollTop = scroll;
    this.showChosen();
    this.showLines(true);
  }

  /** Columns stay as wide as they are whichever lines are there; the name has the rest. */
  fixWidths() {
    const table = /** @type {HTMLElement} */ (this.place.querySelector(".summary-size .summary-table"));
    const heads = /** @type {HTMLElement[]} */ ([...table.querySelectorAll("thead th")]);
    const widths = heads.map((head) => head.getBoundingClientRect().width);
    heads.forEach((head, i) => { head.style.width = COLUMNS[i].key === "name" ? "" : `${widths[i]}px`; });
    table.style.tableLayout = "fixed";
    table.style.minWidth = `${widths.reduce((a, b) => a + b, 0) - widths[NAME] + Math.min(widths[NAME], 100)}px`;
    table.querySelector("tfoot")?.remove();
  }

  /** Scrolls until the chosen one is seen. */
  showChosen() {
    const at = this.kernels.findIndex((kernel) => kernel.place === this.chosen);
    const [top, bottom] = [at * LINE_HEIGHT, (at + 2) * LINE_HEIGHT + 4];
    if (at < 0)
      return;
    if (top < this.place.scrollTop)
      this.place.scrollTop = top;
    else if (bottom > this.place.scrollTop + this.place.clientHeight)
      this.place.scrollTop = bottom - this.place.clientHeight;
  }

  /** Whether what is there goes on far enough around what is seen. @param {number} first @param {number} last */
  isEnough(first, last) {
    const [from, to] = this.there;
    return Math.abs(first - from) < SPARE_LINES / 2 && Math.abs(last - to) < SPARE_LINES / 2 && (first > 0 || from === 0);
  }

  /** @param {boolean} isNew what was there is no longer right */
  showLines(isNew) {
    const table = /** @type {HTMLElement | null} */ (this.place.querySelector(".summary-size .summary-table"));
    const body = table?.querySelector("tbody");
    const seen = Math.floor(this.place.scrollTop / LINE_HEIGHT);
    const first = Math.max(0, Math.min(this.kernels.length, seen - SPARE_LINES));
    const last = Math.min(this.kernels.length, seen + Math.ceil(this.place.clientHeight / LINE_HEIGHT) + SPARE_LINES);
    if (!table || !body || (!isNew && this.isEnough(first, last)))
      return;
    this.there = [first, last];
    table.style.top = `${first * LINE_HEIGHT}px`;
    const seenLines = this.kernels.slice(first, last);
    body.innerHTML = seenLines.map((kernel, i) => lineHtml(kernel, first + i, kernel.place === this.chosen)).join("");
  }
}

/** A value in its base unit. @param {Launch} kernel @param {Column} column */
function rawValue(kernel, column) {
  const { key } = column;
  return (key === "grid" || key === "block") && isKernel(kernel) ? kernel[key].join("x") : column.value(kernel);
}

/** For spreadsheets: values in base units. @param {Launch[]} kernels arranged */
export function summaryTsv(kernels) {
  return tsv(COLUMNS.map((column) => column.title), kernels.map((kernel) => COLUMNS.map((column) => rawValue(kernel, column))));
}

/**
 * Of two files of one name the folders say which is which.
 * @param {Array<{ name: string, path: string }>} reports @param {number} number
 */
export function reportName(reports, number) {
  const { name, path } = reports[number];
  return reports.some((other, i) => i !== number && other.name === name) ? path : name;
}

/** @param {string} name @param {number | null} value */
function frequencyText(name, value) {
  return value ? `${name} ${short(value)}Hz`.replace(/ (\S)Hz$/, " $1Hz") : "";
}

/** @param {import("./types.js").Gpu} gpu */
export function gpuText(gpu) {
  const named = `GPU ${gpu.device >= 0 ? gpu.device : ""}${gpu.name ? `: ${gpu.name}` : ""}`.trim();
  const frequencies = [frequencyText("SM", gpu.sm_frequency), frequencyText("DRAM", gpu.dram_frequency)];
  return [named, gpu.cc && `cc ${gpu.cc}`, gpu.sms && `${gpu.sms} SMs`, ...frequencies].filter(Boolean).join(", ");
}

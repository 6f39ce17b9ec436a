// The kernels of a report, one line each: sorted by a click on a heading, filtered by a text, chosen by a click or the keyboard.
import { duration } from "../format.js";
import { tsv } from "../panels/panel.js";
import { changeText, escape, percent, short } from "./parts.js";

/** @typedef {import("./types.js").Launch} Launch */
/** @typedef {{ title: string, key: string, about: string, text: (kernel: Launch) => string, value: (kernel: Launch) => number | string | null, share?: boolean }} Column */

const MOST_LINES = 2000;
const COUNT = new Intl.NumberFormat("en-US", { maximumFractionDigits: 0 });

/** @param {number | null} value @param {(value: number) => string} text */
const or = (value, text) => (value === null ? "" : text(value));
/** @param {number[]} size */
const triple = (size) => size.join(" × ").replace(/( × 1)+$/, "");

/** @type {Column[]} */
export const COLUMNS = [
  { title: "ID", key: "id", about: "Number of the launch, as sonde kernel counts them", text: (k) => String(k.id), value: (k) => k.id },
  { title: "Est. speed-up", key: "gain", about: "The most that a rule expects to gain of the kernel's time", text: (k) => percent(k.gain), value: (k) => k.gain, share: true },
  { title: "Function", key: "function", about: "The kernel's name without name spaces, templates and parameters", text: (k) => k.function, value: (k) => k.function },
  { title: "Name", key: "name", about: "The kernel's whole name", text: (k) => k.name.slice(0, 300), value: (k) => k.name },
  { title: "Duration", key: "duration", about: "Time the kernel took", text: (k) => or(k.duration, duration), value: (k) => k.duration },
  { title: "Improvement", key: "improvement", about: "Time that the estimated speed-up would save", text: (k) => or(k.improvement, duration), value: (k) => k.improvement },
  { title: "Compute", key: "compute", about: "Compute throughput, of the peak", text: (k) => percent(k.compute), value: (k) => k.compute, share: true },
  { title: "Memory", key: "memory", about: "Memory throughput, of the peak", text: (k) => percent(k.memory), value: (k) => k.memory, share: true },
  { title: "Registers", key: "registers", about: "Registers of a thread", text: (k) => or(k.registers, short), value: (k) => k.registers },
  { title: "Grid", key: "grid", about: "Blocks of the grid", text: (k) => triple(k.grid), value: (k) => k.grid[0] * k.grid[1] * k.grid[2] },
  { title: "Block", key: "block", about: "Threads of a block", text: (k) => triple(k.block), value: (k) => k.block[0] * k.block[1] * k.block[2] },
  { title: "Cycles", key: "cycles", about: "Cycles that the GPU took", text: (k) => or(k.cycles, (v) => COUNT.format(v)), value: (k) => k.cycles },
  { title: "Verdict", key: "verdict", about: "What the kernel is limited by", text: (k) => k.verdict || (k.error ? "not counted" : ""), value: (k) => k.verdict },
];

const TEXTS = ["function", "name", "verdict"];

/** @param {Launch[]} kernels @param {number} sort column from 1 on, negative: the largest first @param {string} filter */
export function arranged(kernels, sort, filter) {
  const text = filter.trim().toLowerCase();
  const kept = text ? kernels.filter((kernel) => `${kernel.name} ${kernel.function} ${kernel.verdict} ${kernel.id}`.toLowerCase().includes(text)) : kernels;
  const column = COLUMNS[Math.abs(sort) - 1];
  if (!column)
    return kept;
  const order = (/** @type {Launch} */ a, /** @type {Launch} */ b) => {
    const [x, y] = [column.value(a), column.value(b)];
    if (typeof x === "string" || typeof y === "string")
      return String(x ?? "").localeCompare(String(y ?? ""));
    return Number(x ?? -Infinity) - Number(y ?? -Infinity);
  };
  return [...kept].sort((a, b) => (sort < 0 ? order(b, a) : order(a, b)) || a.place - b.place);
}

/** @param {Launch} kernel @param {Column} column */
function cellHtml(kernel, column) {
  const value = column.value(kernel);
  const before = kernel.before?.[column.key];
  const change = typeof value === "number" && typeof before === "number" && before ? ((value - before) / Math.abs(before)) * 100 : null;
  const shade = column.share && typeof value === "number" ? ` style="--share:${Math.min(100, value).toFixed(2)}%"` : "";
  const old = change === null || Math.abs(change) < 0.005 ? "" : `<span class="change" title="baseline: ${escape(String(before))}">${changeText(change)}</span>`;
  const title = column.key === "verdict" && kernel.error ? ` title="${escape(kernel.error)}"` : column.key === "name" || column.key === "function" ? ` title="${escape(kernel.name.slice(0, 2000))}"` : "";
  return `<td class="${TEXTS.includes(column.key) ? `text-${column.key}` : "number"}${column.share ? " share-cell" : ""}" data-column="${column.key}" data-value="${escape(String(value ?? ""))}"${title}${shade}>${escape(column.text(kernel))}${old}</td>`;
}

/** @param {Launch[]} kernels arranged @param {number} chosen place @param {number} sort */
export function summaryHtml(kernels, chosen, sort) {
  const arrow = (/** @type {number} */ i) => (Math.abs(sort) === i + 1 ? (sort < 0 ? " ▾" : " ▴") : "");
  const head = COLUMNS.map((column, i) => `<th class="${TEXTS.includes(column.key) ? "" : "number"}" aria-sort="${Math.abs(sort) === i + 1 ? (sort < 0 ? "descending" : "ascending") : "none"}"><button data-sort="${i + 1}" title="${escape(column.about)}">${escape(column.title)}${arrow(i)}</button></th>`).join("");
  const lines = kernels.slice(0, MOST_LINES).map((kernel) => `<tr data-place="${kernel.place}" aria-selected="${kernel.place === chosen}" class="${kernel.place === chosen ? "chosen" : ""}">${COLUMNS.map((column) => cellHtml(kernel, column)).join("")}</tr>`).join("");
  const more = kernels.length > MOST_LINES ? `<p class="kernel-note">The first ${MOST_LINES} of ${kernels.length}; a filter finds the others.</p>` : "";
  return `<table class="summary-table" role="grid" aria-label="Kernels"><thead><tr>${head}</tr></thead><tbody>${lines}</tbody></table>${more}`;
}

/** For spreadsheets: values in base units. @param {Launch[]} kernels arranged */
export function summaryTsv(kernels) {
  return tsv(COLUMNS.map((column) => column.title), kernels.map((kernel) => COLUMNS.map((column) => (column.key === "grid" || column.key === "block" ? kernel[column.key].join("x") : column.value(kernel)))));
}

/** @param {import("./types.js").Gpu} gpu */
export function gpuText(gpu) {
  const frequency = (/** @type {string} */ name, /** @type {number | null} */ value) => (value ? `${name} ${short(value)}Hz`.replace(/ (\S)Hz$/, " $1Hz") : "");
  return [`GPU ${gpu.device >= 0 ? gpu.device : ""}${gpu.name ? `: ${gpu.name}` : ""}`.trim(), gpu.cc && `cc ${gpu.cc}`, gpu.sms && `${gpu.sms} SMs`, frequency("SM", gpu.sm_frequency), frequency("DRAM", gpu.dram_frequency)].filter(Boolean).join(", ");
}

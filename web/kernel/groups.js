// Launches summed up by kernel, by NVTX range or by operator: a line each, of which one can see the launches.
import { duration } from "../format.js";
import { tsv } from "../panels/panel.js";
import { amount, attributesHtml, changeText, escape, note, percent, short } from "./parts.js";
import { headHtml, inOrder, triple } from "./summary.js";

/** @typedef {import("./types.js").Group} Group */
/**
 * @typedef {{ title: string, key: string, about: string, value: (group: Group, all: number) => number | string | null,
 *   text: (value: any) => string, isText?: boolean, share?: boolean }} Column
 */

/** What launches are summed up by, and how that is called. @type {Record<string, { title: string, one: string }>} */
export const WAYS = {
  kernel: { title: "Kernels", one: "kernel" },
  nvtx: { title: "NVTX ranges", one: "range" },
  operator: { title: "Operators", one: "operator" },
};

const MOST_LINES = 2000;

/** @type {Column[]} */
const COLUMNS = [
  { title: "Name", key: "name", about: "What launches are grouped by", value: (g) => nameOf(g), text: String, isText: true },
  { title: "Launches", key: "launches", about: "Launches in it; of a range also those in ranges within it",
    value: (g) => g.launches, text: short },
  { title: "Time", key: "time", about: "Sum of the times of its launches", value: (g) => g.time, text: duration },
  { title: "Share", key: "share", about: "Its part of the time of all launches of the report",
    value: (g, all) => (g.time !== null && all > 0 ? (100 * g.time) / all : null), text: percent, share: true },
  { title: "Least", key: "least", about: "Shortest launch", value: (g) => g.least, text: duration },
  { title: "Median", key: "median", about: "Half of the launches took longer", value: (g) => g.median, text: duration },
  { title: "Most", key: "most", about: "Longest launch", value: (g) => g.most, text: duration },
  { title: "Spread", key: "spread", about: "Standard deviation of the times, in percent of their mean",
    value: (g) => g.spread, text: percent },
  { title: "Improvement", key: "improvement", about: "Time that the estimated speed-ups would save",
    value: (g) => g.improvement, text: duration },
  { title: "Compute", key: "compute", about: "Compute throughput, of the peak: the mean by time",
    value: (g) => g.compute, text: percent, share: true },
  { title: "Memory", key: "memory", about: "Memory throughput, of the peak: the mean by time",
    value: (g) => g.memory, text: percent, share: true },
  { title: "Instructions", key: "instructions", about: "Instructions executed, all launches together",
    value: (g) => g.instructions, text: short },
  { title: "DRAM read", key: "dram_read", about: "Bytes read from device memory, all launches together",
    value: (g) => g.dram_read, text: (value) => amount(value, "B") },
  { title: "DRAM written", key: "dram_write", about: "Bytes written to device memory, all launches together",
    value: (g) => g.dram_write, text: (value) => amount(value, "B") },
];

/** From 1 on. */
export const TIME_COLUMN = COLUMNS.findIndex((column) => column.key === "time") + 1;

/** @param {Group} group */
export function nameOf(group) {
  return group.grid && group.block ? `${group.name.slice(0, 300)} (${triple(group.grid)}) × (${triple(group.block)})` : group.name;
}

/** By which it is found again. @param {Group} group */
export function keyOf(group) {
  return group.grid && group.block ? `${group.name}|${group.grid}|${group.block}|${group.device}` : group.name;
}

/**
 * @param {Group[]} groups @param {number} all time of all launches @param {number} order column from 1 on, negative: the largest first
 * @param {string} filter
 */
function arranged(groups, all, order, filter) {
  const text = filter.trim().toLowerCase();
  const kept = text ? groups.filter((group) => group.name.toLowerCase().includes(text)) : groups;
  const column = COLUMNS[Math.abs(order) - 1];
  if (!column)
    return kept;
  const compare = (/** @type {Group} */ a, /** @type {Group} */ b) => inOrder(column.value(a, all), column.value(b, all));
  return [...kept].sort((a, b) => (order < 0 ? compare(b, a) : compare(a, b)));
}

/** Where a heading's click leads. @param {number} before @param {number} column */
export function nextOrder(before, column) {
  return Math.abs(before) === column ? -before : COLUMNS[column - 1]?.isText ? column : -column;
}

/** Columns that say something of these. @param {Group[]} groups @param {number} all */
const columnsOf = (groups, all) => COLUMNS.filter((column) => column.isText || groups.some((group) => column.value(group, all) !== null));
/** The change since the baseline. @param {number} time @param {number} before */
function changeHtml(time, before) {
  const named = attributesHtml({ class: "change", title: `baseline: ${duration(before)}`, "data-before": before });
  return `<span ${named}>${changeText((100 * (time - before)) / before)}</span>`;
}

/** @param {Group} group @param {Column} column @param {number} all */
function cellHtml(group, column, all) {
  const { key, isText, share } = column;
  const value = column.value(group, all);
  const text = escape(value === null ? "" : column.text(value));
  const old = key === "time" && group.time !== null && group.time_before ? changeHtml(group.time, group.time_before) : "";
  const cell = attributesHtml({
    class: `${isText ? "text-group" : "number"}${share ? " share-cell" : ""}`, "data-column": key, "data-value": String(value ?? ""),
    style: share && typeof value === "number" ? `--share:${Math.min(100, value).toFixed(2)}%` : undefined,
  });
  return `<td ${cell}>${isText ? `<button class="link" title="Show its launches: ${text}">${text}</button>` : text}${old}</td>`;
}

/** @param {Column} column @param {number} order */
function columnHeadHtml({ title, about, key, isText }, order) {
  return headHtml(title, about, COLUMNS.findIndex((column) => column.key === key) + 1, order, Boolean(isText), "order");
}

/**
 * @param {Group[]} groups @param {number} all @param {number} order @param {string} filter
 * @returns {[string, number]} html, and how many there are
 */
export function groupsHtml(groups, all, order, filter) {
  const kept = arranged(groups, all, order, filter);
  const columns = columnsOf(groups, all);
  const head = columns.map((column) => columnHeadHtml(column, order)).join("");
  const lineHtml = (/** @type {Group} */ group) =>
    `<tr data-group="${escape(keyOf(group))}">${columns.map((column) => cellHtml(group, column, all)).join("")}</tr>`;
  const body = kept.slice(0, MOST_LINES).map(lineHtml).join("");
  const more = kept.length > MOST_LINES ? note(`The first ${MOST_LINES} of ${kept.length}; a filter finds the others.`) : "";
  const table = `<table class="summary-table" aria-label="Sums"><thead><tr>${head}</tr></thead><tbody>${body}</tbody></table>`;
  return [table + more, kept.length];
}

/** @param {Group[]} groups @param {number} all @param {number} order @param {string} filter */
export function groupsTsv(groups, all, order, filter) {
  const columns = columnsOf(groups, all);
  const valuesOf = (/** @type {Group} */ group) => columns.map((column) => column.value(group, all));
  return tsv(columns.map((column) => column.title), arranged(groups, all, order, filter).map(valuesOf));
}

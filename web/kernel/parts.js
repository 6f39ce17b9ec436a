// Small parts that the cards of a kernel are made of: texts of values, their baseline, bars, facts, tables.
import { attributesHtml, escapeHtml } from "../format.js";

/** @typedef {import("./types.js").Cell} Cell */
/** @typedef {import("./types.js").Block} Block */

export { attributesHtml };
export const escape = escapeHtml;

const PREFIXES = [[1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "K"]];
const DIGITS = new Intl.NumberFormat("en-US", { maximumFractionDigits: 2 });

/** 12,300,000,000 -> "12.3 G". @param {number} value */
export function short(value) {
  if (Number.isInteger(value) && Math.abs(value) < 1e4)
    return DIGITS.format(value);
  const [size, prefix] = PREFIXES.find(([least]) => Math.abs(value) >= Number(least)) || [1, ""];
  const scaled = value / Number(size);
  const text = new Intl.NumberFormat("en-US", { maximumSignificantDigits: 4 }).format(scaled);
  return prefix ? `${text} ${prefix}` : Math.abs(value) < 1000 ? DIGITS.format(value) : text;
}

const MOST_PERCENT = 1000;
const RATIO = new Intl.NumberFormat("en-US", { maximumSignificantDigits: 4 });

/** @param {number} value @param {string} unit */
export function amount(value, unit) {
  const text = short(value);
  return /[TGMK]$/.test(text) ? text + unit : unit ? `${text} ${unit}` : text;
}

/** A share in percent, two digits; what is more than nothing is not called nothing. @param {number | null | undefined} value */
export function percent(value) {
  if (value === null || value === undefined)
    return "";
  return value > 0 && value < 0.005 ? "< 0.01 %" : `${DIGITS.format(value)} %`;
}

/** What is more than eleven times as much is told in times. @param {number} change percent */
export function changeText(change) {
  if (change >= MOST_PERCENT)
    return `${RATIO.format(1 + change / 100)} x`;
  const size = Math.round(Math.abs(change) * 100) / 100;
  return `${size === 0 ? "±" : change > 0 ? "+" : "−"}${DIGITS.format(size)} %`;
}

/** @param {number | string | null | undefined} value @returns {number} */
export function numberOf(value) {
  return typeof value === "number" ? value : typeof value === "string" && /^-?\d+$/.test(value) ? Number(value) : NaN;
}

/** @param {string} unit */
export function unitText(unit) {
  return unit.replace("register/thread", "reg/thread").replace(/hz$/, "Hz");
}

/** Attributes by which a value is found, explained and tested. @param {Cell} cell */
export function marks(cell) {
  const before = cell.before === null || cell.before === undefined ? "" : ` data-before="${cell.before}"`;
  const warm = cell.warm === undefined ? "" : ` data-warm="${cell.warm}"`;
  const computed = cell.computed ? ` data-computed="${escape(cell.label)}"` : "";
  return `data-metric="${escape(cell.metric)}" data-value="${escape(String(cell.value ?? ""))}"${computed}${warm}${before}`;
}

/** The value with warm caches. @param {Cell} cell */
export function warmHtml(cell) {
  if (cell.warm === undefined)
    return "";
  const unit = cell.warm_unit && cell.warm_unit !== cell.shown ? ` ${unitText(cell.warm_unit)}` : "";
  return `<span class="warm" title="with warm caches: ${escape(cell.warm_text || "")} ${escape(unitText(cell.warm_unit || ""))}">${escape(cell.warm_text || "")}${escape(unit)}</span>`;
}

/** What the baseline has, and the change. @param {Cell} cell @param {boolean} [isNarrow] the change alone, where there is one */
export function beforeHtml(cell, isNarrow = false) {
  if (cell.before === null || cell.before === undefined)
    return "";
  if (cell.change === 0)
    return `<span class="before same" title="in the baseline: the same">=</span>`;
  const text = `${cell.before_text || ""}${cell.before_unit && cell.before_unit !== cell.shown ? ` ${unitText(cell.before_unit)}` : ""}`;
  const change = cell.change === null || cell.change === undefined ? "" : ` <span class="change">${changeText(cell.change)}</span>`;
  return `<span class="before" title="in the baseline: ${escape(text)} ${escape(unitText(cell.before_unit || ""))}">${isNarrow && change ? "" : escape(text)}${change}</span>`;
}

/** Labels and values, in columns. @param {Cell[]} rows */
export function factsHtml(rows) {
  if (!rows.length)
    return "";
  const lines = rows.map((row) => `<div class="fact" ${marks(row)} data-explain="${escape(row.metric)}"><dt>${escape(row.label)}</dt>` +
    `<dd>${escape(row.text || "–")}<span class="unit">${escape(unitText(row.shown))}</span>${warmHtml(row)}${beforeHtml(row)}</dd></div>`);
  return `<dl class="kernel-facts">${lines.join("")}</dl>`;
}

/** @typedef {{ label: string, title?: string, cell: Cell, explain?: string }} Bar */

/**
 * A bar for each value; in percent of a peak the scale ends there.
 * @param {Bar[]} bars @param {{ most?: number, isPlain?: boolean }} [how] more is not worse: one colour
 */
export function barsHtml(bars, how = {}) {
  const isShare = bars.every((bar) => bar.cell.unit === "%");
  const values = bars.flatMap((bar) => [numberOf(bar.cell.value), numberOf(bar.cell.warm), numberOf(bar.cell.before)]).filter(Number.isFinite);
  const most = how.most ?? (isShare ? Math.max(100, ...values) : Math.max(...values, 1e-12));
  const lines = bars.map((bar) => {
    const value = numberOf(bar.cell.value);
    const before = numberOf(bar.cell.before);
    const width = (/** @type {number} */ v) => `${Math.max(0, Math.min(100, (100 * v) / most)).toFixed(3)}%`;
    const old = Number.isFinite(before) ? `<span class="old" style="width:${width(before)}"></span>` : "";
    const warm = bar.cell.warm === undefined ? "" : `<span class="warm" style="width:${width(bar.cell.warm)}"></span>`;
    const strength = !isShare || how.isPlain ? "" : value >= 80 ? " high" : value >= 60 ? " middle" : "";
    return `<div class="bar-line" ${marks(bar.cell)} data-explain="${escape(bar.explain || bar.cell.metric)}"><span class="bar-label"${bar.title ? ` title="${escape(bar.title)}"` : ""}>${escape(bar.label)}</span>` +
      `<span class="bar-track"><span class="fill${strength}" style="width:${Number.isFinite(value) ? width(value) : 0}"></span>${warm}${old}</span>` +
      `<span class="bar-value">${escape(bar.cell.text || "–")}<span class="unit">${escape(unitText(bar.cell.shown))}</span>${warmHtml(bar.cell)}${beforeHtml(bar.cell)}</span></div>`;
  });
  return `<div class="bars">${lines.join("")}</div>`;
}

/** @param {Block} block */
export function tableHtml(block) {
  const columns = block.columns || [];
  /** @type {import("./types.js").Line[]} */
  const lines = block.rows;
  const head = columns.map((column) => `<th class="number">${escape(column.title)}${column.unit && !tells(column.title, column.unit) ? `<span class="unit">${escape(column.unit)}</span>` : ""}</th>`).join("");
  const isNothing = (/** @type {import("./types.js").Line} */ line) => line.cells.every((cell) => !cell || !numberOf(cell.value) && typeof cell.value !== "string" && !cell.warm && !numberOf(cell.before));
  const nothing = lines.filter(isNothing).length;
  const more = nothing ? `<button class="link zeros" data-zeros aria-expanded="false">${nothing} ${nothing === 1 ? "row" : "rows"} of zeros</button>` : "";
  const body = lines.map((line) => `<tr class="${isNothing(line) ? "nothing" : ""}"><th scope="row">${escape(line.label)}</th>${line.cells.map((cell, i) => cellHtml(cell, columns[i] || { title: "", unit: "" })).join("")}</tr>`).join("");
  return `<div class="wide"><table class="kernel-table"><thead><tr><th></th>${head}</tr></thead><tbody>${body}</tbody></table>${more}</div>`;
}

/** Whether a column's title says what it counts: "Sectors", "Hit Rate". @param {string} title @param {string} unit */
const tells = (title, unit) => unit === "%" || title.toLowerCase().includes(unit);

/** @param {Cell | null} cell @param {{ title: string, unit: string }} column */
function cellHtml(cell, { title, unit }) {
  if (!cell)
    return `<td class="number"></td>`;
  const isShare = unit === "%";
  const value = numberOf(cell.value);
  const hasUnit = cell.shown && cell.shown !== unit && value !== 0 && !tells(title, cell.shown);
  const shade = isShare && value > 0 ? ` style="--share:${Math.min(100, value).toFixed(2)}%"` : "";
  return `<td class="number${isShare ? " share-cell" : ""}${value === 0 ? " zero" : ""}" ${marks(cell)} data-explain="${escape(cell.metric)}"${shade}>${escape(cell.text)}${hasUnit ? `<span class="unit">${escape(unitText(cell.shown))}</span>` : ""}${warmHtml(cell)}${beforeHtml(cell, true)}</td>`;
}

/** @param {string} text */
export function note(text) {
  return `<p class="kernel-note">${escape(text)}</p>`;
}

/** What would have recorded it. @param {string} what @param {string[]} sections */
export function absent(what, sections) {
  return `<p class="kernel-note">${escape(what)} Record with ${sections.map((id) => `<code>--section ${escape(id)}</code>`).join(" ")} or <code>--set full</code>.</p>`;
}

/** Where a value comes from, for those who want to know how far to trust it. @param {string} metric */
export function originOf(metric) {
  if (/^(launch__|device__|nvlink__|numa__|c2clink__|profiler__)|__maximum_warps/.test(metric))
    return "known from the launch and the machine";
  if (/pcsamp|^pmsampling:/.test(metric))
    return "sampled";
  if (metric.startsWith("derived__"))
    return "computed from counters";
  return /^[a-z0-9]+__|^(inst|thread_inst|memory)_/.test(metric) ? "counted by the hardware" : "";
}

/** Blocks of a kind. @param {{ blocks: Block[] } | undefined} section @param {string} kind @returns {Block[]} */
export function blocksOf(section, kind) {
  return section ? section.blocks.filter((block) => block.kind === kind && block.rows.length) : [];
}

/** Plain rows of a section. @param {{ blocks: Block[] } | undefined} section @returns {Cell[]} */
export function rowsOf(section) {
  return blocksOf(section, "rows").flatMap((block) => block.rows);
}

/** @param {Cell[]} rows @param {string} metric */
export function find(rows, metric) {
  return rows.find((row) => row.metric === metric);
}

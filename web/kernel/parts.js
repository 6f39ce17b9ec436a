// Small parts that the cards of a kernel are made of: texts of values, their baseline, bars, facts, tables.
import { attributesHtml, escapeHtml } from "../format.js";

/** @typedef {import("./types.js").Cell} Cell */
/** @typedef {import("./types.js").Block} Block */
/** @typedef {import("./types.js").Line} Line */

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
  const text = cell.warm_text || "";
  const whole = `${text} ${unitText(cell.warm_unit || "")}`;
  const unit = cell.warm_unit && cell.warm_unit !== cell.shown ? ` ${unitText(cell.warm_unit)}` : "";
  return `<span class="warm" title="with warm caches: ${escape(whole)}">${escape(text)}${escape(unit)}</span>`;
}

/** What the baseline has, and the change. @param {Cell} cell @param {boolean} [isNarrow] the change alone, where there is one */
export function beforeHtml(cell, isNarrow = false) {
  if (cell.before === null || cell.before === undefined)
    return "";
  if (cell.change === 0)
    return `<span class="before same" title="in the baseline: the same">=</span>`;
  const text = `${cell.before_text || ""}${cell.before_unit && cell.before_unit !== cell.shown ? ` ${unitText(cell.before_unit)}` : ""}`;
  const change = cell.change === null || cell.change === undefined ? "" : ` <span class="change">${changeText(cell.change)}</span>`;
  const whole = `${text} ${unitText(cell.before_unit || "")}`;
  return `<span class="before" title="in the baseline: ${escape(whole)}">${isNarrow && change ? "" : escape(text)}${change}</span>`;
}

/** @param {string} text */
export const unitHtml = (text) => `<span class="unit">${escape(text)}</span>`;

/** A value with its unit, with warm caches and in the baseline. @param {Cell} cell */
const valueHtml = (cell) => `${escape(cell.text || "–")}${unitHtml(unitText(cell.shown))}${warmHtml(cell)}${beforeHtml(cell)}`;

/** @param {Cell} row */
function factHtml(row) {
  const label = `<dt>${escape(row.label)}</dt>`;
  return `<div class="fact" ${marks(row)} data-explain="${escape(row.metric)}">${label}<dd>${valueHtml(row)}</dd></div>`;
}

/** Labels and values, in columns. @param {Cell[]} rows */
export function factsHtml(rows) {
  return rows.length ? `<dl class="kernel-facts">${rows.map(factHtml).join("")}</dl>` : "";
}

/** @typedef {{ label: string, title?: string, cell: Cell, explain?: string }} Bar */
/** How near its peak a share is, as a class. @param {number} value */
const strengthOf = (value) => (value >= 80 ? " high" : value >= 60 ? " middle" : "");

/**
 * The bar itself, and beside it those with warm caches and of the baseline.
 * @param {Cell} cell @param {number} most @param {boolean} isPlain
 */
function trackHtml(cell, most, isPlain) {
  const value = numberOf(cell.value);
  const before = numberOf(cell.before);
  const width = (/** @type {number} */ v) => `${Math.max(0, Math.min(100, (100 * v) / most)).toFixed(3)}%`;
  const old = Number.isFinite(before) ? `<span class="old" style="width:${width(before)}"></span>` : "";
  const warm = cell.warm === undefined ? "" : `<span class="warm" style="width:${width(cell.warm)}"></span>`;
  const length = Number.isFinite(value) ? width(value) : 0;
  const fill = `<span class="fill${isPlain ? "" : strengthOf(value)}" style="width:${length}"></span>`;
  return `<span class="bar-track">${fill}${warm}${old}</span>`;
}

/** @param {Bar} bar @param {number} most @param {boolean} isPlain */
function barHtml({ label, title, cell, explain }, most, isPlain) {
  const named = attributesHtml({ class: "bar-label", title: title || undefined });
  return `<div class="bar-line" ${marks(cell)} data-explain="${escape(explain || cell.metric)}"><span ${named}>${escape(label)}</span>` +
    `${trackHtml(cell, most, isPlain)}<span class="bar-value">${valueHtml(cell)}</span></div>`;
}

/**
 * A bar for each value; in percent of a peak the scale ends there.
 * @param {Bar[]} bars @param {{ most?: number, isPlain?: boolean }} [how] more is not worse: one colour
 */
export function barsHtml(bars, how = {}) {
  const isShare = bars.every((bar) => bar.cell.unit === "%");
  const ofCell = (/** @type {Cell} */ { value, warm, before }) => [numberOf(value), numberOf(warm), numberOf(before)];
  const values = bars.flatMap((bar) => ofCell(bar.cell)).filter(Number.isFinite);
  const most = how.most ?? (isShare ? Math.max(100, ...values) : Math.max(...values, 1e-12));
  return `<div class="bars">${bars.map((bar) => barHtml(bar, most, !isShare || Boolean(how.isPlain))).join("")}</div>`;
}

/** A row of a table whose values are all 0 or not there. @param {Line} line */
function isNothing(line) {
  const isZero = (/** @type {Cell} */ { value, warm, before }) =>
    !numberOf(value) && typeof value !== "string" && !warm && !numberOf(before);
  return line.cells.every((cell) => !cell || isZero(cell));
}

/** @param {{ title: string, unit: string }} column */
function headHtml({ title, unit }) {
  return `<th class="number">${escape(title)}${unit && !tells(title, unit) ? unitHtml(unit) : ""}</th>`;
}

/** @param {Line} line @param {Array<{ title: string, unit: string }>} columns */
function lineHtml(line, columns) {
  const cells = line.cells.map((cell, i) => cellHtml(cell, columns[i] || { title: "", unit: "" })).join("");
  return `<tr class="${isNothing(line) ? "nothing" : ""}"><th scope="row">${escape(line.label)}</th>${cells}</tr>`;
}

/** A button that shows rows of zeros. @param {number} count */
function zerosHtml(count) {
  return `<button class="link zeros" data-zeros aria-expanded="false">${count} ${count === 1 ? "row" : "rows"} of zeros</button>`;
}

/** @param {Block} block */
export function tableHtml(block) {
  const columns = block.columns || [];
  const lines = /** @type {Line[]} */ (block.rows);
  const nothing = lines.filter(isNothing).length;
  const head = `<thead><tr><th></th>${columns.map(headHtml).join("")}</tr></thead>`;
  const body = `<tbody>${lines.map((line) => lineHtml(line, columns)).join("")}</tbody>`;
  return `<div class="wide"><table class="kernel-table">${head}${body}</table>${nothing ? zerosHtml(nothing) : ""}</div>`;
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
  const kind = `number${isShare ? " share-cell" : ""}${value === 0 ? " zero" : ""}`;
  const said = `${escape(cell.text)}${hasUnit ? unitHtml(unitText(cell.shown)) : ""}${warmHtml(cell)}${beforeHtml(cell, true)}`;
  return `<td class="${kind}" ${marks(cell)} data-explain="${escape(cell.metric)}"${shade}>${said}</td>`;
}

/**
 * A text in a chart; without a kind as its group is.
 * @param {string} kind @param {number | string} x @param {number | string} y @param {string} anchor @param {string} html
 */
export function chartText(kind, x, y, anchor, html) {
  return `<text ${attributesHtml({ class: kind || undefined, x, y, "text-anchor": anchor })}>${html}</text>`;
}

/** A line in a chart, from one x to another and from one y to another. @param {string} kind @param {Array<number | string>} ends */
export function chartLine(kind, [x1, x2, y1, y2]) {
  return `<line class="${kind}" x1="${x1}" x2="${x2}" y1="${y1}" y2="${y2}"/>`;
}

/** What there is beside the most important, folded away. @param {number} count @param {() => string} html */
export function moreHtml(count, html) {
  return count ? `<details><summary>${count} more</summary>${html()}</details>` : "";
}

/** Above lines of metrics: a filter, how many there are, and a button that copies them. @param {string} page @param {string} filter */
export function filteredHtml(page, filter) {
  const input = attributesHtml({
    id: `${page}-filter`, type: "search", placeholder: "filter metrics: words of their names",
    "aria-label": "Show only metrics with these words", spellcheck: "false", value: filter,
  });
  return `<div class="bar"><input ${input}><span id="${page}-count" class="faint" role="status"></span><span class="spring"></span>` +
    `<button id="${page}-copy" class="copy">Copy as TSV</button></div><div id="${page}-lines"></div>`;
}

/** @param {string | number} value @param {string} text @param {boolean} isChosen */
export function optionHtml(value, text, isChosen) {
  return `<option value="${value}"${isChosen ? " selected" : ""}>${escape(text)}</option>`;
}

/** A choice of what a card shows. @param {string} label @param {string} choice @param {string} about @param {string} options */
export function choiceHtml(label, choice, about, options) {
  return `<label class="choice">${label} <select data-choice="${choice}" aria-label="${about}">${options}</select></label>`;
}

/** @param {string} text */
export function note(text) {
  return `<p class="kernel-note">${escape(text)}</p>`;
}

/** What would have recorded it. @param {string} what @param {string[]} sections */
export function absent(what, sections) {
  const options = sections.map((id) => `<code>--section ${escape(id)}</code>`).join(" ");
  return `<p class="kernel-note">${escape(what)} Record with ${options} or <code>--set full</code>.</p>`;
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

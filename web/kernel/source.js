// Instructions and source lines with what was counted and sampled of each: as many as there are, only those in sight are in the page.
import { json } from "../api.js";
import { absent, attributesHtml, changeText, escape, optionHtml, percent, short } from "./parts.js";
import { instructionRows, ptxRows, sourceRows } from "./source_rows.js";

/** @typedef {import("./types.js").Kernel} Kernel */
/** @typedef {import("./source_rows.js").Column} Column */
/** @typedef {import("./source_rows.js").Source} Source */
/** @typedef {import("./source_rows.js").Row} Row */

const ROW_HEIGHT = 20;
const MORE = 12;
/** May be cut off at the end of its column. */
const LONG_TEXT = 70;
const SAMPLES = /pcsamp_sample_count/;
const STALL = /pcsamp_warps_issue_stalled_(?!.*_not_issued)/;

/** @type {Record<string, [string, string]>} what is listed, and the heading of its texts */
const MODES = { sass: ["instructions", "Instruction"], lines: ["lines", "Source"], ptx: ["lines", "PTX"] };

const MODE_NAMES = { sass: "instructions (SASS)", lines: "source lines", ptx: "PTX" };

/** What one can choose. @param {string} label @param {string} id @param {string} about @param {string} options */
function selectHtml(label, id, about, options) {
  return `<label class="choice">${label} <select id="${id}" aria-label="${about}">${options}</select></label>`;
}

/** What one can have or not. @param {string} label @param {string} id @param {boolean} isChecked */
function checkHtml(label, id, isChecked) {
  return `<label class="choice"><input type="checkbox" id="${id}"${isChecked ? " checked" : ""}> ${label}</label>`;
}

export class SourcePage {
  /** @param {HTMLElement} place */
  constructor(place) {
    this.place = place;
    /** @type {Source | null} */
    this.source = null;
    this.mode = "sass";
    this.outermost = false;
    this.calls = true;
    this.heat = 0;
    this.byHeat = false;
    /** @type {Row[]} */
    this.rows = [];
    this.hottest = -1;
    place.addEventListener("change", (event) => this.choose(/** @type {HTMLSelectElement} */ (event.target)));
    place.addEventListener("click", (event) => this.click(/** @type {HTMLElement} */ (event.target)));
  }

  /** @param {Kernel} kernel @param {Record<string, number | undefined>} where */
  async show(kernel, where) {
    const source = await json("/api/source", where);
    this.source = source;
    this.kernel = kernel;
    if (!source.lines.length) {
      this.place.innerHTML = absent("Instructions and source lines are not in this report.", ["SourceCounters"]);
      return;
    }
    const samples = source.columns.findIndex((/** @type {Column} */ column) => SAMPLES.test(column.metric));
    if (!(this.heat < source.columns.length) || this.heat === 0)
      this.heat = Math.max(0, samples);
    this.lay();
  }

  /** Columns that can be the heat, by their group. */
  heatOptions() {
    const { columns } = /** @type {Source} */ (this.source);
    const optionsOf = (/** @type {string} */ group) =>
      columns.map((column, i) => (column.group === group ? optionHtml(i, column.label, i === this.heat) : "")).join("");
    const groups = [...new Set(columns.map((column) => column.group))];
    return groups.map((group) => `<optgroup label="${escape(group)}">${optionsOf(group)}</optgroup>`).join("");
  }

  /** Where there is inlined code: by which lines it is told. */
  inliningHtml() {
    const options = optionHtml("", "where it was written", false) + optionHtml("outermost", "where the kernel calls it", this.outermost);
    const lines = selectHtml("inlined", "source-inlined", "Lines of what was inlined", options);
    return `<span id="source-inlining">${lines}${checkHtml("calls", "source-calls", this.calls)}</span>`;
  }

  barHtml() {
    const { lines, ptx } = /** @type {Source} */ (this.source);
    const named = Object.entries(MODE_NAMES).filter(([mode]) => mode !== "ptx" || ptx.length);
    const modes = named.map(([mode, name]) => optionHtml(mode, name, mode === this.mode)).join("");
    const lineless = `<span class="faint">Without lines: the program lacks -lineinfo.</span>`;
    return selectHtml("show", "source-mode", "Instructions, source lines or PTX", modes) +
      (lines.some((line) => line.inlined) ? this.inliningHtml() : "") +
      selectHtml("heat", "source-heat", "Column of the heat", this.heatOptions()) +
      checkHtml("the most first", "source-sort", this.byHeat) +
      `<button id="source-hottest">Hottest line</button><button id="source-next">Next</button>` +
      `<span class="faint" id="source-count"></span>${lines.some((line) => line.file) ? "" : lineless}`;
  }

  /** The whole page; afterwards only rows change. */
  lay() {
    const source = /** @type {Source} */ (this.source);
    if (this.mode === "ptx" && !source.ptx.length)
      this.mode = "sass";
    const table = `<div class="source-head"></div><div class="source-size"></div><div class="source-rows"></div>`;
    this.place.innerHTML = `<div class="bar">${this.barHtml()}</div>` +
      `<div class="source-table${source.before ? " compared" : ""}" id="source-scroll" tabindex="0">${table}</div>`;
    this.arrange();
    this.scroll().addEventListener("scroll", () => this.draw());
  }

  scroll() {
    return /** @type {HTMLElement} */ (this.place.querySelector("#source-scroll"));
  }

  /** All rows of what is listed. @returns {Row[]} */
  listed() {
    const source = /** @type {Source} */ (this.source);
    if (this.mode === "lines")
      return sourceRows(source, { outermost: this.outermost, calls: this.calls && !this.byHeat });
    if (this.mode === "ptx")
      return ptxRows(source);
    return instructionRows(source, (name) => (name && name === this.kernel?.mangled ? this.kernel.name : name));
  }

  /** Whether a column has a place beside the rows. @param {Column} column @param {number} i */
  isShown(column, i) {
    const { lines } = /** @type {Source} */ (this.source);
    const isOfMode = this.mode === "sass" || column.metric !== "";
    const isWanted = i === this.heat || !/^stall_|Sampling/.test(column.label + column.group);
    return isOfMode && isWanted && lines.some((line) => line.values[i]);
  }

  /** Rows, and which columns they have, the heat first. */
  arrangeRows() {
    const source = /** @type {Source} */ (this.source);
    const rows = this.listed();
    const heat = (/** @type {Row} */ row) => row.values[this.heat] ?? -1;
    this.rows = this.byHeat ? rows.filter((row) => !row.isHead && heat(row) > 0).sort((a, b) => heat(b) - heat(a)) : rows;
    this.most = this.rows.reduce((most, row) => Math.max(most, row.values[this.heat] ?? 0), 0);
    this.total = this.rows.reduce((sum, row) => sum + (row.isCall ? 0 : row.values[this.heat] ?? 0), 0);
    this.shown = source.columns.map((column, i) => ({ column, i })).filter(({ column, i }) => this.isShown(column, i));
    this.shown.sort((a, b) => Number(b.i === this.heat) - Number(a.i === this.heat));
    this.hottest = -1;
  }

  /** @param {{ column: Column, i: number }} shown */
  headingHtml({ column, i }) {
    const named = attributesHtml({
      class: "link", "data-heat": i, title: `${column.group}: ${column.label}`, "data-explain": column.metric,
    });
    return `<span class="source-cell"><button ${named}>${escape(column.label)}</button></span>`;
  }

  headHtml() {
    const headings = (this.shown || []).map((one) => this.headingHtml(one)).join("");
    return `<span class="source-mark"></span><span class="source-text">${MODES[this.mode][1]}</span>${headings}`;
  }

  arrange() {
    this.arrangeRows();
    const count = this.place.querySelector("#source-count");
    if (count)
      count.textContent = `${this.rows.filter((row) => !row.isHead && !row.isCall).length} ${MODES[this.mode][0]}`;
    const inlining = /** @type {HTMLElement | null} */ (this.place.querySelector("#source-inlining"));
    if (inlining)
      inlining.hidden = this.mode !== "lines";
    const head = /** @type {HTMLElement} */ (this.place.querySelector(".source-head"));
    head.innerHTML = this.headHtml();
    const size = /** @type {HTMLElement} */ (this.place.querySelector(".source-size"));
    size.style.height = `${this.rows.length * ROW_HEIGHT + head.offsetHeight}px`;
    this.draw();
  }

  /** What a line waits for, the most first. @param {Row} row */
  stalls(row) {
    const source = /** @type {Source} */ (this.source);
    const found = source.columns.map((column, i) => ({ label: column.label, value: STALL.test(column.metric) ? row.values[i] ?? 0 : 0 }))
      .filter(({ value }) => value);
    const all = found.reduce((sum, { value }) => sum + value, 0);
    const most = found.sort((a, b) => b.value - a.value).slice(0, 5);
    return most.map(({ label, value }) => `${label} ${percent((100 * value) / all)}`).join(", ");
  }

  draw() {
    const scroll = this.scroll();
    const first = Math.max(0, Math.floor(scroll.scrollTop / ROW_HEIGHT) - MORE);
    const last = Math.min(this.rows.length, Math.ceil((scroll.scrollTop + scroll.clientHeight) / ROW_HEIGHT) + MORE);
    const body = /** @type {HTMLElement} */ (this.place.querySelector(".source-rows"));
    // Headings may be of several lines.
    const head = /** @type {HTMLElement} */ (this.place.querySelector(".source-head"));
    body.style.transform = `translateY(${first * ROW_HEIGHT + head.offsetHeight}px)`;
    body.innerHTML = this.rows.slice(first, last).map((row, i) => this.rowHtml(row, first + i)).join("");
  }

  /** A value, its share where it is the heat's, and how the baseline differs. @param {Row} row @param {number} i column */
  cellHtml(row, i) {
    const now = row.values[i] ?? 0;
    const before = row.before?.[i];
    const share = i === this.heat && now && this.total ? `<span class="unit">${percent((100 * now) / this.total)}</span>` : "";
    const isSame = typeof before !== "number" || before === now;
    const change = isSame ? "" : `<span class="change">${before ? changeText(((now - before) / before) * 100) : "new"}</span>`;
    const named = attributesHtml({
      class: "source-cell", "data-column": i, "data-value": row.values[i] ?? "",
      title: typeof before === "number" ? `in the baseline: ${isSame ? "the same" : short(before)}` : undefined,
      "data-before": typeof before === "number" ? before : undefined,
    });
    return `<span ${named}>${now || !isSame ? short(now) : ""}${share}${change}</span>`;
  }

  /** @param {Row} row @param {number} at */
  rowHtml(row, at) {
    if (row.isHead)
      return `<div class="source-row head" data-at="${at}">${escape(row.text)}</div>`;
    const heat = row.values[this.heat] ?? 0;
    const share = this.most ? heat / this.most : 0;
    const stalls = this.stalls(row);
    const cells = (this.shown || []).map(({ i }) => this.cellHtml(row, i)).join("");
    const long = row.text.length > LONG_TEXT ? row.text : "";
    const named = attributesHtml({
      class: `source-row${at === this.hottest ? " chosen" : ""}${row.isCall ? " call" : ""}`, "data-at": at, "data-mark": row.mark,
      style: `--heat:${share.toFixed(3)}`, title: [long.trim(), row.title, stalls].filter(Boolean).join("\n"),
    });
    const mark = `<span class="source-mark">${escape(row.mark)}</span>`;
    return `<div ${named}>${mark}<span class="source-text">${escape(row.text)}</span>${cells}</div>`;
  }

  /** @param {HTMLSelectElement | HTMLInputElement} input */
  choose(input) {
    if (input.id === "source-mode")
      this.mode = input.value;
    else if (input.id === "source-heat")
      this.heat = Number(input.value);
    else if (input.id === "source-inlined")
      this.outermost = input.value === "outermost";
    else if (input instanceof HTMLInputElement && input.id === "source-calls")
      this.calls = input.checked;
    else if (input instanceof HTMLInputElement && input.id === "source-sort")
      this.byHeat = input.checked;
    else
      return;
    this.scroll().scrollTop = 0;
    this.arrange();
  }

  /** A column's heading: its heat, the most first; again: in order. @param {number} column */
  sortBy(column) {
    this.byHeat = column !== this.heat || !this.byHeat;
    this.heat = column;
    this.lay();
  }

  /** What weighs something, the most first. */
  byWeight() {
    const weights = this.rows.map((row, i) => ({ i, heat: row.isCall ? 0 : row.values[this.heat] ?? 0 }));
    return weights.filter(({ heat }) => heat > 0).sort((a, b) => b.heat - a.heat);
  }

  /** @param {HTMLElement} target */
  click(target) {
    if (target.dataset.heat !== undefined)
      this.sortBy(Number(target.dataset.heat));
    if (target.id !== "source-hottest" && target.id !== "source-next")
      return;
    const order = this.byWeight();
    const now = target.id === "source-next" ? order.findIndex(({ i }) => i === this.hottest) : -1;
    const next = order[(now + 1) % Math.max(1, order.length)];
    if (!next)
      return;
    this.hottest = next.i;
    this.scroll().scrollTop = Math.max(0, next.i * ROW_HEIGHT - this.scroll().clientHeight / 2);
    this.draw();
  }
}

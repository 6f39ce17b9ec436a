// Every report of `sonde stats`, for the measured span; of two recordings, the difference.
import { json } from "../api.js";
import * as format from "../format.js";
import { hasFunctions } from "../names.js";
import { NOISE, difference } from "./difference.js";
import { copyText, empty, spanOf, spanText, tsv } from "./panel.js";
import { nextSort, sorted, tableHtml } from "./table.js";

/** @typedef {import("../main.js").App} App */

/** What is shown at first: the first of these that has something to tell. */
const FIRST = ["cuda_gpu_kern_sum", "nvtx_sum", "cpu_sample_sum", "osrt_sum"];

export class StatisticsPanel {
  /** @param {App} app @param {HTMLElement} place */
  constructor(app, place) {
    this.app = app;
    this.place = place;
    this.name = "";
    /** @type {Array<{ name: string, title: string }>} */
    this.reports = [];
    /** How many more there are. */
    this.others = 0;
    /** @type {Array<import("./table.js").Table & { title: string, skipped?: string, cut?: boolean }>} */
    this.tables = [];
    this.sort = 0;
    this.compare = app.loaded.length > 1;
    this.filter = "";
    this.turn = 0;
  }

  optionsHtml() {
    const optionHtml = (/** @type {any} */ r) =>
      `<option value="${r.name}"${r.name === this.name ? " selected" : ""}>${format.escapeHtml(r.title)} (${r.name})</option>`;
    const where = this.app.loaded.length > 1 ? "these recordings" : "this recording";
    const others = this.others ? `<option disabled>${format.some(this.others, "others")} without data in ${where}</option>` : "";
    return this.reports.map(optionHtml).join("") + others;
  }

  barHtml() {
    const filter = format.attributesHtml({
      type: "search", class: "lines-with", placeholder: "filter lines", "aria-label": "Show only lines with this text", value: this.filter,
    });
    const both = this.app.loaded.length > 1 ?
      `<label><input type="checkbox" class="compare"${this.compare ? " checked" : ""}> difference</label>` : "";
    return `<select aria-label="Report">${this.optionsHtml()}</select><input ${filter}>${both}` +
      `<span class="faint">${spanText(this.app)}</span><span class="spring"></span><button class="copy-all">Copy as TSV</button>`;
  }

  async show() {
    await this.list();
    if (!this.name)
      await this.chooseFirst();
    this.place.innerHTML = `<div class="bar">${this.barHtml()}</div><div class="tables"></div>`;
    this.listen();
    if (this.name)
      await this.fill();
  }

  /** Those that any of the recordings has data for; asked again while one grows. */
  async list() {
    if (this.reports.length && !this.app.loaded.some((loaded) => loaded.facts.partial))
      return;
    /** @type {Map<string, { name: string, title: string, available: boolean }>} */
    const all = new Map();
    for (const loaded of this.app.loaded)
      for (const report of (await this.app.attempt(() => json("/api/stats", { report: loaded.number })))?.reports || [])
        all.set(report.name, { ...report, available: report.available || Boolean(all.get(report.name)?.available) });
    this.reports = [...all.values()].filter((report) => report.available).sort((a, b) => a.title.localeCompare(b.title));
    this.others = all.size - this.reports.length;
  }

  async chooseFirst() {
    const there = FIRST.filter((name) => this.reports.some((report) => report.name === name));
    for (const name of there) {
      const answer = await this.app.attempt(() => json("/api/stats", { report: 0, name }));
      if (answer?.rows.length) {
        this.name = name;
        return;
      }
    }
    this.name = there[0] || this.reports[0]?.name || "";
  }

  listen() {
    const select = /** @type {HTMLSelectElement} */ (this.place.querySelector("select"));
    select.addEventListener("change", () => {
      this.name = select.value;
      this.sort = 0;
      this.fill();
    });
    const filter = /** @type {HTMLInputElement} */ (this.place.querySelector(".lines-with"));
    filter.addEventListener("input", () => {
      this.filter = filter.value;
      this.draw();
    });
    this.place.querySelector(".compare")?.addEventListener("change", (event) => {
      this.compare = /** @type {HTMLInputElement} */ (event.target).checked;
      this.sort = 0;
      this.fill();
    });
    const copy = /** @type {HTMLElement} */ (this.place.querySelector(".copy-all"));
    copy.addEventListener("click", () => copyText(this.tables.map((table) => this.tsv(table)).join("\n\n"), copy));
    this.place.querySelector(".tables")?.addEventListener("click", (event) => {
      this.sort = nextSort(event, this.sort, this.tables[0]?.columns || []);
      this.draw();
    });
  }

  async fill() {
    const turn = ++this.turn;
    const answers = [];
    for (const loaded of this.app.loaded) {
      const [from, to] = this.app.view.span ? spanOf(this.app, loaded) : [undefined, undefined];
      const answer = await this.app.attempt(() => json("/api/stats", { report: loaded.number, name: this.name, from, to }));
      const told = (/** @type {any} */ column) => ({ ...column, functions: hasFunctions(this.name, column.name) });
      if (answer)
        answers.push({ ...answer, title: loaded.facts.name, columns: answer.columns.map(told) });
    }
    if (turn !== this.turn)
      return;
    if (this.compare && answers.length > 1) {
      const [a, ...others] = answers;
      this.tables = others.map((b) => ({ ...difference(a, b), title: `A: ${a.title}   B: ${b.title}`, skipped: a.skipped && b.skipped }));
    } else {
      this.tables = answers;
    }
    this.draw();
  }

  /** @param {import("./table.js").Table} table */
  lines(table) {
    const wanted = this.filter.trim().toLowerCase();
    return wanted ? table.rows.filter((row) => row.some((cell) => String(cell ?? "").toLowerCase().includes(wanted))) : table.rows;
  }

  /** What is shown, for spreadsheets. @param {import("./table.js").Table} table */
  tsv(table) {
    return tsv(table.columns.map((column) => column.name), sorted(this.lines(table), this.sort, table.columns));
  }

  /** @param {any} table */
  tableHtml(table) {
    const heading = this.app.loaded.length > 1 ? `<h3>${format.escapeHtml(table.title)}</h3>` : "";
    if (table.skipped || !table.rows.length)
      return heading + empty(table.skipped || (this.app.view.span ? "Nothing in the measured span." : "Nothing was recorded of this."));
    const isCompared = table.columns.some((/** @type {any} */ column) => column.percent !== undefined);
    const legend = isCompared ? `<p class="faint">Coloured: differences of more than ${NOISE} %.</p>` : "";
    const command = `'sonde stats -r ${format.escapeHtml(this.name)}'`;
    const rest = table.cut ? `<p class="faint">There are more lines than a page shows: ${command} has all.</p>` : "";
    return heading + legend + rest + tableHtml({ columns: table.columns, rows: this.lines(table) }, this.sort);
  }

  draw() {
    const place = this.place.querySelector(".tables");
    if (place)
      place.innerHTML = this.tables.map((table) => this.tableHtml(table)).join("");
  }

  spanChosen() {
    this.show();
  }
}

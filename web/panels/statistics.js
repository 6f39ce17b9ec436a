// Every report of `sonde stats`, for the measured span.
import { json } from "../api.js";
import * as format from "../format.js";
import { empty, spanOf, spanText, tsv } from "./panel.js";

/** @typedef {import("../main.js").App} App */

/** What is shown at first: the first of these that has something to tell. */
const FIRST = ["cuda_gpu_kern_sum", "nvtx_sum", "cpu_sample_sum", "osrt_sum"];

export class StatisticsPanel {
  /** @param {App} app @param {HTMLElement} place */
  constructor(app, place) {
    this.app = app;
    this.place = place;
    this.name = "";
    /** @type {Array<{ name: string, title: string, empty?: boolean }>} */
    this.reports = [];
    /** @type {any} */
    this.answer = null;
    this.sort = 0;
  }

  async show() {
    if (!this.reports.length)
      this.reports = (await this.app.attempt(() => json("/api/stats", { report: 0 })))?.reports || [];
    this.name ||= (FIRST.map((name) => this.reports.find((report) => report.name === name)).find((report) => report && !report.empty) || this.reports[0])?.name || "";
    const options = this.reports.map((r) => `<option value="${r.name}"${r.name === this.name ? " selected" : ""}>${format.escapeHtml(r.title)} (${r.name})</option>`).join("");
    this.place.innerHTML = `<div class="bar"><select aria-label="Report">${options}</select> <span class="faint">${spanText(this.app)}</span><button>Copy as TSV</button></div><div class="tables"></div>`;
    const select = /** @type {HTMLSelectElement} */ (this.place.querySelector("select"));
    select.addEventListener("change", () => {
      this.name = select.value;
      this.sort = 0;
      this.show();
    });
    this.place.querySelector("button")?.addEventListener("click", () => this.copy());
    if (this.name)
      await this.fill();
  }

  async fill() {
    const tables = /** @type {HTMLElement} */ (this.place.querySelector(".tables"));
    /** @type {any[]} */
    const answers = [];
    for (const loaded of this.app.loaded) {
      const [from, to] = this.app.view.span ? spanOf(this.app, loaded) : [undefined, undefined];
      const answer = await this.app.attempt(() => json("/api/stats", { report: loaded.number, name: this.name, from, to }));
      if (answer)
        answers.push({ ...answer, of: loaded.facts.name });
    }
    this.answer = answers[0];
    tables.innerHTML = answers.map((answer) => (this.app.loaded.length > 1 ? `<h3>${format.escapeHtml(answer.of)}</h3>` : "") + this.table(answer)).join("");
    tables.onclick = (event) => {
      const column = Number(/** @type {HTMLElement} */ (event.target).dataset.column ?? NaN);
      if (!Number.isNaN(column)) {
        this.sort = this.sort === column + 1 ? -(column + 1) : column + 1;
        tables.innerHTML = answers.map((answer) => this.table(answer)).join("");
      }
    };
  }

  /** @param {any} answer */
  table(answer) {
    if (answer.skipped || !answer.rows.length)
      return empty(answer.skipped || "Nothing in this span.");
    const rows = [...answer.rows];
    const by = Math.abs(this.sort) - 1;
    if (this.sort)
      rows.sort((a, b) => (this.sort < 0 ? 1 : -1) * (answer.columns[by].number ? Number(b[by]) - Number(a[by]) : String(b[by]).localeCompare(String(a[by]))));
    const head = answer.columns.map((/** @type {any} */ column, /** @type {number} */ i) => `<th data-column="${i}" class="${column.number ? "number" : ""}">${format.escapeHtml(column.name)}</th>`).join("");
    const body = rows.slice(0, 1000).map((row) => `<tr>${row.map((/** @type {any} */ cell, /** @type {number} */ i) => `<td class="${answer.columns[i].number ? "number" : ""}">${format.escapeHtml(this.cell(cell, answer.columns[i]))}</td>`).join("")}</tr>`).join("");
    return `<table class="statistics"><thead><tr>${head}</tr></thead><tbody>${body}</tbody></table>${rows.length > 1000 ? `<p class="faint">The first 1,000 of ${format.count(rows.length)} lines.</p>` : ""}`;
  }

  /** @param {any} cell @param {any} column */
  cell(cell, column) {
    if (cell === null || cell === undefined)
      return "";
    return column.number && typeof cell === "number" ? cell.toLocaleString("en-US", { maximumFractionDigits: 1 }) : String(cell);
  }

  copy() {
    if (this.answer)
      navigator.clipboard?.writeText(tsv(this.answer.columns.map((/** @type {any} */ c) => c.name), this.answer.rows));
  }

  spanChosen() {
    this.show();
  }
}

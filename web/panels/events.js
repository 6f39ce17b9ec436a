// All events of a row as a table; only the lines in sight are fetched.
import { json } from "../api.js";
import * as format from "../format.js";
import { empty, spanOf, tsv } from "./panel.js";

/** @typedef {import("../main.js").App} App */

const LINE = 22;
const PAGE = 200;

export class EventsPanel {
  /** @param {App} app @param {HTMLElement} place */
  constructor(app, place) {
    this.app = app;
    this.place = place;
    this.sort = "";
    this.filter = "";
    /** @type {Map<number, any[]>} */
    this.pages = new Map();
    this.total = 0;
    /** @type {string[]} */
    this.columns = [];
    this.asked = new Set();
    this.turn = 0;
  }

  row() {
    return this.app.row && this.app.row.id >= 0 ? this.app.row : this.app.rows.shown.find((row) => row.draw === "slices" && (row.count || 0) > 0);
  }

  async show() {
    const row = this.row();
    this.turn++;
    this.pages.clear();
    this.asked.clear();
    if (!row) {
      this.place.innerHTML = empty("No row has events.");
      return;
    }
    this.place.innerHTML = `<div class="bar"><b>${format.escapeHtml(row.label)}</b> <span class="faint" id="event-count"></span>` +
      `<input type="search" placeholder="filter names" value="${format.escapeHtml(this.filter)}" aria-label="Filter events"><button>Copy as TSV</button></div>` +
      `<div class="events" tabindex="0"><div class="head"></div><div class="lines"><div class="size"></div><div class="shown"></div></div></div>`;
    const input = /** @type {HTMLInputElement} */ (this.place.querySelector("input"));
    input.addEventListener("change", () => {
      this.filter = input.value;
      this.show();
    });
    this.place.querySelector("button")?.addEventListener("click", () => this.copy());
    this.place.querySelector(".lines")?.addEventListener("scroll", () => this.draw());
    this.place.querySelector(".lines")?.addEventListener("dblclick", (event) => this.enter(/** @type {MouseEvent} */ (event)));
    this.place.querySelector(".head")?.addEventListener("click", (event) => this.order(/** @type {MouseEvent} */ (event)));
    await this.fetchPage(0);
    this.draw();
  }

  /** @param {number} page */
  async fetchPage(page) {
    const row = this.row();
    if (!row || this.asked.has(page))
      return;
    const turn = this.turn;
    this.asked.add(page);
    const [from, to] = spanOf(this.app, this.app.loaded[row.report]);
    const answer = await this.app.attempt(() => json("/api/events", {
      report: row.report, row: row.id, from, to, sort: this.sort || undefined, filter: this.filter || undefined, offset: page * PAGE, limit: PAGE }));
    if (!answer || turn !== this.turn)
      return;
    this.pages.set(page, answer.rows);
    this.total = answer.total;
    this.columns = answer.columns;
    this.draw();
  }

  draw() {
    const lines = /** @type {HTMLElement | null} */ (this.place.querySelector(".lines"));
    const head = this.place.querySelector(".head");
    const label = this.place.querySelector("#event-count");
    if (!lines || !head || !label)
      return;
    this.place.style.setProperty("--columns", this.columns.map((name) => (name === "Name" ? "minmax(200px, 4fr)" : "minmax(70px, 1fr)")).join(" "));
    label.textContent = `${format.count(this.total)} events`;
    head.innerHTML = this.columns.map((name, i) => `<span data-column="${i}" class="c${i}">${format.escapeHtml(name)}${this.sort === `${i}` ? " ▴" : this.sort === `-${i}` ? " ▾" : ""}</span>`).join("");
    /** @type {HTMLElement} */ (lines.querySelector(".size")).style.height = `${Math.min(this.total * LINE, 8e6)}px`;
    const first = this.firstLine(lines);
    const count = Math.ceil(lines.clientHeight / LINE) + 1;
    const shown = /** @type {HTMLElement} */ (lines.querySelector(".shown"));
    shown.style.transform = `translateY(${lines.scrollTop}px)`;
    shown.innerHTML = Array.from({ length: Math.min(count, Math.max(this.total - first, 0)) }, (_, i) => this.line(first + i)).join("");
  }

  /** Browsers know no element higher than some million pixels: beyond, a pixel stands for several lines. @param {HTMLElement} lines */
  firstLine(lines) {
    const height = Math.min(this.total * LINE, 8e6);
    return Math.floor((lines.scrollTop / Math.max(height, 1)) * this.total);
  }

  /** @param {number} i */
  line(i) {
    const page = Math.floor(i / PAGE);
    const row = this.pages.get(page)?.[i % PAGE];
    if (!row) {
      this.fetchPage(page);
      return `<div class="line"></div>`;
    }
    return `<div class="line" data-line="${i}">${row.cells.map((/** @type {any} */ cell, /** @type {number} */ c) => `<span class="c${c}" title="${format.escapeHtml(String(cell ?? ""))}">${format.escapeHtml(String(cell ?? ""))}</span>`).join("")}</div>`;
  }

  /** @param {MouseEvent} event */
  enter(event) {
    const line = /** @type {HTMLElement} */ (event.target).closest("[data-line]");
    const i = Number(/** @type {HTMLElement | null} */ (line)?.dataset.line);
    const found = this.pages.get(Math.floor(i / PAGE))?.[i % PAGE];
    const row = this.row();
    if (found && row)
      this.app.go({ ...found.event, report: row.report });
  }

  /** @param {MouseEvent} event */
  order(event) {
    const column = /** @type {HTMLElement} */ (event.target).dataset.column;
    if (column === undefined)
      return;
    this.sort = this.sort === column ? `-${column}` : column;
    this.show();
  }

  copy() {
    const rows = [...this.pages.keys()].sort((a, b) => a - b).flatMap((page) => this.pages.get(page) || []);
    navigator.clipboard?.writeText(tsv(this.columns, rows.map((row) => row.cells)));
  }

  spanChosen() {
    this.show();
  }

  rowChosen() {
    this.show();
  }
}

// All events of a row as a table; only the lines in sight are fetched.
import { json } from "../api.js";
import * as format from "../format.js";
import { copyText, empty, spanOf, spanText, tsv } from "./panel.js";

/** @typedef {import("../main.js").App} App */

const LINE = 22;
const PAGE = 200;
const MOST_PAGES = 60;
/** What is copied at most: a spreadsheet takes no more. */
const MOST_COPIED = 100000;
/** Browsers know no element higher than some million pixels: beyond, a pixel stands for several lines. */
const MOST_HEIGHT = 8e6;
const WIDTHS = ["150px", "130px", "minmax(160px, 4fr)", "minmax(90px, 1fr)", "50px"];
const { attributesHtml, escapeHtml: escape } = format;
const CUT = ": too many are equal in this order; some of them are left out";

export class EventsPanel {
  /** @param {App} app @param {HTMLElement} place */
  constructor(app, place) {
    this.app = app;
    this.place = place;
    this.sort = "0";
    this.filter = "";
    /** @type {Map<number, any[]>} */
    this.pages = new Map();
    this.total = 0;
    this.cut = false;
    /** @type {string[]} */
    this.columns = [];
    this.asked = new Set();
    this.turn = 0;
    this.chosen = 0;
    /** @type {import("../timeline/rows.js").Row | undefined} */
    this.row = undefined;
  }

  /** The chosen row, else the first that has events. */
  rowNow() {
    const { row, rows } = this.app;
    const all = [...rows.byKey.values()];
    if (row && row.id >= 0)
      return row;
    const has = (/** @type {import("../timeline/rows.js").Row} */ other) => (other.count || 0) > 0;
    return rows.shown.find((other) => other.draw === "slices" && has(other)) || all.find((other) => other.draw !== "group" && has(other));
  }

  /** @param {import("../timeline/rows.js").Row} row */
  pageHtml(row) {
    const where = [row.above?.label, row.label].filter(Boolean).join(" › ");
    const filter = attributesHtml({
      type: "search", placeholder: "filter names, arguments", value: this.filter, "aria-label": "Filter events",
    });
    const lines = attributesHtml({ class: "lines", tabindex: 0, role: "grid", "aria-label": "Events" });
    return `<div class="bar"><b>${escape(where)}</b> <span class="faint" id="event-count"></span><input ${filter}>` +
      `<span class="faint">${spanText(this.app)}</span><span class="spring"></span><button class="copy-all">Copy as TSV</button></div>` +
      `<div class="events"><div class="head" role="row"></div>` +
      `<div ${lines}><div class="size"></div><div class="shown"></div></div></div>`;
  }

  async show() {
    this.row = this.rowNow();
    this.turn++;
    this.pages.clear();
    this.asked.clear();
    this.chosen = 0;
    if (!this.row) {
      this.place.innerHTML = empty("The report has no events. sonde profile -t cuda,nvtx,osrt records calls, GPU work and ranges; " +
        "sonde profile --help lists more.");
      return;
    }
    this.place.innerHTML = this.pageHtml(this.row);
    this.listen();
    await this.fetchPage(0);
  }

  listen() {
    const input = /** @type {HTMLInputElement} */ (this.place.querySelector("input"));
    input.addEventListener("change", () => {
      this.filter = input.value;
      this.show();
    });
    const copy = /** @type {HTMLElement} */ (this.place.querySelector(".copy-all"));
    const lines = /** @type {HTMLElement} */ (this.place.querySelector(".lines"));
    copy.addEventListener("click", () => this.copy(copy));
    lines.addEventListener("scroll", () => this.draw());
    lines.addEventListener("click", (event) => this.choose(this.lineOf(event)));
    lines.addEventListener("dblclick", (event) => this.enter(this.lineOf(event)));
    lines.addEventListener("keydown", (event) => this.key(event));
    this.place.querySelector(".head")?.addEventListener("click", (event) => this.order(/** @type {MouseEvent} */ (event)));
  }

  /** @param {number} offset @param {number} limit */
  ask(offset, limit) {
    const row = /** @type {import("../timeline/rows.js").Row} */ (this.row);
    const [from, to] = this.app.view.span ? spanOf(this.app, this.app.loaded[row.report]) : [undefined, undefined];
    const wanted = { report: row.report, row: row.id, from, to, sort: this.sort, filter: this.filter || undefined, offset, limit };
    return this.app.attempt(() => json("/api/events", wanted));
  }

  /** @param {number} page */
  async fetchPage(page) {
    if (!this.row || this.asked.has(page))
      return;
    const turn = this.turn;
    this.asked.add(page);
    const answer = await this.ask(page * PAGE, PAGE);
    if (!answer || turn !== this.turn)
      return;
    if (this.pages.size > MOST_PAGES) {
      this.pages.clear();
      this.asked.clear();
    }
    this.pages.set(page, answer.rows);
    this.total = answer.total;
    this.cut = answer.cut;
    this.columns = answer.columns;
    this.draw();
  }

  /** @param {string} name @param {number} i */
  headHtml(name, i) {
    const arrow = this.sort === `${i}` ? " ▴" : this.sort === `-${i}` ? " ▾" : "";
    return `<button data-column="${i}" class="c${i}">${escape(name)}${arrow}</button>`;
  }

  /** Why there are no lines. */
  noneText() {
    if (this.filter)
      return "No event of the row has this text.";
    return this.app.view.span ? "No event of the row lies in the measured span." : "The row has no events.";
  }

  draw() {
    const lines = /** @type {HTMLElement | null} */ (this.place.querySelector(".lines"));
    const head = this.place.querySelector(".head");
    const label = this.place.querySelector("#event-count");
    if (!lines || !head || !label)
      return;
    this.place.style.setProperty("--columns", WIDTHS.slice(0, this.columns.length).join(" "));
    label.textContent = format.some(this.total, "events") + (this.cut ? CUT : "");
    head.innerHTML = this.columns.map((name, i) => this.headHtml(name, i)).join("");
    /** @type {HTMLElement} */ (lines.querySelector(".size")).style.height = `${Math.min(this.total * LINE, MOST_HEIGHT)}px`;
    const first = this.firstLine(lines);
    const count = Math.ceil(lines.clientHeight / LINE) + 1;
    const shown = /** @type {HTMLElement} */ (lines.querySelector(".shown"));
    shown.style.transform = `translateY(${lines.scrollTop}px)`;
    shown.innerHTML = Array.from({ length: Math.min(count, Math.max(this.total - first, 0)) }, (_, i) => this.line(first + i)).join("");
    if (!this.total)
      shown.innerHTML = empty(this.noneText());
  }

  /** @param {HTMLElement} lines */
  firstLine(lines) {
    const height = Math.min(this.total * LINE, MOST_HEIGHT);
    const last = Math.max(0, this.total - Math.floor(lines.clientHeight / LINE));
    const room = Math.max(height - lines.clientHeight, 1);
    return height < MOST_HEIGHT ? Math.floor(lines.scrollTop / LINE) : Math.round((lines.scrollTop / room) * last);
  }

  /** @param {number} i */
  line(i) {
    const page = Math.floor(i / PAGE);
    const row = this.pages.get(page)?.[i % PAGE];
    if (!row) {
      this.fetchPage(page);
      return `<div class="line"></div>`;
    }
    const cells = row.cells.map((/** @type {any} */ cell, /** @type {number} */ c) => {
      const text = typeof cell === "number" ? format.count(cell) : String(cell ?? "");
      return `<span role="gridcell" class="c${c}" title="${escape(text)}">${escape(text)}</span>`;
    });
    return `<div class="line${i === this.chosen ? " chosen" : ""}" role="row" data-line="${i}">${cells.join("")}</div>`;
  }

  /** @param {Event} event */
  lineOf(event) {
    const line = /** @type {HTMLElement | null} */ (/** @type {HTMLElement} */ (event.target).closest("[data-line]"));
    return Number(line?.dataset.line ?? NaN);
  }

  /** @param {number} i */
  choose(i) {
    const lines = /** @type {HTMLElement | null} */ (this.place.querySelector(".lines"));
    if (!lines || !(i >= 0 && i < this.total))
      return;
    const first = this.firstLine(lines);
    const fit = Math.floor(lines.clientHeight / LINE);
    this.chosen = i;
    if (this.total * LINE < MOST_HEIGHT && (i < first || i >= first + fit))
      lines.scrollTop = i < first ? i * LINE : (i - fit + 1) * LINE;
    /* The lines stay: a double click must find what the first click was on. */
    for (const line of lines.querySelectorAll("[data-line]"))
      line.classList.toggle("chosen", Number(/** @type {HTMLElement} */ (line).dataset.line) === i);
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const by = { ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10 }[event.key];
    if (by)
      this.choose(Math.max(0, Math.min(this.total - 1, this.chosen + by)));
    else if (event.key === "Enter")
      this.enter(this.chosen);
    else
      return;
    event.preventDefault();
    event.stopPropagation();
  }

  /** Goes to the event; the table stays as it is. @param {number} i */
  enter(i) {
    const found = this.pages.get(Math.floor(i / PAGE))?.[i % PAGE];
    if (found && this.row)
      this.app.go({ ...found.event, report: this.row.report });
  }

  /** @param {MouseEvent} event */
  order(event) {
    const column = /** @type {HTMLElement} */ (event.target).dataset.column;
    if (column === undefined)
      return;
    this.sort = this.sort === column ? `-${column}` : column;
    this.show();
  }

  /** @param {HTMLElement} button */
  async copy(button) {
    /** @type {any[][]} */
    const rows = [];
    const most = Math.min(this.total, MOST_COPIED);
    while (rows.length < most) {
      const answer = await this.ask(rows.length, Math.min(1000, most - rows.length));
      if (!answer?.rows.length)
        break;
      rows.push(...answer.rows.map((/** @type {any} */ row) => row.cells));
    }
    copyText(tsv(this.columns, rows), button);
    const [copied, all] = [format.count(most), format.count(this.total)];
    if (this.total > most)
      this.app.complain(new Error(`The first ${copied} of ${all} events were copied; sonde export -t csv writes all.`));
  }

  spanChosen() {
    this.show();
  }

  rowChosen() {
    if (this.rowNow() !== this.row)
      this.show();
  }
}

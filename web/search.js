// Finding events by name, also by the whole name and by what their arguments say.
import { json } from "./api.js";
import * as format from "./format.js";

/** @typedef {import("./main.js").App} App */
/** @typedef {{ report: number, row: number, lane: number, index: number, start: number, end: number, name?: string }} Match */

const DELAY = 180;
const MOST = 2000;

export class Search {
  /** @param {App} app */
  constructor(app) {
    this.app = app;
    this.field = /** @type {HTMLInputElement} */ (document.getElementById("search"));
    this.said = /** @type {HTMLElement} */ (document.getElementById("matches"));
    this.text = "";
    /** @type {Match[]} */
    this.matches = [];
    this.total = 0;
    this.at = -1;
    /** Runs while more letters may come. */
    this.timer = 0;
    /** The matches are not the first ones. */
    this.partial = false;
    /** What names must have so as not to fade. */
    this.shade = "";
    /** @type {Promise<void>} */
    this.answer = Promise.resolve();
    /** @type {AbortController | null} */
    this.asking = null;
    this.field.addEventListener("input", () => {
      window.clearTimeout(this.timer);
      this.timer = window.setTimeout(() => {
        this.timer = 0;
        this.look();
      }, DELAY);
    });
    this.field.addEventListener("keydown", (event) => {
      if (event.key === "Enter")
        this.look().then(() => this.step(event.shiftKey ? -1 : 1));
    });
  }

  focus() {
    this.field.focus();
    this.field.select();
  }

  /** @param {string} text */
  restore(text) {
    this.field.value = text;
    this.look();
  }

  clear() {
    this.field.value = "";
    this.look();
  }

  /** Whoever asks again for the same waits for the same answer. */
  look() {
    const text = this.field.value.trim().toLowerCase();
    if (text !== this.text)
      this.answer = this.ask(text);
    return this.answer;
  }

  /** @param {string} text @returns {Promise<void>} */
  async ask(text) {
    this.asking?.abort();
    this.asking = new AbortController();
    const { signal } = this.asking;
    this.text = text;
    this.matches = [];
    this.at = -1;
    this.total = 0;
    this.shade = "";
    this.partial = false;
    for (const row of this.app.rows.byKey.values())
      row.found = 0;
    this.app.rowsChanged();
    if (!text)
      return this.tell();
    this.said.textContent = "…";
    for (const loaded of this.app.loaded) {
      const answer = await this.app.attempt(() => json("/api/find", { report: loaded.number, text, limit: MOST }, signal));
      if (!answer || this.text !== text)
        return;
      this.take(answer, loaded.number);
    }
    /* What was found by its arguments is not to fade with the rest. */
    this.shade = this.matches.every((match) => (match.name || "").toLowerCase().includes(text)) ? text : "";
    this.matches.sort((a, b) => this.timeOf(a) - this.timeOf(b));
    this.tell();
  }

  /** @param {Match} match */
  timeOf(match) {
    return match.start + this.app.loaded[match.report].offset;
  }

  /** Each row says how many it has, and so do those that it is hidden in. @param {any} answer @param {number} report */
  take(answer, report) {
    this.total += answer.total;
    this.matches.push(...answer.events.map((/** @type {Match} */ m) => ({ ...m, report })));
    for (const [id, count] of answer.rows)
      for (let row = this.app.rows.find(report, id) || null; row; row = row.above)
        row.found += count;
  }

  /** Which of the matches one is at, and how many there are. */
  foundText() {
    const total = format.count(this.total);
    return this.at >= 0 && !this.partial ? `${format.count(this.at + 1)} of ${total}` : total;
  }

  tell() {
    const more = this.total > this.matches.length ? `, the first ${format.count(this.matches.length)} can be stepped through` : "";
    this.field.title = this.text ? `${format.some(this.total, "events")}${more}` : "";
    this.field.classList.toggle("nothing", Boolean(this.text) && this.total === 0);
    this.said.textContent = this.text ? this.foundText() : "";
    this.app.timeline.redraw();
    this.app.side.showSearch();
  }

  /** The matches from a time on, where there are more than are known. @param {number} time @returns {Promise<void>} */
  async lookFrom(time) {
    const { text } = this;
    /** @type {Match[]} */
    const matches = [];
    for (const loaded of this.app.loaded) {
      const from = Math.max(0, Math.round(time - loaded.offset));
      const answer = await this.app.attempt(() => json("/api/find", { report: loaded.number, text, limit: MOST, from }));
      if (!answer || this.text !== text)
        return;
      matches.push(...answer.events.map((/** @type {Match} */ m) => ({ ...m, report: loaded.number })));
    }
    this.matches = matches.sort((a, b) => this.timeOf(a) - this.timeOf(b)).slice(0, MOST);
    this.at = -1;
    this.partial = true;
  }

  /** The first step leads to the first match in sight or behind it. @param {number} by @returns {Promise<void>} */
  async step(by) {
    const last = this.matches[this.matches.length - 1];
    if (!last)
      return;
    if (this.total > this.matches.length && this.at < 0 && this.timeOf(last) < this.app.view.from)
      await this.lookFrom(this.app.view.from);
    else if (this.total > this.matches.length && by > 0 && this.at === this.matches.length - 1)
      await this.lookFrom(this.timeOf(last) + 1);
    if (!this.matches.length)
      return;
    if (this.at < 0) {
      const ahead = this.matches.findIndex((match) => this.timeOf(match) >= this.app.view.from);
      this.at = ahead < 0 ? 0 : ahead;
    } else {
      this.at = (this.at + by + this.matches.length) % this.matches.length;
    }
    this.app.go(this.matches[this.at]);
    this.tell();
  }
}

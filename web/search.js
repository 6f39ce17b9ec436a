// Finding events by name.
import { json } from "./api.js";
import * as format from "./format.js";

/** @typedef {import("./main.js").App} App */
/** @typedef {{ report: number, row: number, lane: number, index: number, start: number, end: number }} Match */

export class Search {
  /** @param {App} app */
  constructor(app) {
    this.app = app;
    this.field = /** @type {HTMLInputElement} */ (document.getElementById("search"));
    this.text = "";
    /** @type {Match[]} */
    this.matches = [];
    this.total = 0;
    this.at = -1;
    this.timer = 0;
    /** @type {Promise<void>} */
    this.answer = Promise.resolve();
    this.field.addEventListener("input", () => {
      window.clearTimeout(this.timer);
      this.timer = window.setTimeout(() => this.look(), 150);
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

  /** Whoever asks again for the same waits for the same answer. */
  look() {
    const text = this.field.value.trim().toLowerCase();
    if (text !== this.text)
      this.answer = this.ask(text);
    return this.answer;
  }

  /** @param {string} text @returns {Promise<void>} */
  async ask(text) {
    this.text = text;
    this.matches = [];
    this.at = -1;
    this.total = 0;
    this.app.timeline.redraw();
    if (!text)
      return this.tell();
    for (const loaded of this.app.loaded) {
      const answer = await this.app.attempt(() => json("/api/find", { report: loaded.number, text, limit: 2000 }));
      if (!answer || this.text !== text)
        return;
      this.total += answer.total;
      this.matches.push(...answer.events.map((/** @type {Match} */ m) => ({ ...m, report: loaded.number })));
    }
    this.tell();
  }

  tell() {
    const field = this.field;
    field.title = this.text ? `${format.count(this.total)} events${this.total > this.matches.length ? `, the first ${format.count(this.matches.length)} can be stepped through` : ""}` : "";
    field.classList.toggle("nothing", Boolean(this.text) && this.total === 0);
    this.app.side.showSearch();
  }

  /** @param {number} by */
  step(by) {
    if (!this.matches.length)
      return;
    this.at = (this.at + by + this.matches.length) % this.matches.length;
    this.app.go(this.matches[this.at]);
    this.app.side.showSearch();
  }
}

// How the recording was made, and what the program printed where that was kept.
import { json } from "../api.js";
import * as format from "../format.js";

/** @typedef {import("../main.js").App} App */

export class SessionPanel {
  /** @param {App} app @param {HTMLElement} place */
  constructor(app, place) {
    this.app = app;
    this.place = place;
  }

  async show() {
    const parts = [];
    for (const loaded of this.app.loaded) {
      const answer = await this.app.attempt(() => json("/api/session", { report: loaded.number }));
      if (!answer)
        continue;
      const facts = answer.facts.map((/** @type {string[]} */ [key, value]) => `<tr><td>${format.escapeHtml(key)}</td><td>${format.escapeHtml(String(value))}</td></tr>`).join("");
      const output = (answer.output || []).map((/** @type {any} */ o) => `<h3>${format.escapeHtml(o.name)}</h3><pre>${format.escapeHtml(o.text)}</pre>`).join("");
      parts.push(`<h3>${format.escapeHtml(loaded.facts.name)}</h3><table class="facts">${facts}</table>${output}`);
    }
    this.place.innerHTML = parts.join("");
  }
}

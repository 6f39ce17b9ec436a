// How the recording was made, and what the program printed where that was kept.
import * as format from "../format.js";
import { ofEachReport } from "./panel.js";

/** @typedef {import("../main.js").App} App */

/** @param {any} answer */
function draw(answer) {
  const facts = answer.facts.map((/** @type {string[]} */ [key, value]) => `<tr><td>${format.escapeHtml(key)}</td><td>${format.escapeHtml(String(value))}</td></tr>`).join("");
  const output = (answer.output || []).map((/** @type {any} */ o) => `<h3>${format.escapeHtml(o.name)}</h3><pre>${format.escapeHtml(o.text)}</pre>`).join("");
  return `<table class="facts">${facts}</table>${output}`;
}

export class SessionPanel {
  /** @param {App} app @param {HTMLElement} place */
  constructor(app, place) {
    this.app = app;
    this.place = place;
  }

  async show() {
    this.place.innerHTML = await ofEachReport(this.app, "/api/session", draw);
  }
}

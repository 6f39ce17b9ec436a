// What the recording said about itself.
import * as format from "../format.js";
import { empty, ofEachReport } from "./panel.js";

/** @typedef {import("../main.js").App} App */

const SEVERITY = ["", "info", "warning", "error"];

export class DiagnosticsPanel {
  /** @param {App} app @param {HTMLElement} place */
  constructor(app, place) {
    this.app = app;
    this.place = place;
  }

  async show() {
    this.place.innerHTML = await ofEachReport(this.app, "/api/diagnostics", (answer) => this.table(answer));
  }

  /** @param {any} answer */
  table(answer) {
    if (!answer.diagnostics.length)
      return empty("Nothing to report: nothing was lost, nothing went wrong.");
    const rows = answer.diagnostics.map((/** @type {any} */ d) => `<tr class="${SEVERITY[d.severity] || ""}"><td class="number">${format.moment(d.time, 1e6)}</td><td>${SEVERITY[d.severity] || ""}</td>` +
      `<td>${format.escapeHtml(d.text)}</td></tr>`);
    return `<table class="statistics"><thead><tr><th class="number">Time</th><th></th><th></th></tr></thead>${rows.join("")}</table>`;
  }
}

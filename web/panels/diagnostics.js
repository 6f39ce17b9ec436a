// What the recording said about itself.
import * as format from "../format.js";
import { empty, headsHtml, ofEachReport } from "./panel.js";

/** @typedef {import("../main.js").App} App */

const SEVERITY = ["", "info", "warning", "error"];
const escape = format.escapeHtml;

export class DiagnosticsPanel {
  /** @param {App} app @param {HTMLElement} place */
  constructor(app, place) {
    this.app = app;
    this.place = place;
  }

  async show() {
    const told = (/** @type {any} */ answer, /** @type {import("../main.js").Loaded} */ loaded) =>
      this.notes(loaded) + this.table(answer, loaded) + this.losses(answer);
    this.place.innerHTML = await ofEachReport(this.app, "/api/diagnostics", told);
    this.place.onclick = (event) => {
      const target = /** @type {HTMLElement | null} */ (/** @type {HTMLElement} */ (event.target).closest("[data-time]"));
      if (!target)
        return;
      const time = Number(target.dataset.time);
      const wide = (this.app.view.last - this.app.view.first) / 50;
      this.app.goFinding([time, time], undefined);
      this.app.view.show(time - wide, time + wide);
    };
  }

  /** @param {import("../main.js").Loaded} loaded */
  notes(loaded) {
    return (loaded.facts.notes || []).map((/** @type {string} */ note) => `<p class="note">${escape(note)}</p>`).join("");
  }

  /** @param {any} d a diagnostic @param {import("../main.js").Loaded} loaded */
  rowHtml(d, loaded) {
    const severity = SEVERITY[d.severity] || "";
    const time = d.time === null ? "" :
      `<button class="link" data-time="${d.time + loaded.offset}">${format.moment(d.time, 1e6)}</button>`;
    return `<tr class="${severity}"><td class="number">${time}</td><td>${severity}</td><td>${escape(d.source || "")}</td>` +
      `<td class="text">${escape(d.text || "")}</td></tr>`;
  }

  /** @param {any} answer @param {import("../main.js").Loaded} loaded */
  table(answer, loaded) {
    if (!answer.diagnostics.length && !answer.losses.length)
      return empty("Nothing to report: nothing was lost, nothing went wrong.");
    const rows = answer.diagnostics.map((/** @type {any} */ d) => this.rowHtml(d, loaded));
    return `<table class="statistics">${headsHtml([["Time", true], ["Severity"], ["By"], ["What"]])}${rows.join("")}</table>`;
  }

  /** @param {any} answer */
  losses(answer) {
    const all = answer.losses.reduce((/** @type {number} */ sum, /** @type {any} */ loss) => sum + loss.count, 0);
    return all ? `<p class="error">${format.some(all, "records")} were lost: the places are diagnostics above.</p>` : "";
  }
}

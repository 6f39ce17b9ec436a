// What sonde analyze found, with its places; without findings, diagnostics and what took the time.
import * as format from "../format.js";
import { empty, headOf, headsHtml } from "./panel.js";

/** @typedef {import("../main.js").App} App */

const SEVERITIES = ["", "note", "worth a look", "costly"];
const escape = format.escapeHtml;

export class FindingsPanel {
  /** @param {App} app @param {HTMLElement} place */
  constructor(app, place) {
    this.app = app;
    this.place = place;
    /** @type {Array<{ span: [number, number], row: import("../timeline/rows.js").Row | undefined }>} */
    this.targets = [];
  }

  show() {
    this.targets = [];
    const tables = this.app.side.findings.map(([answer, loaded]) => headOf(this.app, loaded) + this.table(answer, loaded));
    this.place.innerHTML = tables.join("") || empty("…");
    this.place.onclick = (event) => {
      const target = /** @type {HTMLElement | null} */ (/** @type {HTMLElement} */ (event.target).closest("[data-finding]"));
      const what = target && this.targets[Number(target.dataset.finding)];
      if (what)
        this.app.goFinding(what.span, what.row);
    };
  }

  /** Where a finding is, as a link to it. @param {any} f @param {import("../main.js").Loaded} loaded */
  placeHtml(f, loaded) {
    if (f.start === null || f.end === null)
      return "";
    const row = f.row === undefined ? undefined : this.app.rows.find(loaded.number, f.row);
    this.targets.push({ span: [f.start + loaded.offset, f.end + loaded.offset], row });
    return `<button class="link" data-finding="${this.targets.length - 1}">${format.moment(f.start, loaded.length / 1e4)}</button>`;
  }

  /** @param {any} f @param {import("../main.js").Loaded} loaded */
  rowHtml(f, loaded) {
    const said = `<b>${escape(f.title || "")}</b><div>${escape(f.text || "")}</div>`;
    return `<tr class="severity${f.severity}"><td>${SEVERITIES[f.severity] || ""}</td><td>${said}</td>` +
      `<td class="number">${f.gain ? format.duration(f.gain) : ""}</td><td class="number">${this.placeHtml(f, loaded)}</td>` +
      `<td>${escape(f.rule || "")}</td></tr>`;
  }

  /** @param {any} answer @param {import("../main.js").Loaded} loaded */
  table(answer, loaded) {
    if (!answer.findings.length)
      return empty("The report has no findings, because none were computed for it. The panel at the right has what took the time; " +
        "Diagnostics lists what could not be recorded.");
    const heads = headsHtml([[""], ["Finding"], ["Gain", true], ["Where", true], ["Rule"]]);
    const rows = answer.findings.map((/** @type {any} */ f) => this.rowHtml(f, loaded));
    return `<table class="statistics findings-table">${heads}<tbody>${rows.join("")}</tbody></table>`;
  }
}

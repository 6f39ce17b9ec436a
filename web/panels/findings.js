// What sonde analyze found, with its places; without findings, what the recording said about itself and what took the time.
import * as format from "../format.js";
import { empty } from "./panel.js";

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
    this.place.innerHTML = this.app.side.findings.map(([answer, loaded]) => (this.app.loaded.length > 1 ? `<h3>${escape(loaded.facts.name)}</h3>` : "") + this.table(answer, loaded)).join("") ||
      empty("…");
    this.place.onclick = (event) => {
      const target = /** @type {HTMLElement | null} */ (/** @type {HTMLElement} */ (event.target).closest("[data-finding]"));
      const what = target && this.targets[Number(target.dataset.finding)];
      if (what)
        this.app.goFinding(what.span, what.row);
    };
  }

  /** @param {any} answer @param {import("../main.js").Loaded} loaded */
  table(answer, loaded) {
    if (!answer.findings.length)
      return empty("The recording has no findings: none were computed for it. The panel at the right has what took the time; Diagnostics has what the recording said about itself.");
    const rows = answer.findings.map((/** @type {any} */ f) => {
      const has = f.start !== null && f.end !== null;
      if (has)
        this.targets.push({ span: [f.start + loaded.offset, f.end + loaded.offset], row: f.row === undefined ? undefined : this.app.rows.find(loaded.number, f.row) });
      const place = has ? `<button class="link" data-finding="${this.targets.length - 1}">${format.moment(f.start, loaded.length / 1e4)}</button>` : "";
      return `<tr class="severity${f.severity}"><td>${SEVERITIES[f.severity] || ""}</td><td><b>${escape(f.title || "")}</b><div>${escape(f.text || "")}</div></td><td class="number">${f.gain ? format.duration(f.gain) : ""}</td><td class="number">${place}</td><td>${escape(f.rule || "")}</td></tr>`;
    });
    return `<table class="statistics findings-table"><thead><tr><th></th><th>Finding</th><th class="number">Would give back</th><th class="number">Where</th><th>Rule</th></tr></thead><tbody>${rows.join("")}</tbody></table>`;
  }
}

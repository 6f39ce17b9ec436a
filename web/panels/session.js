// How the recording was made, and what the program printed where that was kept.
import * as format from "../format.js";
import { ofEachReport } from "./panel.js";

/** @typedef {import("../main.js").App} App */

const escape = format.escapeHtml;
const MOST_PROCESSES = 500;

/** @param {string} key @param {any} value */
function factHtml(key, value) {
  const list = format.listOf(value);
  if (key === "environment" && list)
    return `<details><summary>${format.some(list.length, "variables")}</summary><pre>${escape(list.join("\n"))}</pre></details>`;
  return escape(list ? format.shellLine(list) : String(value));
}

export class SessionPanel {
  /** @param {App} app @param {HTMLElement} place */
  constructor(app, place) {
    this.app = app;
    this.place = place;
  }

  async show() {
    this.place.innerHTML = await ofEachReport(this.app, "/api/session", (answer, loaded) => this.draw(answer, loaded));
    this.place.onclick = (event) => {
      const target = /** @type {HTMLElement | null} */ (/** @type {HTMLElement} */ (event.target).closest("[data-row]"));
      const row = target && this.app.rows.byKey.get(String(target.dataset.row));
      if (!row)
        return;
      this.app.rows.reveal(row);
      this.app.rowChosen(row);
      this.app.bringRow(row);
    };
  }

  /** @param {any} answer @param {import("../main.js").Loaded} loaded */
  draw(answer, loaded) {
    const facts = answer.facts.map((/** @type {string[]} */ [key, value]) => `<tr><td>${escape(key)}</td><td>${factHtml(key, value)}</td></tr>`).join("");
    const output = (answer.output || []).map((/** @type {any} */ o) => `<h3>${escape(o.name)}</h3><pre>${escape(o.text)}</pre>`).join("");
    return `<div class="columns"><table class="facts">${facts}</table><div>${this.processes(answer.processes || [], loaded)}${output}</div></div>`;
  }

  /** @param {any[]} processes @param {import("../main.js").Loaded} loaded */
  processes(processes, loaded) {
    const rows = processes.slice(0, MOST_PROCESSES).map((p) => {
      const name = p.row === undefined ? escape(p.name || "") : `<button class="link" data-row="${loaded.number}/${p.row}">${escape(p.name || "")}</button>`;
      return `<tr><td class="number">${p.pid}</td><td>${name}</td><td class="number">${p.start === null ? "" : format.moment(p.start, 1e6)}</td><td class="number">${p.end === null ? "" : format.moment(p.end, 1e6)}</td><td title="${escape(p.command || "")}">${escape(p.command || "")}</td></tr>`;
    });
    const more = processes.length > MOST_PROCESSES ? `<p class="faint">The first ${MOST_PROCESSES} of ${format.count(processes.length)}.</p>` : "";
    return rows.length ? `<table class="statistics"><thead><tr><th class="number">Pid</th><th>Process</th><th class="number">Start</th><th class="number">End</th><th>Command</th></tr></thead>${rows.join("")}</table>${more}` : "";
  }
}

// How the recording was made, and what the program printed where that was kept.
import * as format from "../format.js";
import { headsHtml, ofEachReport } from "./panel.js";

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

/** @param {any} one process @param {import("../main.js").Loaded} loaded */
function processHtml(one, loaded) {
  const name = escape(one.name || "");
  const link = one.row === undefined ? name : `<button class="link" data-row="${loaded.number}/${one.row}">${name}</button>`;
  const momentOf = (/** @type {number | null} */ time) => (time === null ? "" : format.moment(time, 1e6));
  const command = escape(one.command || "");
  return `<tr><td class="number">${one.pid}</td><td>${link}</td><td class="number">${momentOf(one.start)}</td>` +
    `<td class="number">${momentOf(one.end)}</td><td title="${command}">${command}</td></tr>`;
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
    const lineHtml = (/** @type {string[]} */ [key, value]) => `<tr><td>${escape(key)}</td><td>${factHtml(key, value)}</td></tr>`;
    const facts = answer.facts.map(lineHtml).join("");
    const output = (answer.output || []).map((/** @type {any} */ o) => `<h3>${escape(o.name)}</h3><pre>${escape(o.text)}</pre>`).join("");
    const processes = this.processes(answer.processes || [], loaded);
    return `<div class="columns"><table class="facts">${facts}</table><div>${processes}${output}</div></div>`;
  }

  /** @param {any[]} processes @param {import("../main.js").Loaded} loaded */
  processes(processes, loaded) {
    if (!processes.length)
      return "";
    const heads = headsHtml([["Pid", true], ["Process"], ["Start", true], ["End", true], ["Command"]]);
    const rows = processes.slice(0, MOST_PROCESSES).map((one) => processHtml(one, loaded)).join("");
    const more = processes.length > MOST_PROCESSES ?
      `<p class="faint">The first ${MOST_PROCESSES} of ${format.count(processes.length)}.</p>` : "";
    return `<table class="statistics">${heads}${rows}</table>${more}`;
  }
}

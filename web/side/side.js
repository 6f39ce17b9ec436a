// The panel at the right: findings, the event that is picked, sums of a span, search results.
import { json } from "../api.js";
import * as format from "../format.js";
import { hasFunctions, nameIn, shortName } from "../names.js";
import { cellText, headText } from "../panels/panel.js";
import { missingHtml } from "./missing.js";
import { eventHtml } from "./event.js";
import { namesHtml, sumsHtml } from "./span.js";

/** @typedef {import("../main.js").App} App */

const escape = format.escapeHtml;
const MOST_MATCHES = 200;
const MOST_SUMMED = 12;
/** So long, in ms, the window rests before it is asked what took the time in it. */
const REST = 500;

export class Side {
  /** @param {App} app */
  constructor(app) {
    this.app = app;
    this.element = /** @type {HTMLElement} */ (document.getElementById("side"));
    this.element.addEventListener("click", (event) => this.click(event));
    /** @type {any[]} what the links of the panel lead to */
    this.targets = [];
    /** @type {Array<[any, import("../main.js").Loaded]>} what each report's findings are */
    this.findings = [];
    /** What the sums that stand in their place are of: empty where it is all. */
    this.of = "";
    this.asking = false;
    this.timer = 0;
    /** What was chosen last: a measured span goes before the event that was picked earlier. */
    this.spanFirst = false;
  }

  /** @param {any} target @param {string} text @param {string} [title] */
  link(target, text, title = "") {
    this.targets.push(target);
    return `<button class="link" data-target="${this.targets.length - 1}" title="${escape(title)}">${escape(text)}</button>`;
  }

  /** What an event is called. @param {any} event @param {number} [report] that of the event that is picked */
  nameOf(event, report = this.app.view.picked?.report ?? 0) {
    return nameIn(this.app.rows.find(report, event.row)?.kind, event.name || "?");
  }

  /** @param {string} text */
  copy(text) {
    this.targets.push({ copy: text });
    return `<button class="copy" data-target="${this.targets.length - 1}" title="Copy">copy</button>`;
  }

  /** @param {MouseEvent} event */
  click(event) {
    const target = /** @type {HTMLElement | null} */ (/** @type {HTMLElement} */ (event.target).closest("[data-target]"));
    const what = target && this.targets[Number(target.dataset.target)];
    if (!what)
      return;
    const { app } = this;
    if (what.copy !== undefined) {
      navigator.clipboard?.writeText(what.copy);
      target.textContent = "copied";
    } else if (what.finding) {
      app.goFinding(what.finding, what.row);
    } else if (what.kernel) {
      app.kernels.goTo(what.kernel.report, what.kernel.id);
    } else if (what.search) {
      app.search.restore(what.search);
    } else if (what.row?.label !== undefined) {
      app.rows.reveal(what.row);
      app.bringRow(what.row);
      app.rowChosen(what.row);
    } else {
      app.go({ report: app.view.picked?.report ?? 0, ...what });
    }
  }

  /** @param {string} html */
  set(html) {
    this.element.innerHTML = html;
    this.element.scrollTop = 0;
  }

  /** What matters most now: an event, a span, a search, else the findings. */
  show() {
    const { app } = this;
    if (app.details && app.view.picked && !(this.spanFirst && app.view.span))
      this.showEvent();
    else if (app.view.span)
      this.showSpan();
    else if (app.search.text)
      this.showSearch();
    else {
      this.putFindings();
      this.viewChanged();
    }
  }

  /** What took the time is asked again for another window, once that rests. */
  viewChanged() {
    window.clearTimeout(this.timer);
    this.timer = 0;
    if (this.part() !== this.of && this.findings.some(([answer]) => !answer.findings.length) && !this.app.view.picked && !this.app.view.span && !this.app.search.text)
      this.timer = window.setTimeout(() => {
        this.timer = 0;
        if (this.part() !== this.of && !this.asking)
          this.showFindings();
      }, REST);
  }

  /** The window, where that is not all of the recordings. */
  part() {
    const { from, to, first, last } = this.app.view;
    return from <= first && to >= last ? "" : `${Math.round(from)}/${Math.round(to)}`;
  }

  async showFindings() {
    const found = [];
    const of = this.part();
    this.asking = true;
    const [from, to] = of.split("/").map(Number);
    for (const loaded of this.app.loaded) {
      const part = of ? { from: Math.max(0, Math.round(from - loaded.offset)), to: Math.max(0, Math.round(to - loaded.offset)) } : {};
      const answer = await this.app.attempt(() => json("/api/findings", { report: loaded.number, ...part }));
      /* No report of statistics has anything, as of slices of another tool: by what they are called. */
      if (answer && !answer.findings.length && !answer.instead?.length)
        answer.sums = await json("/api/sums", { report: loaded.number, from: part.from ?? 0, to: part.to ?? loaded.length }).catch(() => null);
      if (answer)
        found.push(/** @type {[any, import("../main.js").Loaded]} */ ([answer, loaded]));
    }
    this.asking = false;
    this.of = of;
    this.findings = found;
    this.app.overview.findings = found.flatMap(([answer, loaded]) => answer.findings.filter((/** @type {any} */ f) => f.start !== null && f.end !== null)
      .map((/** @type {any} */ f) => [f.start + loaded.offset, f.end + loaded.offset]));
    this.app.timeline.redraw();
    if (!this.app.view.picked && !this.app.view.span && !this.app.search.text)
      this.putFindings();
    this.viewChanged();
  }

  putFindings() {
    this.targets = [];
    this.set(this.findings.map(([answer, loaded]) => (this.app.loaded.length > 1 ? `<h2 class="of">${escape(loaded.facts.name)}</h2>` : "") + this.findingsHtml(answer, loaded)).join(""));
  }

  /** @param {any} answer @param {import("../main.js").Loaded} loaded */
  findingsHtml(answer, loaded) {
    const list = answer.findings.map((/** @type {any} */ finding) => {
      const has = finding.start !== null && finding.end !== null;
      const row = finding.row !== undefined ? this.app.rows.find(loaded.number, finding.row) : undefined;
      const target = { finding: [finding.start + loaded.offset, finding.end + loaded.offset], row };
      const gain = finding.gain ? `<div class="gain">would give back up to ${format.duration(finding.gain)}</div>` : "";
      return `<li class="severity${finding.severity}">${has ? this.link(target, finding.title) : `<b>${escape(finding.title)}</b>`}<div>${escape(finding.text || "")}</div>${gain}</li>`;
    });
    if (list.length)
      return `<h2>Findings</h2><ol class="findings">${list.join("")}</ol>`;
    const tables = (answer.instead || []).map((/** @type {any} */ table) => this.smallTable(table)).join("") || (answer.sums?.names.length ? namesHtml(this, answer.sums, MOST_SUMMED) : "");
    const missing = missingHtml(loaded, [...this.app.rows.byKey.values()].filter((row) => row.report === loaded.number));
    const notes = (loaded.facts.notes || []).map((/** @type {string} */ note) => `<p class="note">${escape(note)}</p>`).join("");
    const [from, to] = this.of.split("/").map(Number);
    const of = this.of ? `in the window: ${format.duration(to - from)} from ${format.moment(from, 1)}` : "in the whole recording";
    return `<h2>What took the time</h2><div class="faint">${of}</div>${notes}${tables || `<p class="empty">Nothing was recorded that could be summed up.</p>`}${missing}`;
  }

  /** @param {any} table */
  smallTable(table) {
    /* A column that has the whole in it, a name and two numbers are as much as there is room for. */
    const columns = table.columns.slice(0, 4);
    const told = (/** @type {string} */ text, /** @type {string} */ column) => (hasFunctions(table.name, column) ? shortName(text) : text);
    const head = columns.map((/** @type {any} */ c) => `<th class="${c.number ? "number" : ""}" title="${escape(c.name)}">${escape(headText(c))}</th>`).join("");
    const rows = table.rows.slice(0, 5).map((/** @type {any[]} */ row) => `<tr>${columns.map((/** @type {any} */ column, /** @type {number} */ i) => {
      const text = column.number ? cellText(row[i], column) : told(String(row[i] ?? "").replace(/^:/, ""), column.name);
      return `<td class="${column.number ? "number" : ""}" title="${escape(String(row[i] ?? ""))}">${column.number || !row[i] ? escape(text) : this.link({ search: String(row[i]).replace(/^[^:]*:(?!:)/, "") }, text, String(row[i]))}</td>`;
    }).join("")}</tr>`);
    return `<h3>${escape(table.title)}</h3><table class="small"><thead><tr>${head}</tr></thead>${rows.join("")}</table>`;
  }

  showEvent() {
    const { details, view, rows } = this.app;
    if (!details || !view.picked)
      return;
    const row = rows.find(view.picked.report, view.picked.row);
    this.targets = [];
    this.set(eventHtml(this, details, [row?.above?.label, row?.label].filter(Boolean).join(" › ")));
  }

  async showSpan() {
    const { span } = this.app.view;
    if (!span)
      return;
    const all = [];
    for (const loaded of this.app.loaded) {
      const sums = await this.app.attempt(() => json("/api/sums", { report: loaded.number, from: Math.round(span[0] - loaded.offset), to: Math.round(span[1] - loaded.offset) }));
      if (sums)
        all.push({ sums, loaded });
    }
    if (this.app.view.span !== span || (this.app.details && !this.spanFirst))
      return;
    this.targets = [];
    const head = `<h2>${format.duration(span[1] - span[0])} <span class="faint">${format.exact(span[1] - span[0])}</span></h2><div class="faint">from ${format.moment(span[0], 1)}</div>`;
    this.set(head + all.map(({ sums, loaded }) => (this.app.loaded.length > 1 ? `<h2 class="of">${escape(loaded.facts.name)}</h2>` : "") + sumsHtml(this, sums, span[1] - span[0], loaded.number)).join(""));
  }

  showSearch() {
    const { search, view } = this.app;
    if (!search.text)
      return this.show();
    if ((view.picked && search.at >= 0) || view.span)
      return undefined;
    this.targets = [];
    const list = search.matches.slice(0, MOST_MATCHES).map((match) => `<li>${this.link(match, this.nameOf(match, match.report), match.name)} <span class="faint">${format.moment(match.start, 1000)}</span></li>`).join("");
    const rows = [...this.app.rows.byKey.values()].filter((row) => row.found && !row.children.length).sort((a, b) => b.found - a.found).slice(0, 12)
      .map((row) => `<tr><td>${this.link({ row }, [row.above?.label, row.label].filter(Boolean).join(" › "))}</td><td class="number">${format.count(row.found)}</td></tr>`).join("");
    this.set(`<h2>${format.some(search.total, "events")} with “${escape(search.text)}”</h2>${search.total ? `<table class="small">${rows}</table><h3>In order of time</h3><ol class="matches">${list}</ol>` :
      `<p class="empty">Neither names nor arguments have it.</p>`}`);
    return undefined;
  }
}

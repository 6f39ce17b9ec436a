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

/**
 * Where findings are on the common axis, those that have a place.
 * @param {any[]} findings @param {import("../main.js").Loaded} loaded @returns {Array<[number, number]>}
 */
function placesOf(findings, loaded) {
  const placed = findings.filter((finding) => finding.start !== null && finding.end !== null);
  return placed.map((finding) => [finding.start + loaded.offset, finding.end + loaded.offset]);
}

/** @param {any} column */
function smallHead(column) {
  return `<th class="${column.number ? "number" : ""}" title="${escape(column.name)}">${escape(headText(column))}</th>`;
}

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

  /** Whether something else than the findings is looked at: an event, a span, a search. */
  hasOther() {
    return Boolean(this.app.view.picked || this.app.view.span || this.app.search.text);
  }

  /** What took the time is asked again for another window, once that rests. */
  viewChanged() {
    window.clearTimeout(this.timer);
    this.timer = 0;
    const isBare = this.findings.some(([answer]) => !answer.findings.length);
    if (this.part() !== this.of && isBare && !this.hasOther())
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

  /** A span of the common axis as a report counts. @param {[number, number]} span @param {import("../main.js").Loaded} loaded */
  within([from, to], loaded) {
    return { from: Math.max(0, Math.round(from - loaded.offset)), to: Math.max(0, Math.round(to - loaded.offset)) };
  }

  /** What the server finds in a report, in a part of it or in all. @param {import("../main.js").Loaded} loaded @param {string} of */
  async findingsOf(loaded, of) {
    const [from, to] = of.split("/").map(Number);
    const part = of ? this.within([from, to], loaded) : {};
    const answer = await this.app.attempt(() => json("/api/findings", { report: loaded.number, ...part }));
    /* No report of statistics has anything, as of slices of another tool: by what they are called. */
    if (answer && !answer.findings.length && !answer.instead?.length) {
      const whole = { report: loaded.number, from: 0, to: loaded.length };
      answer.sums = await json("/api/sums", { ...whole, ...part }).catch(() => null);
    }
    return answer;
  }

  async showFindings() {
    const found = [];
    const of = this.part();
    this.asking = true;
    for (const loaded of this.app.loaded) {
      const answer = await this.findingsOf(loaded, of);
      if (answer)
        found.push(/** @type {[any, import("../main.js").Loaded]} */ ([answer, loaded]));
    }
    this.asking = false;
    this.of = of;
    this.findings = found;
    this.app.overview.findings = found.flatMap(([answer, loaded]) => placesOf(answer.findings, loaded));
    this.app.timeline.redraw();
    if (!this.hasOther())
      this.putFindings();
    this.viewChanged();
  }

  /** Whose it is, where there are several. @param {import("../main.js").Loaded} loaded */
  headOf(loaded) {
    return this.app.loaded.length > 1 ? `<h2 class="of">${escape(loaded.facts.name)}</h2>` : "";
  }

  putFindings() {
    this.targets = [];
    this.set(this.findings.map(([answer, loaded]) => this.headOf(loaded) + this.findingsHtml(answer, loaded)).join(""));
  }

  /** @param {any} finding @param {import("../main.js").Loaded} loaded */
  findingHtml(finding, loaded) {
    const row = finding.row !== undefined ? this.app.rows.find(loaded.number, finding.row) : undefined;
    const [place] = placesOf([finding], loaded);
    const gain = finding.gain ? `<div class="gain">would give back up to ${format.duration(finding.gain)}</div>` : "";
    const title = place ? this.link({ finding: place, row }, finding.title) : `<b>${escape(finding.title)}</b>`;
    return `<li class="severity${finding.severity}">${title}<div>${escape(finding.text || "")}</div>${gain}</li>`;
  }

  /** @param {any} answer @param {import("../main.js").Loaded} loaded */
  findingsHtml(answer, loaded) {
    const list = answer.findings.map((/** @type {any} */ finding) => this.findingHtml(finding, loaded));
    return list.length ? `<h2>Findings</h2><ol class="findings">${list.join("")}</ol>` : this.insteadHtml(answer, loaded);
  }

  /** Without findings: what took the time. @param {any} answer @param {import("../main.js").Loaded} loaded */
  insteadHtml(answer, loaded) {
    const tables = (answer.instead || []).map((/** @type {any} */ table) => this.smallTable(table)).join("");
    const names = !tables && answer.sums?.names.length ? namesHtml(this, answer.sums, MOST_SUMMED) : "";
    const missing = missingHtml(loaded, [...this.app.rows.byKey.values()].filter((row) => row.report === loaded.number));
    const notes = (loaded.facts.notes || []).map((/** @type {string} */ note) => `<p class="note">${escape(note)}</p>`).join("");
    const [from, to] = this.of.split("/").map(Number);
    const of = this.of ? `in the window: ${format.duration(to - from)} from ${format.moment(from, 1)}` : "in the whole recording";
    const said = tables || names || `<p class="empty">Nothing was recorded that could be summed up.</p>`;
    return `<h2>What took the time</h2><div class="faint">${of}</div>${notes}${said}${missing}`;
  }

  /** A cell of a small table: names lead to a search for them. @param {any} cell @param {any} column @param {string} table */
  smallCell(cell, column, table) {
    const whole = String(cell ?? "");
    if (column.number)
      return `<td class="number" title="${escape(whole)}">${escape(cellText(cell, column))}</td>`;
    const bare = whole.replace(/^:/, "");
    const text = hasFunctions(table, column.name) ? shortName(bare) : bare;
    const name = cell ? this.link({ search: whole.replace(/^[^:]*:(?!:)/, "") }, text, whole) : escape(text);
    return `<td class="" title="${escape(whole)}">${name}</td>`;
  }

  /** @param {any} table */
  smallTable(table) {
    /* A column that has the whole in it, a name and two numbers are as much as there is room for. */
    const columns = table.columns.slice(0, 4);
    const cellsOf = (/** @type {any[]} */ row) =>
      columns.map((/** @type {any} */ column, /** @type {number} */ i) => this.smallCell(row[i], column, table.name));
    const rowHtml = (/** @type {any[]} */ row) => `<tr>${cellsOf(row).join("")}</tr>`;
    const head = columns.map(smallHead).join("");
    const rows = table.rows.slice(0, 5).map(rowHtml);
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
      const [from, to] = span.map((time) => Math.round(time - loaded.offset));
      const sums = await this.app.attempt(() => json("/api/sums", { report: loaded.number, from, to }));
      if (sums)
        all.push({ sums, loaded });
    }
    if (this.app.view.span !== span || (this.app.details && !this.spanFirst))
      return;
    this.targets = [];
    const length = span[1] - span[0];
    const head = `<h2>${format.duration(length)} <span class="faint">${format.exact(length)}</span></h2>` +
      `<div class="faint">from ${format.moment(span[0], 1)}</div>`;
    const sumsOf = all.map(({ sums, loaded }) => this.headOf(loaded) + sumsHtml(this, sums, length, loaded.number));
    this.set(head + sumsOf.join(""));
  }

  /** @param {import("../search.js").Match} match */
  matchHtml(match) {
    const name = this.link(match, this.nameOf(match, match.report), match.name);
    return `<li>${name} <span class="faint">${format.moment(match.start, 1000)}</span></li>`;
  }

  /** Rows with the most matches. */
  foundRows() {
    const found = [...this.app.rows.byKey.values()].filter((row) => row.found && !row.children.length);
    const rowHtml = (/** @type {import("../timeline/rows.js").Row} */ row) => {
      const link = this.link({ row }, [row.above?.label, row.label].filter(Boolean).join(" › "));
      return `<tr><td>${link}</td><td class="number">${format.count(row.found)}</td></tr>`;
    };
    return found.sort((a, b) => b.found - a.found).slice(0, 12).map(rowHtml).join("");
  }

  showSearch() {
    const { search, view } = this.app;
    if (!search.text)
      return this.show();
    if ((view.picked && search.at >= 0) || view.span)
      return undefined;
    this.targets = [];
    const list = search.matches.slice(0, MOST_MATCHES).map((match) => this.matchHtml(match)).join("");
    const found = `<table class="small">${this.foundRows()}</table><h3>In order of time</h3><ol class="matches">${list}</ol>`;
    this.set(`<h2>${format.some(search.total, "events")} with “${escape(search.text)}”</h2>` +
      (search.total ? found : `<p class="empty">Neither names nor arguments have it.</p>`));
    return undefined;
  }
}

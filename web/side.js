// The panel at the right: findings, the event that is picked, sums of a span, search results.
import { json } from "./api.js";
import * as format from "./format.js";
import { shortName } from "./draw.js";

/** @typedef {import("./main.js").App} App */

const escape = format.escapeHtml;

/** Bars of a histogram, the one with this duration marked. @param {number[][]} histogram @param {number} duration */
export function histogram(histogram, duration) {
  const most = Math.max(...histogram.map((bar) => bar[2]), 1);
  const bars = histogram.map(([from, to, count], i) => {
    const height = count ? Math.max(2, Math.round((40 * count) / most)) : 0;
    const here = duration >= from && (duration < to || i === histogram.length - 1);
    return `<span class="bar${here ? " here" : ""}" style="height:${height}px" title="${format.duration(from)} to ${format.duration(to)}: ${format.count(count)}"></span>`;
  });
  const first = histogram[0];
  const last = histogram[histogram.length - 1];
  return `<div class="histogram" role="img" aria-label="Durations of all events of this name">${bars.join("")}</div>` +
    `<div class="axis"><span>${format.duration(first[0])}</span><span>${format.duration(last[1])}</span></div>`;
}

export class Side {
  /** @param {App} app */
  constructor(app) {
    this.app = app;
    this.element = /** @type {HTMLElement} */ (document.getElementById("side"));
    this.element.addEventListener("click", (event) => this.click(event));
    /** @type {any[]} what the links of the panel lead to */
    this.targets = [];
  }

  /** @param {any} target @param {string} text @param {string} [title] */
  link(target, text, title = "") {
    this.targets.push(target);
    return `<button class="link" data-target="${this.targets.length - 1}" title="${escape(title)}">${escape(text)}</button>`;
  }

  /** @param {MouseEvent} event */
  click(event) {
    const target = /** @type {HTMLElement} */ (event.target).closest("[data-target]");
    const what = target && this.targets[Number(/** @type {HTMLElement} */ (target).dataset.target)];
    if (!what)
      return;
    if (what.copy)
      navigator.clipboard?.writeText(what.copy);
    else if (what.span)
      this.app.fit(what.span[0], what.span[1]);
    else
      this.app.go({ report: this.app.view.picked?.report ?? 0, ...what });
  }

  /** @param {string} html */
  set(html) {
    this.element.innerHTML = html;
  }

  async showFindings() {
    this.targets = [];
    const parts = [];
    for (const loaded of this.app.loaded) {
      const answer = await this.app.attempt(() => json("/api/findings", { report: loaded.number }));
      if (answer)
        parts.push(this.findings(answer, loaded));
    }
    if (!this.app.view.picked && !this.app.view.span)
      this.set(parts.join(""));
  }

  /** @param {any} answer @param {import("./main.js").Loaded} loaded */
  findings(answer, loaded) {
    const list = answer.findings.map((/** @type {any} */ finding) => {
      const span = finding.start !== null && finding.end !== null ? { span: [finding.start + loaded.offset, finding.end + loaded.offset] } : null;
      const gain = finding.gain ? `<div class="gain">would give back up to ${format.duration(finding.gain)}</div>` : "";
      return `<li class="severity${finding.severity}">${span ? this.link(span, finding.title) : `<b>${escape(finding.title)}</b>`}<div>${escape(finding.text || "")}</div>${gain}</li>`;
    });
    if (list.length)
      return `<h2>Findings</h2><ol class="findings">${list.join("")}</ol>`;
    const tables = (answer.instead || []).map((/** @type {any} */ table) => this.smallTable(table)).join("");
    return `<h2>What took the time</h2>${tables || `<p class="empty">Nothing was recorded that could be summed up.</p>`}`;
  }

  /** @param {any} table */
  smallTable(table) {
    const rows = table.rows.slice(0, 5).map((/** @type {any[]} */ row) => `<tr>${row.map((cell, i) =>
      `<td class="${table.columns[i].number ? "number" : ""}" title="${escape(String(cell))}">${escape(table.columns[i].number ? String(cell) : shortName(String(cell)))}</td>`).join("")}</tr>`);
    return `<h3>${escape(table.title)}</h3><table class="small"><thead><tr>${table.columns.map((/** @type {any} */ c) => `<th>${escape(c.name)}</th>`).join("")}</tr></thead>${rows.join("")}</table>`;
  }

  showEvent() {
    const details = this.app.details;
    const picked = this.app.view.picked;
    if (!details || !picked)
      return this.app.view.span ? this.showSpan() : this.showFindings();
    this.targets = [];
    const length = details.end - details.start;
    const row = this.app.rows.find(picked.report, picked.row);
    const parts = [
      `<h2 class="event" title="${escape(details.name || "")}">${escape(shortName(details.name || "?"))}</h2>`,
      details.name && shortName(details.name) !== details.name ? `<div class="whole">${escape(details.name)}</div>` : "",
      `<table class="facts"><tr><td>Duration</td><td>${format.duration(length)} <span class="faint">${format.exact(length)}</span></td></tr>`,
      `<tr><td>Start</td><td>${format.moment(details.start, 1)}</td></tr><tr><td>Row</td><td>${escape(row?.label || "")}</td></tr>`,
      ...(details.arguments || []).filter((/** @type {string[]} */ [key]) => key !== "full name").map((/** @type {string[]} */ [key, value]) => `<tr><td>${escape(key)}</td><td>${escape(String(value))}</td></tr>`), `</table>`,
      this.linked(details), this.parents(details), details.statistics ? this.statistics(details, length) : "", this.stack(details), this.command(details),
    ];
    this.set(parts.join(""));
    return undefined;
  }

  /** @param {any} details */
  linked(details) {
    const ROLES = /** @type {Record<string, string>} */ ({ caller: "Started by", work: "Started", waker: "Woken by" });
    return (details.linked || []).map((/** @type {any} */ other) => `<div class="linked">${ROLES[other.role] || "Belongs to"} ${this.link(other, shortName(other.name || "?"), other.name)} ` +
      `<span class="faint">${format.duration(Math.abs(other.start - details.start))} ${other.start < details.start ? "before" : "later"}</span></div>`).join("");
  }

  /** @param {any} details */
  parents(details) {
    if (!details.parents?.length)
      return "";
    return `<h3>Within</h3><ul class="parents">${details.parents.map((/** @type {any} */ p) => `<li>${this.link(p, p.name || "?")} <span class="faint">${format.duration(p.end - p.start)}</span></li>`).join("")}</ul>`;
  }

  /** @param {any} details @param {number} length */
  statistics(details, length) {
    const s = details.statistics;
    const step = [details.previous && this.link(details.previous, "‹ previous"), details.next && this.link(details.next, "next ›")].filter(Boolean).join(" ");
    return `<h3>All of this name</h3><table class="facts"><tr><td>Events</td><td>${format.count(s.count)}${s.rank ? `, this is the ${format.count(s.rank)}. longest` : ""}</td></tr>` +
      `<tr><td>Total</td><td>${format.duration(s.total)}</td></tr><tr><td>Median</td><td>${format.duration(s.median)}</td></tr>` +
      `<tr><td>Least, most</td><td>${format.duration(s.least)}, ${format.duration(s.most)}</td></tr></table>${s.histogram?.length ? histogram(s.histogram, length) : ""}<div>${step}</div>`;
  }

  /** @param {any} details */
  stack(details) {
    return details.stack?.length ? `<h3>Call stack</h3><ol class="stack">${details.stack.map((/** @type {string} */ frame) => `<li>${escape(frame)}</li>`).join("")}</ol>` : "";
  }

  /** @param {any} details */
  command(details) {
    if (!details.command)
      return "";
    this.targets.push({ copy: details.command });
    return `<h3>Its hardware counters</h3><code class="command">${escape(details.command)}</code> <button class="link" data-target="${this.targets.length - 1}">copy</button>`;
  }

  async showSpan() {
    const { span } = this.app.view;
    if (!span)
      return;
    const parts = [`<h2>${format.duration(span[1] - span[0])} <span class="faint">${format.exact(span[1] - span[0])}</span></h2>`];
    for (const loaded of this.app.loaded) {
      const sums = await this.app.attempt(() => json("/api/sums", {
        report: loaded.number, from: Math.round(span[0] - loaded.offset), to: Math.round(span[1] - loaded.offset) }));
      if (sums)
        parts.push(this.sums(sums, span[1] - span[0]));
    }
    if (this.app.view.span === span)
      this.set(parts.join(""));
  }

  /** @param {any} sums @param {number} length */
  sums(sums, length) {
    const kinds = sums.kinds.map((/** @type {any} */ k) => `<tr><td>${escape(k.kind)}</td><td class="number">${format.duration(k.busy)}</td><td class="number">${format.percent(k.busy / length)}</td>` +
      `<td class="number">${format.count(k.count)}</td></tr>`).join("");
    const names = sums.names.slice(0, 30).map((/** @type {any} */ n) => `<tr><td title="${escape(n.name)}">${escape(shortName(n.name))}</td><td class="number">${format.duration(n.total)}</td>` +
      `<td class="number">${format.count(n.count)}</td><td class="number">${format.duration(n.mean)}</td></tr>`).join("");
    if (!kinds)
      return `<p class="empty">Nothing lies in this span.</p>`;
    return `<h3>By kind</h3><table class="small"><thead><tr><th>Kind</th><th>Busy</th><th>Share</th><th>Events</th></tr></thead>${kinds}</table>` +
      `<h3>By name</h3><table class="small"><thead><tr><th>Name</th><th>Total</th><th>Events</th><th>Mean</th></tr></thead>${names}</table>`;
  }

  showSearch() {
    const { search } = this.app;
    if (!search.text)
      return this.app.view.picked ? this.showEvent() : this.showFindings();
    if (this.app.view.picked && search.at >= 0)
      return undefined;
    this.targets = [];
    const list = search.matches.slice(0, 200).map((match) => `<li>${this.link(match, shortName(this.app.loaded[match.report].names.get(/** @type {any} */ (match).name_id) || /** @type {any} */ (match).name || "?"))} ` +
      `<span class="faint">${format.moment(match.start, 1000)}</span></li>`).join("");
    this.set(`<h2>${format.count(search.total)} events with “${escape(search.text)}”</h2><ol class="matches">${list}</ol>`);
    return undefined;
  }
}

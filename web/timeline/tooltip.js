// What is under the pointer: at once what the tiles tell, and a moment later everything the server knows.
import { json } from "../api.js";
import * as format from "../format.js";
import { valueAt, valuesBetween } from "./plot.js";
import { CLASS_NAMES } from "./colours.js";

/** @typedef {import("./rows.js").Row} Row */
/** @typedef {import("../main.js").App} App */

const DELAY = 140;
const MOST_ARGUMENTS = 12;
const MOST_FRAMES = 6;
const escape = format.escapeHtml;

export class Tooltip {
  /** @param {App} app @param {HTMLElement} element */
  constructor(app, element) {
    this.app = app;
    this.element = element;
    this.timer = 0;
    this.key = "";
    /** @type {Map<string, string>} what was told of single events */
    this.known = new Map();
  }

  hide() {
    window.clearTimeout(this.timer);
    this.timer = 0;
    this.element.hidden = true;
    this.key = "";
  }

  /** @param {MouseEvent} event */
  show(event) {
    const { timeline } = this.app;
    const hit = timeline.hit(event);
    if (!hit)
      return this.hide();
    if (hit.row.draw === "plot")
      return this.put(this.plotText(hit.row, hit.time), event);
    const slice = timeline.sliceAt(hit);
    if (!slice)
      return this.hide();
    const key = `${hit.row.report}/${hit.row.id}/${hit.laneNumber}/${slice.index}`;
    const exact = slice.busy < 0;
    this.put(this.sliceText(hit.row, slice) + (exact ? this.known.get(key) || "" : ""), event);
    if (exact && key !== this.key && !this.known.has(key))
      this.askSoon(key, hit, slice.index, event);
    this.key = key;
    return undefined;
  }

  /** @param {string} key @param {{ row: Row, laneNumber: number }} hit @param {number} index @param {MouseEvent} event */
  askSoon(key, hit, index, event) {
    window.clearTimeout(this.timer);
    this.timer = window.setTimeout(async () => {
      this.timer = 0;
      const details = await json("/api/slice", { report: hit.row.report, row: hit.row.id, lane: hit.laneNumber, index, brief: 1 }).catch(() => null);
      if (!details)
        return;
      if (this.known.size > 500)
        this.known.clear();
      this.known.set(key, this.more(details));
      if (this.key === key && !this.element.hidden)
        this.put(this.element.innerHTML + this.more(details), event);
    }, DELAY);
  }

  /** @param {any} details */
  more(details) {
    const pairs = (details.arguments || []).filter((/** @type {string[]} */ pair) => pair[0] !== "full name" || pair[1] !== details.name).slice(0, MOST_ARGUMENTS);
    const rows = pairs.map((/** @type {[string, any]} */ [key, value]) => `<tr><td>${escape(key)}</td><td>${escape(format.argument(key, value))}</td></tr>`).join("");
    const within = details.parents?.length ? `<div class="faint">in ${escape(details.parents.slice(0, 3).map((/** @type {any} */ p) => p.name).join(" ‹ "))}</div>` : "";
    const caller = (details.linked || []).filter((/** @type {any} */ l) => l.role === "caller").map((/** @type {any} */ l) => `<div class="faint">started by ${escape(l.name || "")}, ${format.duration(details.start - l.start)} before</div>`).join("");
    const stack = (details.stack || []).slice(0, MOST_FRAMES).map((/** @type {string} */ frame) => `<div class="frame">${escape(frame)}</div>`).join("");
    return `${rows ? `<table class="facts">${rows}</table>` : ""}${within}${caller}${stack}`;
  }

  /** @param {Row} row @param {number} time @returns {string} */
  plotText(row, time) {
    if (row.series)
      return row.series.map((series) => `<div>${this.plotText(series, time)}</div>`).join("");
    const { timeline } = this.app;
    const context = /** @type {CanvasRenderingContext2D} */ (timeline.canvas.getContext("2d"));
    const value = valueAt(valuesBetween(timeline.scene(context), row, time - 300 * timeline.perPixel * timeline.ratio, time), time);
    if (!value)
      return `<b>${escape(row.label)}</b><br><span class="faint">no value here</span>`;
    const amount = (/** @type {number} */ n) => escape(format.amount(n, row.unit));
    const several = value.least !== value.most;
    return `<b>${escape(row.label)}</b><br>${several ? "mean " : ""}${amount(value.mean)}${several ? ` <span class="faint">least ${amount(value.least)}, most ${amount(value.most)} within ${format.duration(value.end - value.time)}</span>` : ""}` +
      `<br><span class="faint">${value.carried ? "the last one before" : "at"} ${format.moment(value.time, 1000)}</span>`;
  }

  /** @param {Row} row @param {NonNullable<ReturnType<import("./timeline.js").Timeline["sliceAt"]>>} slice */
  sliceText(row, slice) {
    const name = escape(this.app.loaded[row.report].names.get(slice.name) || row.label);
    if (slice.busy >= 0 && row.draw === "points")
      return `<b>${format.count(slice.events)} events</b> in ${format.duration(slice.end - slice.start)}<br>${name}`;
    if (slice.busy >= 0)
      return `<b>${format.count(slice.events)} events</b> begin here, ${format.percent(slice.busy)} of ${format.duration(slice.end - slice.start)} busy<br>most of it: ${name}`;
    const length = slice.end - slice.start;
    return `<b>${name}</b><br>${length ? `${format.duration(length)} <span class="faint">${format.exact(length)}</span><br>` : ""}` +
      `<span class="faint">from ${format.moment(slice.start, 1)}, ${CLASS_NAMES[slice.kind] || ""}</span>`;
  }

  /** @param {string} html @param {MouseEvent} event */
  put(html, event) {
    this.element.innerHTML = html;
    this.element.hidden = false;
    const box = this.element.getBoundingClientRect();
    const below = event.clientY + 16 + box.height < window.innerHeight;
    this.element.style.left = `${Math.max(4, Math.min(event.clientX + 14, window.innerWidth - box.width - 8))}px`;
    this.element.style.top = `${below ? event.clientY + 16 : Math.max(4, event.clientY - box.height - 10)}px`;
    return undefined;
  }
}

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

/** @param {[string, any]} pair */
function argumentHtml([key, value]) {
  return `<tr><td>${escape(key)}</td><td>${escape(format.argument(key, value))}</td></tr>`;
}

/** What an event lies in, the nearest first. @param {any} details */
function withinHtml(details) {
  const names = (details.parents || []).slice(0, 3).map((/** @type {any} */ parent) => parent.name);
  return names.length ? `<div class="faint">in ${escape(names.join(" ‹ "))}</div>` : "";
}

/** @param {any} other what started it @param {number} start */
function callerHtml(other, start) {
  return `<div class="faint">started by ${escape(other.name || "")}, ${format.duration(start - other.start)} before</div>`;
}

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
      const { row, laneNumber: lane } = hit;
      const details = await json("/api/slice", { report: row.report, row: row.id, lane, index, brief: 1 }).catch(() => null);
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
    const isNews = (/** @type {string[]} */ [key, value]) => key !== "full name" || value !== details.name;
    const rows = (details.arguments || []).filter(isNews).slice(0, MOST_ARGUMENTS).map(argumentHtml);
    const callers = (details.linked || []).filter((/** @type {any} */ other) => other.role === "caller");
    const caller = callers.map((/** @type {any} */ other) => callerHtml(other, details.start)).join("");
    const frameHtml = (/** @type {string} */ frame) => `<div class="frame">${escape(frame)}</div>`;
    const stack = (details.stack || []).slice(0, MOST_FRAMES).map(frameHtml);
    return `${rows.length ? `<table class="facts">${rows.join("")}</table>` : ""}${withinHtml(details)}${caller}${stack.join("")}`;
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
    const within = `least ${amount(value.least)}, most ${amount(value.most)} within ${format.duration(value.end - value.time)}`;
    const said = several ? `mean ${amount(value.mean)} <span class="faint">${within}</span>` : amount(value.mean);
    return `<b>${escape(row.label)}</b><br>${said}` +
      `<br><span class="faint">${value.carried ? "the last one before" : "at"} ${format.moment(value.time, 1000)}</span>`;
  }

  /** @param {Row} row @param {NonNullable<ReturnType<import("./timeline.js").Timeline["sliceAt"]>>} slice */
  sliceText(row, slice) {
    const name = escape(this.app.loaded[row.report].names.get(slice.name) || row.label);
    if (slice.busy >= 0 && row.draw === "points")
      return `<b>${format.count(slice.events)} events</b> in ${format.duration(slice.end - slice.start)}<br>${name}`;
    if (slice.busy >= 0)
      return `<b>${format.count(slice.events)} events</b> begin here, ` +
        `${format.percent(slice.busy)} of ${format.duration(slice.end - slice.start)} busy<br>most of it: ${name}`;
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

// The timeline: rows, their labels, the ruler, and everything one does with the mouse in it.
import { drawRow } from "./draw.js";
import * as format from "./format.js";
import { summary } from "./rows.js";
import { levelFor, tileSpan } from "./tiles.js";

export const LABELS = 250;

/** @typedef {import("./rows.js").Row} Row */
/** @typedef {import("./main.js").App} App */

/** @param {string} id */
const element = (id) => /** @type {HTMLElement} */ (document.getElementById(id));

/** Round steps of 1, 2 or 5 times a power of ten. @param {number} perPixel */
export function rulerStep(perPixel) {
  const least = perPixel * 110;
  const power = 10 ** Math.floor(Math.log10(least));
  return [1, 2, 5, 10].map((n) => n * power).find((step) => step >= least) || 10 * power;
}

export class Timeline {
  /** @param {App} app */
  constructor(app) {
    this.app = app;
    this.scroll = element("scroll");
    this.space = element("space");
    this.pane = element("pane");
    this.labels = element("labels");
    this.canvas = /** @type {HTMLCanvasElement} */ (element("canvas"));
    this.ruler = /** @type {HTMLCanvasElement} */ (element("ruler"));
    this.tooltip = element("tooltip");
    this.frame = 0;
    this.width = 100;
    this.height = 100;
    /** @type {number[]} the last frames' times */
    this.times = [];
    /** @type {null | { kind: "pan" | "span", x: number, from: number, to: number, moved: boolean }} */
    this.drag = null;
    this.scroll.addEventListener("scroll", () => this.redraw());
    new ResizeObserver(() => this.resize()).observe(this.scroll);
    this.listen();
    this.resize();
  }

  resize() {
    const ratio = window.devicePixelRatio || 1;
    this.width = Math.max(this.scroll.clientWidth - LABELS, 50);
    this.height = Math.max(this.scroll.clientHeight, 50);
    for (const [canvas, width, height] of /** @type {Array<[HTMLCanvasElement, number, number]>} */ ([
      [this.canvas, this.width, this.height], [this.ruler, this.width + LABELS, 26]])) {
      canvas.width = Math.round(width * ratio);
      canvas.height = Math.round(height * ratio);
      canvas.style.width = `${width}px`;
      canvas.style.height = `${height}px`;
    }
    this.pane.style.height = `${this.height}px`;
    this.redraw();
  }

  redraw() {
    if (!this.frame)
      this.frame = requestAnimationFrame(() => {
        this.frame = 0;
        this.draw();
      });
  }

  get perPixel() {
    return (this.app.view.to - this.app.view.from) / this.width;
  }

  /** @param {number} clientX */
  timeAt(clientX) {
    return this.app.view.from + (clientX - this.canvas.getBoundingClientRect().left) * this.perPixel;
  }

  /** @param {number} time */
  xOf(time) {
    return (time - this.app.view.from) / this.perPixel;
  }

  /** @param {Row} row */
  yOf(row) {
    return row.top - this.scroll.scrollTop;
  }

  draw() {
    const began = performance.now();
    const { app } = this;
    const ratio = window.devicePixelRatio || 1;
    const context = /** @type {CanvasRenderingContext2D} */ (this.canvas.getContext("2d"));
    const top = this.scroll.scrollTop;
    const rows = app.rows.between(top, top + this.height);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, this.width, this.height);
    context.font = "12px system-ui, sans-serif";
    this.space.style.height = `${app.rows.height + 40}px`;
    this.drawSpan(context);
    const wanted = this.drawRows(context, rows, top, ratio);
    for (const [report, tiles] of wanted)
      app.loaded[report].tiles.want(levelFor(this.perPixel / ratio), tiles);
    this.drawArrow(context, top);
    this.drawLabels(rows, top);
    this.drawRuler(ratio);
    app.overview.draw();
    this.times.push(performance.now() - began);
    if (this.times.length > 240)
      this.times.shift();
  }

  /** @param {CanvasRenderingContext2D} context @param {Row[]} rows @param {number} top @param {number} ratio */
  drawRows(context, rows, top, ratio) {
    const { app } = this;
    /** @type {Map<number, Array<[number, number]>>} */
    const wanted = new Map();
    const scene = {
      context, width: this.width, ratio, from: app.view.from, perPixel: this.perPixel, mode: app.colourMode, ink: app.ink,
      report: (/** @type {number} */ i) => app.loaded[i], picked: app.view.picked, pickedName: app.pickedName, search: app.search.text,
    };
    for (const row of rows) {
      const y = row.top - top;
      context.fillStyle = row.draw === "group" ? app.ink.groupRow : app.ink.row;
      context.fillRect(0, y, this.width, row.height - 1);
      const list = wanted.get(row.report) || [];
      list.push(...drawRow(scene, row, y));
      wanted.set(row.report, list);
    }
    return wanted;
  }

  /** @param {CanvasRenderingContext2D} context */
  drawSpan(context) {
    const { span } = this.app.view;
    if (!span)
      return;
    context.fillStyle = this.app.ink.span;
    context.fillRect(this.xOf(span[0]), 0, Math.max(this.xOf(span[1]) - this.xOf(span[0]), 1), this.height);
  }

  /** From a call to the work it started; where one end is not in sight, the arrow leads to the edge.
   * @param {CanvasRenderingContext2D} context @param {number} top */
  drawArrow(context, top) {
    const link = this.app.link;
    if (!link)
      return;
    const [from, to] = [link.from, link.to].map((end) => {
      const row = this.app.rows.find(end.report, end.row);
      const shown = row && this.app.rows.shown.includes(row) ? row : null;
      const x = this.xOf(end.time + this.app.loaded[end.report].offset);
      return { x: Math.max(-4, Math.min(this.width + 4, x)), y: shown ? shown.top - top + 2 + end.lane * 18 + 9 : -10 };
    });
    context.strokeStyle = this.app.ink.arrow;
    context.fillStyle = this.app.ink.arrow;
    context.lineWidth = 1.6;
    context.beginPath();
    context.moveTo(from.x, from.y);
    const bend = Math.max(30, Math.abs(to.x - from.x) / 2);
    context.bezierCurveTo(from.x + bend, from.y, to.x - bend, to.y, to.x, to.y);
    context.stroke();
    context.beginPath();
    context.moveTo(to.x, to.y);
    context.lineTo(to.x - 8, to.y - 4);
    context.lineTo(to.x - 8, to.y + 4);
    context.fill();
  }

  /** @param {Row[]} rows @param {number} top */
  drawLabels(rows, top) {
    const pieces = rows.map((row) => {
      const mark = row.children.length ? (row.open ? "▾" : "▸") : "";
      const style = `top:${row.top - top}px;height:${row.height - 1}px;padding-left:${6 + row.depth * 12}px`;
      const key = `${row.report}/${row.id}`;
      const title = format.escapeHtml(row.detail ? `${row.label}\n${row.detail}` : row.label);
      return `<div class="label ${row.draw}${row.pinned ? " pinned" : ""}" role="treeitem" data-key="${key}" style="${style}" title="${title}"` +
        `${row.children.length ? ` aria-expanded="${row.open}"` : ""}><span class="mark">${mark}</span>` +
        `<span class="name">${format.escapeHtml(row.label)}</span><span class="sum">${format.escapeHtml(summary(row))}</span>` +
        `<button class="pin" tabindex="-1" title="Pin to the top" aria-label="Pin">${row.pinned ? "●" : "○"}</button></div>`;
    });
    const text = pieces.join("");
    if (this.labels.dataset.text !== text) {
      this.labels.innerHTML = text;
      this.labels.dataset.text = text;
    }
  }

  /** @param {number} ratio */
  drawRuler(ratio) {
    const { app } = this;
    const context = /** @type {CanvasRenderingContext2D} */ (this.ruler.getContext("2d"));
    const step = rulerStep(this.perPixel);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, this.width + LABELS, 26);
    context.font = "12px system-ui, sans-serif";
    context.fillStyle = app.ink.faint;
    context.fillText(`${format.duration(app.view.to - app.view.from)} in view`, 8, 17);
    context.save();
    context.beginPath();
    context.rect(LABELS, 0, this.width, 26);
    context.clip();
    for (let t = Math.ceil(app.view.from / step) * step; t < app.view.to; t += step) {
      const x = LABELS + this.xOf(t);
      context.fillStyle = app.ink.line;
      context.fillRect(x, 18, 1, 8);
      context.fillStyle = app.ink.text;
      context.fillText(format.moment(t, step), x + 4, 16);
    }
    if (app.view.span) {
      const [a, b] = app.view.span;
      const left = LABELS + this.xOf(a);
      context.fillStyle = app.ink.spanLine;
      context.fillRect(left, 20, Math.max(this.xOf(b) - this.xOf(a), 1), 3);
    }
    context.restore();
  }

  /** The event under the pointer. @param {MouseEvent} event */
  hit(event) {
    const box = this.canvas.getBoundingClientRect();
    const x = event.clientX - box.left;
    const y = event.clientY - box.top + this.scroll.scrollTop;
    const row = x >= 0 ? this.app.rows.at(y) : undefined;
    if (!row || x < 0)
      return null;
    const laneNumber = row.draw === "slices" ? Math.floor((y - row.top - 2) / 18) : 0;
    const loaded = this.app.loaded[row.report];
    const time = this.timeAt(event.clientX) - loaded.offset;
    const level = levelFor(this.perPixel / (window.devicePixelRatio || 1));
    const tile = loaded.tiles.find(row.id, level, Math.floor(time / tileSpan(level)));
    const lane = tile?.lanes[laneNumber];
    return { row, laneNumber, time, lane, tile, slack: this.perPixel };
  }

  /** @param {NonNullable<ReturnType<Timeline["hit"]>>} hit */
  sliceAt(hit) {
    const { lane, tile, time, slack } = hit;
    if (!lane || !tile)
      return null;
    for (let i = lane.start.length - 1; i >= 0; i--)
      if (lane.start[i] - slack <= time && time <= lane.end[i] + slack)
        return { name: lane.name[i], index: lane.index[i], start: lane.start[i], end: lane.end[i], events: 1, busy: -1 };
    const bucket = 2 ** tile.level;
    const at = Math.floor((time - tile.index * tileSpan(tile.level)) / bucket);
    for (let i = 0; i < lane.bucket.length; i++)
      if (Math.abs(lane.bucket[i] - at) <= 1) {
        const start = tile.index * tileSpan(tile.level) + lane.bucket[i] * bucket;
        return {
          name: lane.bucketName?.[i] ?? 0, index: lane.bucketIndex?.[i] ?? 0, start, end: start + bucket, events: lane.events?.[i] ?? 0,
          busy: lane.busy[i] / 255, least: lane.least?.[i], most: lane.most?.[i], mean: lane.mean?.[i],
        };
      }
    return null;
  }

  /** @param {MouseEvent} event */
  hover(event) {
    const hit = this.hit(event);
    const slice = hit && this.sliceAt(hit);
    if (!hit || !slice) {
      this.tooltip.hidden = true;
      return;
    }
    this.tooltip.innerHTML = this.tooltipText(hit.row, slice);
    this.tooltip.hidden = false;
    const box = this.tooltip.getBoundingClientRect();
    this.tooltip.style.left = `${Math.max(4, Math.min(event.clientX + 14, window.innerWidth - box.width - 8))}px`;
    this.tooltip.style.top = `${Math.min(event.clientY + 16, window.innerHeight - box.height - 8)}px`;
  }

  /** @param {Row} row @param {NonNullable<ReturnType<Timeline["sliceAt"]>>} slice */
  tooltipText(row, slice) {
    const name = format.escapeHtml(this.app.loaded[row.report].names.get(slice.name) || row.label);
    if (slice.mean !== undefined)
      return `<b>${format.escapeHtml(row.label)}</b><br>${slice.mean.toPrecision(5)} ${format.escapeHtml(row.unit || "")} (${slice.least?.toPrecision(5)} to ` +
        `${slice.most?.toPrecision(5)})<br>at ${format.moment(slice.start, 1)}`;
    if (slice.busy >= 0)
      return `<b>${format.count(slice.events)} events</b>, ${format.percent(slice.busy)} of ${format.duration(slice.end - slice.start)} busy<br>most of it: ${name}`;
    return `<b>${name}</b><br>${format.duration(slice.end - slice.start)} <span class="faint">(${format.exact(slice.end - slice.start)})</span><br>` +
      `from ${format.moment(slice.start, 1)}`;
  }

  listen() {
    this.canvas.addEventListener("mousemove", (event) => {
      if (!this.drag)
        this.hover(event);
    });
    this.canvas.addEventListener("mouseleave", () => { this.tooltip.hidden = true; });
    this.canvas.addEventListener("mousedown", (event) => this.press(event));
    window.addEventListener("mousemove", (event) => this.moved(event));
    window.addEventListener("mouseup", (event) => this.release(event));
    this.canvas.addEventListener("dblclick", (event) => this.enter(event));
    element("timeline").addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    this.labels.addEventListener("click", (event) => this.clickLabel(event));
    this.ruler.addEventListener("mousedown", (event) => this.press(event, "span"));
  }

  /** @param {MouseEvent} event @param {"span"} [kind] */
  press(event, kind) {
    if (event.button !== 0)
      return;
    event.preventDefault();
    this.scroll.focus({ preventScroll: true });
    const { from, to } = this.app.view;
    this.drag = { kind: kind || (event.shiftKey ? "span" : "pan"), x: event.clientX, from, to, moved: false };
    this.tooltip.hidden = true;
  }

  /** @param {MouseEvent} event */
  moved(event) {
    const { drag } = this;
    if (!drag)
      return;
    drag.moved ||= Math.abs(event.clientX - drag.x) > 3;
    if (!drag.moved)
      return;
    if (drag.kind === "pan") {
      const by = (drag.x - event.clientX) * this.perPixel;
      this.app.view.show(drag.from + by, drag.to + by);
    } else {
      this.app.view.select([this.timeAt(drag.x), this.timeAt(event.clientX)]);
    }
  }

  /** @param {MouseEvent} event */
  release(event) {
    const { drag } = this;
    this.drag = null;
    if (!drag)
      return;
    if (!drag.moved && event.target === this.canvas) {
      const hit = this.hit(event);
      const slice = hit && this.sliceAt(hit);
      if (hit && slice && slice.mean === undefined)
        this.app.pick({ report: hit.row.report, row: hit.row.id, lane: hit.laneNumber, index: slice.index });
      else
        this.app.pick(null);
    } else if (drag.moved && drag.kind === "span") {
      this.app.spanChosen();
    }
  }

  /** @param {MouseEvent} event */
  enter(event) {
    const hit = this.hit(event);
    const slice = hit && this.sliceAt(hit);
    if (hit && slice)
      this.app.fit(slice.start + this.app.loaded[hit.row.report].offset, slice.end + this.app.loaded[hit.row.report].offset);
  }

  /** @param {WheelEvent} event */
  wheel(event) {
    const overRuler = event.target === this.ruler;
    if (event.ctrlKey || event.metaKey || overRuler) {
      event.preventDefault();
      this.app.view.zoom(Math.exp(Math.max(-60, Math.min(60, event.deltaY)) * 0.01), this.timeAt(event.clientX));
    } else if (Math.abs(event.deltaX) > Math.abs(event.deltaY) || event.shiftKey) {
      event.preventDefault();
      this.app.view.pan((event.deltaX || event.deltaY) * this.perPixel);
    }
  }

  /** @param {MouseEvent} event */
  clickLabel(event) {
    const target = /** @type {HTMLElement} */ (event.target);
    const key = /** @type {HTMLElement | null} */ (target.closest(".label"))?.dataset.key;
    const row = key ? this.app.rows.byKey.get(key) : undefined;
    if (!row)
      return;
    if (target.classList.contains("pin"))
      this.app.rows.pin(row);
    else if (row.children.length)
      this.app.rows.toggle(row);
    this.app.rowChosen(row);
    this.redraw();
  }
}

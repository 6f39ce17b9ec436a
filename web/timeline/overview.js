// The strip above the timeline: how busy the GPUs were (or, without any, the processes) over the whole recording, where one looks, and
// where findings are.
import { levelFor, tileSpan } from "./tiles.js";

/** @typedef {import("../main.js").App} App */
/** @typedef {import("./rows.js").Row} Row */

const HEIGHT = 44;
const MOST_ROWS = 8;
/** So near to an edge of the window, in pixels, one takes hold of the edge. */
const EDGE = 5;

export class Overview {
  /** @param {App} app */
  constructor(app) {
    this.app = app;
    this.canvas = /** @type {HTMLCanvasElement} */ (document.getElementById("overview"));
    this.picture = document.createElement("canvas");
    this.painted = "";
    /** @type {Array<[number, number]>} places of findings */
    this.findings = [];
    /** @type {null | ((time: number) => void)} what moving does */
    this.hold = null;
    this.canvas.addEventListener("pointerdown", (event) => this.press(event));
    this.canvas.addEventListener("pointermove", (event) => this.moved(event));
    this.canvas.addEventListener("pointerup", () => { this.hold = null; });
    this.canvas.addEventListener("dblclick", () => this.app.showAll());
  }

  /** @param {number} clientX */
  timeAt(clientX) {
    const box = this.canvas.getBoundingClientRect();
    const { first, last } = this.app.view;
    return first + ((clientX - box.left) / box.width) * (last - first);
  }

  /** In the window one moves it, at its edges its width, beside it one draws a new one. @param {PointerEvent} event */
  press(event) {
    if (event.button !== 0)
      return;
    event.preventDefault();
    this.canvas.setPointerCapture(event.pointerId);
    const { view } = this.app;
    const time = this.timeAt(event.clientX);
    const { from, to } = view;
    const reach = (EDGE * (view.last - view.first)) / this.canvas.clientWidth;
    const whole = to - from > 0.98 * (view.last - view.first);
    if (!whole && Math.abs(time - from) < reach)
      this.hold = (at) => at < to && view.show(at, to);
    else if (!whole && Math.abs(time - to) < reach)
      this.hold = (at) => at > from && view.show(from, at);
    else if (!whole && time > from && time < to)
      this.hold = (at) => view.show(from + at - time, to + at - time);
    else
      this.hold = (at) => Math.abs(at - time) > reach && view.show(Math.min(at, time), Math.max(at, time));
    if (!whole && (time < from - reach || time > to + reach))
      view.show(time - (to - from) / 2, time + (to - from) / 2, true);
  }

  /** @param {PointerEvent} event */
  moved(event) {
    this.hold?.(this.timeAt(event.clientX));
  }

  /** The rows that stand for everything: GPUs, else processes; where they are many, those that do most. @returns {Row[]} */
  rows() {
    const all = this.app.rows.roots.flatMap((row) => (row.kind === "report" ? row.children : [row]));
    const gpus = all.filter((row) => row.kind === "gpu");
    const rows = gpus.length ? gpus : all.filter((row) => row.kind === "process");
    const busy = (/** @type {Row} */ row) => (row.share ?? 0) * this.app.loaded[row.report].length;
    const most = new Set([...rows].sort((a, b) => busy(b) - busy(a) || (b.count ?? 0) - (a.count ?? 0)).slice(0, MOST_ROWS));
    return rows.filter((row) => most.has(row));
  }

  repaint() {
    this.painted = "";
  }

  draw() {
    const { canvas, app } = this;
    const ratio = window.devicePixelRatio || 1;
    const width = canvas.clientWidth;
    if (canvas.width !== Math.round(width * ratio)) {
      canvas.width = Math.round(width * ratio);
      canvas.height = Math.round(HEIGHT * ratio);
    }
    this.paint(width, ratio);
    const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.clearRect(0, 0, canvas.width, canvas.height);
    context.drawImage(this.picture, 0, 0);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    const perPixel = (app.view.last - app.view.first) / width;
    const x = (/** @type {number} */ t) => (t - app.view.first) / perPixel;
    this.drawMarks(context, x);
    context.fillStyle = app.ink.shade;
    context.fillRect(0, 0, Math.max(x(app.view.from), 0), HEIGHT);
    context.fillRect(x(app.view.to), 0, Math.max(width - x(app.view.to), 0), HEIGHT);
    context.strokeStyle = app.ink.spanLine;
    context.lineWidth = 1.5;
    const [left, right] = [Math.max(x(app.view.from), 0), Math.min(x(app.view.to), width)];
    context.strokeRect(left + 0.75, 0.75, Math.max(right - left - 1.5, 2), HEIGHT - 1.5);
  }

  /** @param {CanvasRenderingContext2D} context @param {(time: number) => number} x */
  drawMarks(context, x) {
    const { ink, view } = this.app;
    context.fillStyle = ink.arrow;
    for (const [from, to] of this.findings)
      context.fillRect(x(from), HEIGHT - 5, Math.max(x(to) - x(from), 3), 4);
    if (view.span) {
      context.fillStyle = ink.span;
      context.fillRect(x(view.span[0]), 0, Math.max(x(view.span[1]) - x(view.span[0]), 1), HEIGHT);
    }
  }

  /** Once for all frames until something of it comes. @param {number} width @param {number} ratio */
  paint(width, ratio) {
    const { app } = this;
    const rows = this.rows();
    const perPixel = (app.view.last - app.view.first) / width;
    const stampOf = (/** @type {Row} */ { report, id }) =>
      `${report}.${id}.${app.loaded[report].tiles.stamp(id)}.${app.loaded[report].offset}`;
    const key = `${width}/${ratio}/${app.view.first}/${app.view.last}/${rows.map(stampOf).join()}`;
    this.ask(rows, perPixel);
    if (key === this.painted)
      return;
    this.painted = key;
    this.picture.width = Math.round(width * ratio);
    this.picture.height = Math.round(HEIGHT * ratio);
    const context = /** @type {CanvasRenderingContext2D} */ (this.picture.getContext("2d"));
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    const height = (HEIGHT - 4) / Math.max(rows.length, 1);
    rows.forEach((row, i) => this.drawBusy(context, row, perPixel, 2 + i * height, height - 1));
  }

  /** @param {Row[]} rows @param {number} perPixel */
  ask(rows, perPixel) {
    const level = levelFor(perPixel);
    for (const row of rows) {
      const loaded = this.app.loaded[row.report];
      const count = Math.floor(loaded.length / tileSpan(level)) + 1;
      loaded.tiles.wantAlso(level, Array.from({ length: count }, (_, index) => /** @type {[number, number]} */ ([row.id, index])));
    }
  }

  /** @param {CanvasRenderingContext2D} context @param {Row} row @param {number} perPixel @param {number} y @param {number} height */
  drawBusy(context, row, perPixel, y, height) {
    const { tiles, length, offset } = this.app.loaded[row.report];
    const level = levelFor(perPixel);
    const span = tileSpan(level);
    const bucket = 2 ** level;
    const x = (/** @type {number} */ time) => (time + offset - this.app.view.first) / perPixel;
    context.fillStyle = this.app.ink.busy;
    for (let index = 0; index * span <= length; index++) {
      const lane = tiles.find(row.id, level, index)?.lanes[0];
      for (let i = 0; lane && i < lane.bucket.length; i++) {
        const tall = 1 + ((height - 1) * lane.busy[i]) / 255;
        context.fillRect(x(index * span + lane.bucket[i] * bucket), y + height - tall, Math.max(bucket / perPixel, 0.6), tall);
      }
      for (let i = 0; lane && i < lane.start.length; i++)
        context.fillRect(x(lane.start[i]), y, Math.max((lane.end[i] - lane.start[i]) / perPixel, 0.6), height);
    }
  }
}

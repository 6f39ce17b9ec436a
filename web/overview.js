// The strip above the timeline: how busy the GPUs were (or, without any, the threads) over the whole recording, and where one looks.
import { levelFor, tileSpan } from "./tiles.js";

/** @typedef {import("./main.js").App} App */

export class Overview {
  /** @param {App} app */
  constructor(app) {
    this.app = app;
    this.canvas = /** @type {HTMLCanvasElement} */ (document.getElementById("overview"));
    /** @type {null | number} where in the window it was taken hold of */
    this.held = null;
    this.canvas.addEventListener("mousedown", (event) => {
      event.preventDefault();
      const time = this.timeAt(event.clientX);
      const { view } = this.app;
      const inside = time >= view.from && time <= view.to;
      this.held = inside ? time - view.from : (view.to - view.from) / 2;
      this.drag(event);
    });
    window.addEventListener("mousemove", (event) => this.drag(event));
    window.addEventListener("mouseup", () => { this.held = null; });
  }

  /** @param {number} clientX */
  timeAt(clientX) {
    const box = this.canvas.getBoundingClientRect();
    const { first, last } = this.app.view;
    return first + ((clientX - box.left) / box.width) * (last - first);
  }

  /** @param {MouseEvent} event */
  drag(event) {
    if (this.held === null)
      return;
    const { view } = this.app;
    const from = this.timeAt(event.clientX) - this.held;
    view.show(from, from + (view.to - view.from));
  }

  /** The rows that stand for everything: GPUs, else processes. */
  rows() {
    const all = this.app.rows.roots.flatMap((row) => (row.kind === "report" ? row.children : [row]));
    const gpus = all.filter((row) => row.kind === "gpu");
    return (gpus.length ? gpus : all.filter((row) => row.kind === "process")).slice(0, 8);
  }

  draw() {
    const { canvas, app } = this;
    const ratio = window.devicePixelRatio || 1;
    const width = canvas.clientWidth;
    if (canvas.width !== Math.round(width * ratio)) {
      canvas.width = Math.round(width * ratio);
      canvas.height = Math.round(44 * ratio);
    }
    const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, 44);
    const rows = this.rows();
    const perPixel = (app.view.last - app.view.first) / width;
    const height = 40 / Math.max(rows.length, 1);
    rows.forEach((row, i) => this.drawBusy(context, row, perPixel, 2 + i * height, height - 1));
    const x = (/** @type {number} */ t) => (t - app.view.first) / perPixel;
    context.fillStyle = app.ink.shade;
    context.fillRect(0, 0, x(app.view.from), 44);
    context.fillRect(x(app.view.to), 0, width - x(app.view.to), 44);
    context.strokeStyle = app.ink.spanLine;
    context.strokeRect(x(app.view.from) + 0.5, 0.5, Math.max(x(app.view.to) - x(app.view.from), 2), 43);
  }

  /** @param {CanvasRenderingContext2D} context @param {import("./rows.js").Row} row @param {number} perPixel @param {number} y @param {number} height */
  drawBusy(context, row, perPixel, y, height) {
    const loaded = this.app.loaded[row.report];
    const level = levelFor(perPixel);
    const span = tileSpan(level);
    /** @type {Array<[number, number]>} */
    const wanted = [];
    context.fillStyle = this.app.ink.busy;
    for (let index = 0; index * span <= loaded.length; index++) {
      wanted.push([row.id, index]);
      const lane = loaded.tiles.find(row.id, level, index)?.lanes[0];
      for (let i = 0; lane && i < lane.bucket.length; i++) {
        const share = lane.busy[i] / 255;
        const left = (index * span + lane.bucket[i] * 2 ** level + loaded.offset - this.app.view.first) / perPixel;
        context.fillRect(left, y + height * (1 - share), Math.max(2 ** level / perPixel, 0.6), height * share);
      }
      for (let i = 0; lane && i < lane.start.length; i++) {
        const left = (lane.start[i] + loaded.offset - this.app.view.first) / perPixel;
        context.fillRect(left, y, Math.max((lane.end[i] - lane.start[i]) / perPixel, 0.6), height);
      }
    }
    loaded.tiles.wantAlso(level, wanted);
  }
}

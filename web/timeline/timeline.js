// The rows: what is in sight is drawn once a frame, and what is missing is asked for in one request.
import { Arrows } from "./arrows.js";
import { drawRow } from "./draw.js";
import { Labels } from "./labels.js";
import { listenToPointer } from "./pointer.js";
import { laneHeight, linesOf } from "./rows.js";
import { RULER, drawRuler } from "./ruler.js";
import { levelFor, tileSpan } from "./tiles.js";
import { Tooltip } from "./tooltip.js";

export const LABELS = 250;
const MOST_STRIPS = 400;

/** @typedef {import("./rows.js").Row} Row */
/** @typedef {import("../main.js").App} App */
/** @typedef {{ row: Row, y: number }} Placed */

/** @param {string} id */
const element = (id) => /** @type {HTMLElement} */ (document.getElementById(id));

export class Timeline {
  /** @param {App} app */
  constructor(app) {
    this.app = app;
    this.scroll = element("scroll");
    this.space = element("space");
    this.pane = element("pane");
    this.canvas = /** @type {HTMLCanvasElement} */ (element("canvas"));
    this.ruler = /** @type {HTMLCanvasElement} */ (element("ruler"));
    this.frame = 0;
    this.width = 100;
    this.height = 100;
    /** @type {number[]} how long the last frames took, ms */
    this.times = [];
    this.scale = 0;
    /** @type {Set<Row>} those that have a picture */
    this.painted = new Set();
    this.pointerX = NaN;
    this.labels = new Labels(app, element("labels"));
    this.tooltip = new Tooltip(app, element("tooltip"));
    this.arrows = new Arrows(app);
    this.scroll.addEventListener("scroll", () => this.redraw());
    new ResizeObserver(() => this.resize()).observe(this.scroll);
    listenToPointer(app, this);
    this.resize();
  }

  get ratio() {
    return window.devicePixelRatio || 1;
  }

  resize() {
    const { ratio } = this;
    this.width = Math.max(this.scroll.clientWidth - LABELS, 50);
    this.height = Math.max(this.scroll.clientHeight, 50);
    for (const [canvas, width, height] of /** @type {Array<[HTMLCanvasElement, number, number]>} */ ([
      [this.canvas, this.width, this.height], [this.ruler, this.width + LABELS, RULER]])) {
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
        if (document.body.dataset.view !== "kernels")
          this.draw();
      });
  }

  get perPixel() {
    return (this.app.view.to - this.app.view.from) / this.width;
  }

  /** The time at the left edge: a whole number of device pixels, so that pictures fit when one pans. */
  get origin() {
    const pixel = this.perPixel / this.ratio;
    return Math.round(this.app.view.from / pixel) * pixel;
  }

  /** @param {number} clientX */
  timeAt(clientX) {
    return this.origin + (clientX - this.canvas.getBoundingClientRect().left) * this.perPixel;
  }

  /** @param {number} time */
  xOf(time) {
    return (time - this.origin) / this.perPixel;
  }

  /** @param {Row} row */
  yOf(row) {
    return row.pinned ? row.top : row.top - this.scroll.scrollTop + this.app.rows.pinsHeight;
  }

  /** The rows in sight: those that are pinned come last, as they lie over the others. @returns {Placed[]} */
  inSight() {
    const { rows } = this.app;
    const top = this.scroll.scrollTop;
    const scrolled = rows.between(top, top + this.height - rows.pinsHeight);
    return [...scrolled, ...rows.pins].map((row) => ({ row, y: this.yOf(row) }));
  }

  /** @param {number} y below the top of the canvas @returns {Row | undefined} */
  rowAt(y) {
    const { rows } = this.app;
    if (y < rows.pinsHeight)
      return rows.pins.find((row) => y >= row.top && y < row.top + row.height);
    return rows.at(y - rows.pinsHeight + this.scroll.scrollTop);
  }

  /** @param {CanvasRenderingContext2D} context @returns {import("./draw.js").Scene} */
  scene(context) {
    const { app, ratio, perPixel } = this;
    return {
      context, width: this.width, ratio, from: this.origin, perPixel, pixel: perPixel / ratio,
      still: this.scale === perPixel, mode: app.colourMode, ink: app.ink,
      report: (i) => app.loaded[i], picked: app.view.picked, pickedName: app.pickedName, search: app.search.shade,
    };
  }

  draw() {
    const began = performance.now();
    const { app, ratio } = this;
    const context = /** @type {CanvasRenderingContext2D} */ (this.canvas.getContext("2d"));
    const placed = this.inSight();
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, this.width, this.height);
    context.font = "12px system-ui, sans-serif";
    this.space.style.height = `${app.rows.height + app.rows.pinsHeight + 40}px`;
    const wanted = this.drawRows(context, placed);
    for (const [report, tiles] of wanted)
      app.loaded[report].tiles.want(levelFor(this.perPixel / ratio), tiles);
    this.scale = this.perPixel;
    this.drawSpan(context);
    this.drawFindings(context);
    this.arrows.draw(context);
    this.labels.draw(placed);
    drawRuler(app, this.ruler, LABELS, this.width, ratio);
    app.overview.draw();
    this.times.push(performance.now() - began);
    if (this.times.length > 240)
      this.times.shift();
  }

  /** @param {CanvasRenderingContext2D} context @param {Placed[]} placed */
  drawRows(context, placed) {
    const { app } = this;
    const scene = this.scene(context);
    /** @type {Map<number, Array<[number, number]>>} */
    const wanted = new Map(app.loaded.map((report) => [report.number, []]));
    for (const { row, y } of placed) {
      context.fillStyle = row.draw === "group" ? app.ink.groupRow : app.ink.row;
      context.fillRect(0, y, this.width, row.height - 1);
      wanted.get(row.report)?.push(...drawRow(scene, row, y));
      this.painted.add(row);
    }
    if (app.rows.pins.length) {
      context.fillStyle = app.ink.spanLine;
      context.fillRect(0, app.rows.pinsHeight - 1, this.width, 1);
    }
    this.forgetPictures(placed);
    return wanted;
  }

  /** Pictures of rows that are out of sight are memory only. @param {Placed[]} placed */
  forgetPictures(placed) {
    if (this.painted.size < MOST_STRIPS)
      return;
    const kept = new Set(placed.map(({ row }) => row));
    for (const row of this.painted)
      if (!kept.has(row))
        row.strip = undefined;
    this.painted = kept;
  }

  /** @param {CanvasRenderingContext2D} context */
  drawSpan(context) {
    const { span } = this.app.view;
    if (!span)
      return;
    const left = this.xOf(span[0]);
    const right = this.xOf(span[1]);
    context.fillStyle = this.app.ink.span;
    context.fillRect(left, 0, Math.max(right - left, 1), this.height);
    context.fillStyle = this.app.ink.spanLine;
    context.fillRect(left, 0, 1, this.height);
    context.fillRect(right, 0, 1, this.height);
  }

  /** The place of a finding that was gone to. @param {CanvasRenderingContext2D} context */
  drawFindings(context) {
    const { finding } = this.app;
    if (!finding)
      return;
    context.fillStyle = this.app.ink.finding;
    context.fillRect(this.xOf(finding[0]), 0, Math.max(this.xOf(finding[1]) - this.xOf(finding[0]), 2), this.height);
  }

  /** What is under the pointer. @param {{ clientX: number, clientY: number }} event */
  hit(event) {
    const box = this.canvas.getBoundingClientRect();
    const x = event.clientX - box.left;
    const y = event.clientY - box.top;
    const row = x >= 0 && x <= this.width && y >= 0 && y < this.height ? this.rowAt(y) : undefined;
    if (!row || (row.id < 0 && !row.series))
      return null;
    const line = linesOf(row) > 1 ? Math.max(0, Math.floor((y - this.yOf(row) - 2) / laneHeight(row))) : 0;
    const loaded = this.app.loaded[row.report];
    const time = this.timeAt(event.clientX) - loaded.offset;
    const level = levelFor(this.perPixel / this.ratio);
    const tile = loaded.tiles.find(row.id, level, Math.floor(time / tileSpan(level)));
    const hit = { row, laneNumber: line, time, lane: tile?.lanes[line], tile, slack: 2 * this.perPixel };
    /* Lanes over each other: the one that is seen there. */
    for (let lane = 0; tile && row.overlaid && lane < tile.lanes.length; lane++) {
      const other = { ...hit, laneNumber: lane, lane: tile.lanes[lane], slack: 0 };
      if (this.sliceAt(other))
        return other;
    }
    return hit;
  }

  /** @param {NonNullable<ReturnType<Timeline["hit"]>>} hit */
  sliceAt(hit) {
    const { lane, tile, time, slack } = hit;
    if (!lane || !tile)
      return null;
    let best = -1;
    let nearest = slack;
    for (let i = lane.start.length - 1; i >= 0; i--) {
      const away = Math.max(lane.start[i] - time, time - lane.end[i], 0);
      if (away < nearest || (away === 0 && best < 0)) {
        best = i;
        nearest = away;
      }
    }
    if (best < 0)
      return this.bucketAt(lane, tile, time);
    return {
      name: lane.name[best], index: lane.index[best], start: lane.start[best], end: lane.end[best], events: 1, busy: -1,
      kind: lane.flags[best] & 255,
    };
  }

  /** @param {import("./tiles.js").Lane} lane @param {import("./tiles.js").Tile} tile @param {number} time */
  bucketAt(lane, tile, time) {
    const bucket = 2 ** tile.level;
    const at = (time - tile.index * tileSpan(tile.level)) / bucket - 0.5;
    const reach = Math.max(1, (2 * this.perPixel) / bucket);
    let best = -1;
    for (let i = 0; i < lane.bucket.length; i++)
      if (Math.abs(lane.bucket[i] - at) <= reach && (best < 0 || Math.abs(lane.bucket[i] - at) < Math.abs(lane.bucket[best] - at)))
        best = i;
    if (best < 0)
      return null;
    const start = tile.index * tileSpan(tile.level) + lane.bucket[best] * bucket;
    return {
      name: lane.bucketName?.[best] ?? 0, index: lane.bucketIndex?.[best] ?? 0, start, end: start + bucket,
      events: lane.events?.[best] ?? 0, busy: lane.busy[best] / 255, kind: lane.kind[best],
    };
  }
}

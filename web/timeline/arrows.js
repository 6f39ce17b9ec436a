// From a call to the work it started and back. Where the other end is out of sight a marker at the edge leads there.
import * as format from "../format.js";
import { laneHeight, laneTop } from "./rows.js";
import { nameIn } from "../names.js";

/** @typedef {import("../main.js").App} App */
/** @typedef {{ x: number, y: number, width: number, height: number, target: any }} Marker */
/** @typedef {{ x: number, y: number, aside: string }} End */

const MOST_ARROWS = 20;

export class Arrows {
  /** @param {App} app */
  constructor(app) {
    this.app = app;
    /** @type {Marker[]} */
    this.markers = [];
  }

  /**
   * Where an end is drawn; out of sight, at the edge.
   * @param {{ report: number, row: number, lane: number }} event @param {number} time @returns {End | null}
   */
  place(event, time) {
    const { rows, timeline, loaded } = this.app;
    let row = rows.find(event.report, event.row);
    let lane = event.lane;
    while (row && !rows.isShown(row)) {
      row = row.above || undefined;
      lane = 0;
    }
    if (!row)
      return null;
    const x = timeline.xOf(time + loaded[event.report].offset);
    const y = timeline.yOf(row) + (row.draw === "slices" ? laneTop(row, lane) + laneHeight(row) / 2 : row.height / 2);
    const top = row.pinned ? 0 : rows.pinsHeight;
    const aside = x < 0 ? "left" : x > timeline.width ? "right" : y < top ? "up" : y > timeline.height ? "down" : "";
    return { x: Math.max(6, Math.min(timeline.width - 6, x)), y: Math.max(top + 8, Math.min(timeline.height - 8, y)), aside };
  }

  /** @param {CanvasRenderingContext2D} context */
  draw(context) {
    const { details, view } = this.app;
    this.markers = [];
    if (!details || !view.picked)
      return;
    this.outline(context);
    const here = { ...view.picked, start: details.start, end: details.end, name: details.name };
    for (const other of (details.linked || []).slice(0, MOST_ARROWS)) {
      const there = { ...other, report: view.picked.report };
      if (other.role === "work")
        this.arrow(context, here, there, there);
      else
        this.arrow(context, there, here, there);
    }
  }

  /** The picked event, however narrow it is. @param {CanvasRenderingContext2D} context */
  outline(context) {
    const { details, view, rows, timeline, loaded, ink } = this.app;
    const picked = /** @type {import("../main.js").Picked} */ (view.picked);
    const row = rows.find(picked.report, picked.row);
    if (!row || !rows.isShown(row))
      return;
    const { offset } = loaded[picked.report];
    const left = Math.max(-4, timeline.xOf(details.start + offset));
    const right = Math.min(timeline.width + 4, timeline.xOf(details.end + offset));
    const height = row.draw === "slices" ? laneHeight(row) - 1 : row.height - 4;
    const y = timeline.yOf(row) + laneTop(row, picked.lane);
    if (right < -3 || left > timeline.width + 3 || (!row.pinned && y < rows.pinsHeight))
      return;
    context.lineWidth = 2;
    context.strokeStyle = ink.strong;
    const wide = Math.max(right - left, 4);
    context.strokeRect((left + right - wide) / 2, y, wide, height);
  }

  /** @param {CanvasRenderingContext2D} context @param {any} from @param {any} to @param {any} target the one that was not picked */
  arrow(context, from, to, target) {
    const a = this.place(from, from.start);
    const b = this.place(to, to.start);
    if (!a || !b)
      return;
    context.strokeStyle = this.app.ink.arrow;
    context.fillStyle = this.app.ink.arrow;
    context.lineWidth = 1.6;
    context.beginPath();
    context.moveTo(a.x, a.y);
    const bend = Math.min(120, Math.max(24, Math.abs(b.x - a.x) / 2));
    context.bezierCurveTo(a.x + bend, a.y, b.x - bend, b.y, b.x, b.y);
    context.stroke();
    context.beginPath();
    context.moveTo(b.x, b.y);
    context.lineTo(b.x - 8, b.y - 4);
    context.lineTo(b.x - 8, b.y + 4);
    context.fill();
    const end = target === to ? b : a;
    if (end.aside)
      this.marker(context, end, target);
  }

  /** @param {CanvasRenderingContext2D} context @param {End} end @param {any} target */
  marker(context, end, target) {
    const { ink, timeline, details, rows, view } = this.app;
    const sign = /** @type {Record<string, string>} */ ({ left: "◂", right: "▸", up: "▴", down: "▾" })[end.aside];
    const name = nameIn(rows.find(view.picked?.report ?? 0, target.row)?.kind, target.name || "?");
    const distance = `${format.duration(Math.abs(target.start - details.start))} ${target.start < details.start ? "before" : "later"}`;
    const text = `${sign} ${name.length > 28 ? `${name.slice(0, 27)}…` : name}  ${distance}`;
    const width = context.measureText(text).width + 14;
    const x = end.aside === "right" ? timeline.width - width - 4 : Math.max(4, Math.min(end.x, timeline.width - width - 4));
    const y = Math.max(2, Math.min(end.y - 10, timeline.height - 22));
    context.fillStyle = ink.plateStrong;
    context.strokeStyle = ink.arrow;
    context.lineWidth = 1;
    context.beginPath();
    context.roundRect(x, y, width, 20, 5);
    context.fill();
    context.stroke();
    context.fillStyle = ink.text;
    context.fillText(text, x + 7, y + 14);
    this.markers.push({ x, y, width, height: 20, target });
  }

  /** @param {number} x @param {number} y @returns {any} the event a marker leads to */
  at(x, y) {
    return this.markers.find((m) => x >= m.x && x <= m.x + m.width && y >= m.y && y <= m.y + m.height)?.target || null;
  }
}

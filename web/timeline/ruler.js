// The ruler above the rows: moments in one unit, the measured span with its length.
import * as format from "../format.js";
import { lookedAt } from "./shares.js";

export const RULER = 28;

/** Round steps of 1, 2 or 5 times a power of ten. @param {number} perPixel */
export function rulerStep(perPixel) {
  const least = perPixel * 100;
  const power = 10 ** Math.floor(Math.log10(least));
  return [1, 2, 5, 10].map((n) => n * power).find((step) => step >= least) || 10 * power;
}

/**
 * What goes before all marks where they would be long: "4.1 s +" with marks in us.
 * @param {number} from @param {number} to @param {number} step @returns {number}
 */
export function rulerBase(from, to, step) {
  if (to - from >= 1e9 || Math.abs(from) < 1000 * (to - from))
    return 0;
  const round = 10 ** Math.ceil(Math.log10(Math.max(to - from, step)) + 0.5);
  return Math.floor(from / round) * round;
}

/**
 * @param {import("../main.js").App} app @param {HTMLCanvasElement} canvas @param {number} labels width of what is left of it
 * @param {number} width @param {number} ratio
 */
export function drawRuler(app, canvas, labels, width, ratio) {
  const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  const { view, timeline } = app;
  const step = Math.max(rulerStep(timeline.perPixel), 1);
  const base = rulerBase(view.from, view.to, step);
  const unit = format.unitOf(Math.max(Math.abs(view.from - base), Math.abs(view.to - base), step));
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width + labels, RULER);
  context.font = "12px system-ui, sans-serif";
  context.fillStyle = app.ink.faint;
  const { from, to, isSpan } = lookedAt(app);
  context.fillText(`share of ${format.duration(isSpan ? to - from : view.to - view.from)} ${isSpan ? "measured" : "in view"}`, 8, 18);
  if (base) {
    const text = `${Number((base / 1e9).toFixed(9))} s +`;
    context.fillText(text, labels - context.measureText(text).width - 8, 18);
  }
  context.save();
  context.beginPath();
  context.rect(labels, 0, width, RULER);
  context.clip();
  for (let n = Math.ceil((view.from - base) / step); n * step + base < view.to; n++) {
    const x = Math.round(labels + timeline.xOf(n * step + base));
    context.fillStyle = app.ink.line;
    context.fillRect(x, 18, 1, RULER - 18);
    context.fillStyle = app.ink.text;
    context.fillText(format.inUnit(n * step, unit, step), x + 4, 15);
  }
  drawSpan(app, context, labels);
  context.restore();
}

/** @param {import("../main.js").App} app @param {CanvasRenderingContext2D} context @param {number} labels */
function drawSpan(app, context, labels) {
  if (!app.view.span)
    return;
  const left = labels + app.timeline.xOf(app.view.span[0]);
  const right = labels + app.timeline.xOf(app.view.span[1]);
  const text = format.duration(app.view.span[1] - app.view.span[0]);
  const wide = context.measureText(text).width + 10;
  const middle = (Math.max(left, labels) + Math.min(right, labels + app.timeline.width)) / 2;
  context.fillStyle = app.ink.spanLine;
  context.fillRect(left, RULER - 4, Math.max(right - left, 1), 4);
  context.fillStyle = app.ink.plateStrong;
  context.fillRect(middle - wide / 2, 2, wide, 17);
  context.fillStyle = app.ink.spanLine;
  context.fillText(text, middle - wide / 2 + 5, 15);
}

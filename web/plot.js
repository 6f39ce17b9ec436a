// Plots: the mean as a line, what lies between the least and the most as a band, an axis with its unit.
import { levelFor, tileSpan } from "./tiles.js";
import * as format from "./format.js";

/** @typedef {import("./rows.js").Row} Row */
/** @typedef {import("./draw.js").Scene} Scene */
/** @typedef {{ time: number, end: number, least: number, most: number, mean: number }} Value */

const ROOM = 4;

/** Ends of the axis: round numbers, from 0 unless all values are far from it. @param {number} least @param {number} most @returns {[number, number]} */
export function axisEnds(least, most) {
  if (!(most > least))
    return most > 0 ? [0, most] : [least - 1, least + 1];
  const low = least > 0 && least < 0.7 * most ? 0 : least;
  const step = 10 ** Math.floor(Math.log10(most - low)) / 2;
  return [least >= 0 && low === 0 ? 0 : Math.floor(low / step) * step, Math.ceil(most / step - 1e-9) * step];
}

/** The values of a row between two of its times, in order. @param {Scene} scene @param {Row} row @param {number} from @param {number} to @returns {Value[]} */
export function valuesBetween(scene, row, from, to) {
  const { tiles, length } = scene.report(row.report);
  const level = levelFor(scene.pixel);
  const span = tileSpan(level);
  /** @type {Value[]} */
  const values = [];
  for (let index = Math.max(0, Math.floor(from / span)); index * span <= Math.min(to, length); index++) {
    const tile = tiles.find(row.id, level, index) || tiles.instead(row.id, level, (index + 0.5) * span);
    const lane = tile?.lanes[0];
    if (!tile || !lane?.mean || !lane.least || !lane.most)
      continue;
    const bucket = 2 ** tile.level;
    for (let i = 0; i < lane.bucket.length; i++) {
      const time = tile.index * tileSpan(tile.level) + lane.bucket[i] * bucket;
      if (time >= index * span && time < (index + 1) * span && (!values.length || time > values[values.length - 1].time))
        values.push({ time, end: time + bucket, least: lane.least[i], most: lane.most[i], mean: lane.mean[i] });
    }
  }
  return values;
}

/** The value that held at a time: the last one before it. @param {Value[]} values @param {number} time */
export function valueAt(values, time) {
  let found;
  for (const value of values) {
    if (value.time > time)
      break;
    found = value;
  }
  return found;
}

/** @param {Scene} scene @param {Row} row @param {number} y @param {number} height */
export function drawPlot(scene, row, y, height) {
  const { context } = scene;
  const { offset } = scene.report(row.report);
  const from = scene.from - offset;
  const values = valuesBetween(scene, row, from - tileSpan(levelFor(scene.pixel)), from + scene.width * scene.perPixel);
  const [low, high] = axisEnds(row.least ?? 0, row.most ?? 1);
  const up = (/** @type {number} */ value) => y + height - ROOM - (height - 2 * ROOM) * Math.max(0, Math.min(1, (value - low) / (high - low)));
  const xs = values.map((value) => (value.time + offset - scene.from) / scene.perPixel);
  drawGrid(scene, y, height);
  if (!values.length)
    return drawAxis(scene, row, low, high, y, height);
  const right = (/** @type {number} */ i) => (i + 1 < xs.length ? xs[i + 1] : Math.max(xs[i] + 1, (values[i].end + offset - scene.from) / scene.perPixel));
  context.beginPath();
  context.moveTo(xs[0], up(low));
  for (let i = 0; i < xs.length; i++) {
    context.lineTo(xs[i], up(values[i].mean));
    context.lineTo(right(i), up(values[i].mean));
  }
  context.lineTo(right(xs.length - 1), up(low));
  context.fillStyle = scene.ink.plotArea;
  context.fill();
  context.beginPath();
  for (let i = 0; i < xs.length; i++) {
    const top = up(values[i].most);
    const bottom = up(values[i].least);
    if (bottom - top >= 1)
      context.rect(xs[i], top, Math.max(Math.min(right(i), xs[i] + 40) - xs[i], 0.75), bottom - top);
  }
  context.fillStyle = scene.ink.plotBand;
  context.fill();
  context.beginPath();
  for (let i = 0; i < xs.length; i++) {
    const at = up(values[i].mean);
    if (i === 0)
      context.moveTo(xs[i], at);
    else
      context.lineTo(xs[i], at);
    context.lineTo(right(i), at);
  }
  context.strokeStyle = scene.ink.plotLine;
  context.lineWidth = 1.2;
  context.stroke();
  return drawAxis(scene, row, low, high, y, height);
}

/** @param {Scene} scene @param {number} y @param {number} height */
function drawGrid(scene, y, height) {
  scene.context.fillStyle = scene.ink.grid;
  for (const at of [y + ROOM, y + height / 2, y + height - ROOM])
    scene.context.fillRect(0, Math.round(at) - 0.5, scene.width, 1);
}

/** The numbers at the left, on a ground that keeps them readable. @param {Scene} scene @param {Row} row @param {number} low @param {number} high @param {number} y @param {number} height */
function drawAxis(scene, row, low, high, y, height) {
  const { context } = scene;
  const texts = /** @type {Array<[string, number]>} */ ([[format.amount(high, row.unit), y + 13], [format.amount(low, row.unit), y + height - 5]]);
  for (const [text, at] of texts) {
    const wide = context.measureText(text).width;
    context.fillStyle = scene.ink.plate;
    context.fillRect(2, at - 11, wide + 6, 14);
    context.fillStyle = scene.ink.text;
    context.fillText(text, 5, at);
  }
}

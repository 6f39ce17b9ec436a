// Plots: the mean as a line, what lies between the least and the most as a band, an axis with its unit.
import { levelFor, tileSpan } from "./tiles.js";
import * as format from "../format.js";

/** @typedef {import("./rows.js").Row} Row */
/** @typedef {import("./draw.js").Scene} Scene */
/**
 * @typedef {{ time: number, end: number, least: number, most: number, mean: number, carried: boolean }} Value carried: recorded before this
 *   time
 */

const ROOM = 4;

/**
 * Ends of the axis: round numbers, from 0 unless all values are far from it.
 * @param {number} least @param {number} most @returns {[number, number]}
 */
export function axisEnds(least, most) {
  if (!(most > least))
    return most > 0 ? [0, most] : [least - 1, least + 1];
  const low = least > 0 && least < 0.7 * most ? 0 : least;
  const step = 10 ** Math.floor(Math.log10(most - low)) / 2;
  return [least >= 0 && low === 0 ? 0 : Math.floor(low / step) * step, Math.ceil(most / step - 1e-9) * step];
}

/**
 * The values of a row between two of its times, in order.
 * @param {Scene} scene @param {Row} row @param {number} from @param {number} to @returns {Value[]}
 */
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
        values.push({
          time, end: time + bucket, least: lane.least[i], most: lane.most[i], mean: lane.mean[i], carried: lane.busy[i] === 1,
        });
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

/** Lines of several series, told apart also by those who see few colours: blue, orange, green, purple, grey. */
const SERIES = ["plotLine", "seriesB", "seriesC", "seriesD", "seriesE"];

/** @param {Scene} scene @param {Row} row @param {number} y @param {number} height */
export function drawPlot(scene, row, y, height) {
  const [low, high] = axisEnds(row.least ?? 0, row.most ?? 1);
  const part = (/** @type {number} */ value) => Math.max(0, Math.min(1, (value - low) / (high - low)));
  const up = (/** @type {number} */ value) => y + height - ROOM - (height - 2 * ROOM) * part(value);
  drawGrid(scene, y, height);
  (row.series || [row]).forEach((series, i) => drawSeries(scene, series, up, up(low), scene.ink[SERIES[i]], !row.series));
  drawAxis(scene, row, low, high, y, height);
  if (row.series)
    drawLegend(scene, row.series, y);
}

/**
 * @param {Scene} scene @param {Row} row @param {(value: number) => number} up @param {number} ground @param {string} ink
 * @param {boolean} alone: with what lies below the line, and the band
 */
function drawSeries(scene, row, up, ground, ink, alone) {
  const { context } = scene;
  const { offset } = scene.report(row.report);
  const from = scene.from - offset;
  const values = valuesBetween(scene, row, from - tileSpan(levelFor(scene.pixel)), from + scene.width * scene.perPixel);
  const xs = values.map((value) => (value.time + offset - scene.from) / scene.perPixel);
  if (!values.length)
    return;
  const endOf = (/** @type {number} */ i) => Math.max(xs[i] + 1, (values[i].end + offset - scene.from) / scene.perPixel);
  const right = (/** @type {number} */ i) => (i + 1 < xs.length ? xs[i + 1] : endOf(i));
  if (alone) {
    context.beginPath();
    context.moveTo(xs[0], ground);
    values.forEach((value, i) => {
      context.lineTo(xs[i], up(value.mean));
      context.lineTo(right(i), up(value.mean));
    });
    context.lineTo(right(xs.length - 1), ground);
    context.fillStyle = scene.ink.plotArea;
    context.fill();
    drawBand(scene, values, xs, right, up);
  }
  context.beginPath();
  values.forEach((value, i) => {
    const at = up(value.mean);
    if (i === 0)
      context.moveTo(xs[i], at);
    else
      context.lineTo(xs[i], at);
    context.lineTo(right(i), at);
  });
  context.strokeStyle = ink;
  context.lineWidth = 1.2;
  context.stroke();
}

/**
 * From the least to the most of each bucket.
 * @param {Scene} scene @param {Value[]} values @param {number[]} xs @param {(i: number) => number} right
 * @param {(value: number) => number} up
 */
function drawBand(scene, values, xs, right, up) {
  const { context } = scene;
  context.beginPath();
  values.forEach((value, i) => {
    const top = up(value.most);
    const bottom = up(value.least);
    if (bottom - top >= 1)
      context.rect(xs[i], top, Math.max(Math.min(right(i), xs[i] + 40) - xs[i], 0.75), bottom - top);
  });
  context.fillStyle = scene.ink.plotBand;
  context.fill();
}

/** What each line is, at the right. @param {Scene} scene @param {Row[]} series @param {number} y */
function drawLegend(scene, series, y) {
  const { context } = scene;
  let x = scene.width - 8;
  for (let i = series.length - 1; i >= 0; i--) {
    const text = series[i].label;
    x -= context.measureText(text).width;
    context.fillStyle = scene.ink.plate;
    context.fillRect(x - 18, y + 2, context.measureText(text).width + 22, 15);
    context.fillStyle = scene.ink[SERIES[i]];
    context.fillRect(x - 14, y + 8, 10, 3);
    context.fillStyle = scene.ink.text;
    context.fillText(text, x, y + 13);
    x -= 26;
  }
}

/** @param {Scene} scene @param {number} y @param {number} height */
function drawGrid(scene, y, height) {
  scene.context.fillStyle = scene.ink.grid;
  for (const at of [y + ROOM, y + height / 2, y + height - ROOM])
    scene.context.fillRect(0, Math.round(at) - 0.5, scene.width, 1);
}

/**
 * The numbers at the left, on a ground that keeps them readable.
 * @param {Scene} scene @param {Row} row @param {number} low @param {number} high @param {number} y @param {number} height
 */
function drawAxis(scene, row, low, high, y, height) {
  const { context } = scene;
  /** @type {Array<[string, number]>} */
  const texts = [[format.amount(high, row.unit), y + 13], [format.amount(low, row.unit), y + height - 5]];
  for (const [text, at] of texts) {
    const wide = context.measureText(text).width;
    context.fillStyle = scene.ink.plate;
    context.fillRect(2, at - 11, wide + 6, 14);
    context.fillStyle = scene.ink.text;
    context.fillText(text, 5, at);
  }
}

// Drawing rows on a canvas. What is narrower than a few pixels is part of the row's picture; what is wider is drawn exactly, with its name.
import { laneHeight, laneTop } from "./rows.js";
import { nameIn } from "../names.js";
import { drawPlot } from "./plot.js";
import { stripOf } from "./strips.js";
import { levelFor, tileSpan } from "./tiles.js";

/** Slices at least this wide, in pixels, are drawn by themselves. */
const EXACT_PIXELS = 6;
const TEXT_PIXELS = 24;
/** Of its colour a slice keeps so much that is not what is searched for. */
const DIMMED = 0.25;

/** @typedef {import("./rows.js").Row} Row */
/** @typedef {import("./tiles.js").Lane} Lane */
/** @typedef {import("./tiles.js").Tile} Tile */
/** @typedef {{ report: number, row: number, lane: number, index: number }} Event */
/**
 * @typedef {object} Scene
 * @property {CanvasRenderingContext2D} context
 * @property {number} width css pixels
 * @property {number} ratio device pixels for each
 * @property {number} from axis time at the left, a whole number of pixels
 * @property {number} perPixel ns for a css pixel
 * @property {number} pixel ns for a device pixel
 * @property {boolean} still the scale is that of the frame before
 * @property {boolean} [missing] names of what was painted have not come
 * @property {string} mode colour by: class, name or row
 * @property {Record<string, string>} ink colours of the theme
 * @property {(report: number) => import("../main.js").Loaded} report
 * @property {Event | null} picked
 * @property {number} pickedName name id of what is picked, to light up its like
 * @property {string} search
 */

/** Where a time of a report lies. @param {Scene} scene @param {Row} row @param {number} time */
function xOf(scene, row, time) {
  return (time + scene.report(row.report).offset - scene.from) / scene.perPixel;
}

/** As much of a text as fits, by measuring each only once. */
class Texts {
  constructor() {
    /** @type {Map<string, number>} */
    this.widths = new Map();
  }

  /** @param {CanvasRenderingContext2D} context @param {string} text */
  width(context, text) {
    let found = this.widths.get(text);
    if (found === undefined) {
      found = context.measureText(text).width;
      if (this.widths.size > 20000)
        this.widths.clear();
      this.widths.set(text, found);
    }
    return found;
  }

  /** @param {CanvasRenderingContext2D} context @param {string} text @param {number} room */
  fit(context, text, room) {
    const width = this.width(context, text);
    if (width <= room)
      return text;
    const letters = Math.floor((text.length * (room - 10)) / width);
    return letters >= 2 ? `${text.slice(0, letters)}…` : "";
  }
}

const texts = new Texts();

/**
 * @param {Scene} scene @param {Row} row @param {string} text @param {number} x @param {number} y @param {number} width @param {string} ink
 */
function label(scene, row, text, x, y, width, ink) {
  const left = Math.max(x, 0) + 4;
  const room = Math.min(x + width, scene.width) - left - 3;
  if (room < 16)
    return;
  scene.context.fillStyle = ink;
  scene.context.fillText(texts.fit(scene.context, nameIn(row.kind, text), room), left, y);
}

/**
 * @param {Scene} scene @param {Row} row @param {Lane} lane @param {number} i @param {number} x @param {number} y @param {number} width
 * @param {number} height
 */
function drawSlice(scene, row, lane, i, x, y, width, height) {
  const { context } = scene;
  const { paint, names } = scene.report(row.report);
  const colour = paint.of(scene.mode, lane.flags[i] & 255, lane.name[i], row.id);
  const text = names.get(lane.name[i]) || "";
  const left = Math.max(x, -2);
  const right = Math.min(x + width, scene.width + 2);
  const dimmed = scene.search && !text.toLowerCase().includes(scene.search);
  /* The row's picture below it has it in full colour. */
  if (dimmed) {
    context.fillStyle = scene.ink.row;
    context.fillRect(left, y, Math.max(right - left, 1), height);
    context.globalAlpha = DIMMED;
  }
  context.fillStyle = colour.css;
  context.fillRect(left, y, Math.max(right - left - 0.5, 1), height);
  if (lane.flags[i] & 512) {
    context.fillStyle = scene.ink.trouble;
    context.fillRect(left, y + height - 3, right - left, 3);
  }
  context.globalAlpha = 1;
  if (right - left >= TEXT_PIXELS && height >= 12)
    label(scene, row, text, x, y + height - 4, width, dimmed ? scene.ink.text : colour.ink);
  if (scene.pickedName && scene.pickedName === lane.name[i] && scene.picked?.report === row.report) {
    context.strokeStyle = scene.ink.like;
    context.lineWidth = 1;
    context.strokeRect(left + 0.5, y + 0.5, Math.max(right - left - 1.5, 1), height - 1);
  }
}

/**
 * @param {Scene} scene @param {Row} row @param {Lane} lane @param {number} y @param {number} height @param {number} cutFrom
 * @param {number} cutTo in ns
 */
function drawSlices(scene, row, lane, y, height, cutFrom, cutTo) {
  for (let i = 0; i < lane.start.length; i++) {
    const width = (lane.end[i] - lane.start[i]) / scene.perPixel;
    if (width < EXACT_PIXELS || lane.end[i] <= cutFrom || lane.start[i] >= cutTo)
      continue;
    /* A slice over several tiles is in each of them; the first one shown draws it. */
    if (lane.start[i] < cutFrom && xOf(scene, row, cutFrom) > 0)
      continue;
    drawSlice(scene, row, lane, i, xOf(scene, row, lane.start[i]), y, width, height);
  }
}

/**
 * Marks that stand far enough apart have their names beside them.
 * @param {Scene} scene @param {Row} row @param {Lane} lane @param {number} y @param {number} height
 */
function drawPoints(scene, row, lane, y, height) {
  const { names } = scene.report(row.report);
  for (let i = 0; i < lane.start.length; i++) {
    const x = xOf(scene, row, lane.start[i]);
    const next = i + 1 < lane.start.length ? xOf(scene, row, lane.start[i + 1]) : scene.width;
    if (x < -200 || x > scene.width)
      continue;
    scene.context.fillStyle = scene.ink.mark;
    scene.context.fillRect(x - 1, y, 2, height);
    if (next - x > 30 && row.kind !== "samples")
      label(scene, row, names.get(lane.name[i]) || "", x, y + height - 4, Math.min(next - x, 240), scene.ink.text);
  }
}

/** The tiles a row needs, as pairs of row and index. @param {Scene} scene @param {Row} row @returns {Array<[number, number]>} */
export function tilesOf(scene, row) {
  const loaded = scene.report(row.report);
  const span = tileSpan(levelFor(scene.pixel));
  const from = scene.from - loaded.offset;
  const to = from + scene.width * scene.perPixel;
  /** @type {Array<[number, number]>} */
  const wanted = [];
  for (let index = Math.max(0, Math.floor(from / span)); index * span < to && index * span <= loaded.length; index++)
    wanted.push([row.id, index]);
  return wanted;
}

/** @param {Scene} scene @param {Row} row @param {number} y @param {number} lanes @param {number} height */
function drawPicture(scene, row, y, lanes, height) {
  /* A heading's line is a sum: thinner than what it sums up. */
  const top = row.draw === "group" ? y + 4 : y;
  const strip = stripOf(scene, row, lanes);
  if (!strip)
    return;
  const { context } = scene;
  const source = Math.round(scene.from / scene.pixel) - strip.first;
  const pixels = Math.ceil(scene.width * scene.ratio);
  const { canvas, cells } = strip;
  context.imageSmoothingEnabled = false;
  for (let lane = lanes - 1; lane >= 0; lane--)
    context.drawImage(canvas, source, lane * cells, pixels, cells, 0, top + laneTop(row, lane), pixels / scene.ratio, height);
}

/**
 * Draws a row at height y and says which tiles it needs.
 * @param {Scene} scene @param {Row} row @param {number} y @returns {Array<[number, number]>}
 */
export function drawRow(scene, row, y) {
  if (row.draw === "plot") {
    drawPlot(scene, row, y, row.height - 1);
    return (row.series || [row]).flatMap((series) => tilesOf(scene, series));
  }
  if (row.id < 0 || row.lanes === 0)
    return [];
  const wanted = tilesOf(scene, row);
  const { tiles } = scene.report(row.report);
  const level = levelFor(scene.pixel);
  const span = tileSpan(level);
  const lanes = row.draw === "slices" ? Math.max(row.lanes, 1) : 1;
  const height = row.draw === "slices" ? Math.max(laneHeight(row) - 1, 2) : row.height - (row.draw === "group" ? 13 : 5);
  drawPicture(scene, row, y, lanes, height);
  if (row.draw === "group")
    return wanted;
  for (const [, index] of wanted) {
    const tile = tiles.find(row.id, level, index) || tiles.instead(row.id, level, (index + 0.5) * span);
    for (let lane = Math.min(lanes, tile?.lanes.length ?? 0) - 1; tile && lane >= 0; lane--) {
      if (row.draw === "points")
        drawPoints(scene, row, tile.lanes[lane], y + 2, height);
      else if (tile.lanes[lane].longest >= EXACT_PIXELS * scene.perPixel)
        drawSlices(scene, row, tile.lanes[lane], y + laneTop(row, lane), height, index * span, (index + 1) * span);
    }
  }
  return wanted;
}

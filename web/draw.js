// Drawing rows on a canvas. What is narrower than a few pixels is a picture made once per tile and stretched; what is wider is drawn
// exactly, with its name.
import * as colours from "./colours.js";
import { LANE } from "./rows.js";
import { TILE_BUCKETS, levelFor, tileSpan } from "./tiles.js";

/** Slices at least this wide, in pixels, are drawn by themselves. */
const EXACT_PIXELS = 3;
const TEXT_PIXELS = 24;
/** Thousandths of a bucket that even the shortest event is shaded by. */
const LEAST_SHADE = 40;

/** @typedef {import("./rows.js").Row} Row */
/** @typedef {import("./tiles.js").Lane} Lane */
/** @typedef {import("./tiles.js").Tile} Tile */
/** @typedef {{ report: number, row: number, lane: number, index: number }} Event */
/**
 * @typedef {object} Scene
 * @property {CanvasRenderingContext2D} context
 * @property {number} width css pixels
 * @property {number} ratio device pixels for each
 * @property {number} from axis time at the left
 * @property {number} perPixel ns
 * @property {string} mode colour by: class, name or row
 * @property {Record<string, string>} ink colours of the theme
 * @property {(report: number) => import("./main.js").Loaded} report
 * @property {Event | null} picked
 * @property {number} pickedName name id of what is picked, to light up its like
 * @property {string} search
 */

/** @param {Scene} scene @param {Row} row @param {number} kind @param {number} name @returns {[number, number, number]} */
function colourOf(scene, row, kind, name) {
  if (scene.mode === "row")
    return colours.byRow(row.id);
  const text = scene.report(row.report).names.get(name) || "";
  return scene.mode === "name" && text ? colours.byName(text) : colours.byClass(kind, text);
}

/** Sums up colour and cover of each bucket of a tile. */
class Strip {
  constructor() {
    this.cover = new Float32Array(TILE_BUCKETS);
    this.red = new Float32Array(TILE_BUCKETS);
    this.green = new Float32Array(TILE_BUCKETS);
    this.blue = new Float32Array(TILE_BUCKETS);
  }

  /** @param {number} bucket @param {number} share @param {[number, number, number]} colour */
  add(bucket, share, [r, g, b]) {
    this.cover[bucket] += share;
    this.red[bucket] += share * r;
    this.green[bucket] += share * g;
    this.blue[bucket] += share * b;
  }

  /** @param {Uint8ClampedArray} pixels */
  paint(pixels) {
    for (let i = 0; i < TILE_BUCKETS; i++) {
      const cover = this.cover[i];
      if (!cover)
        continue;
      pixels[4 * i] = this.red[i] / cover;
      pixels[4 * i + 1] = this.green[i] / cover;
      pixels[4 * i + 2] = this.blue[i] / cover;
      pixels[4 * i + 3] = Math.max(255 * Math.min(cover, 1), LEAST_SHADE);
    }
  }
}

/** @param {Strip} strip @param {number} from @param {number} to in buckets @param {[number, number, number]} colour */
function addSpan(strip, from, to, colour) {
  const first = Math.max(0, Math.floor(from));
  const last = Math.min(TILE_BUCKETS - 1, Math.floor(to));
  for (let i = first; i <= last; i++) {
    const share = Math.min(to, i + 1) - Math.max(from, i);
    if (share > 0)
      strip.add(i, share, colour);
  }
}

/** @param {Scene} scene @param {Row} row @param {Tile} tile @param {Lane} lane */
function picture(scene, row, tile, lane) {
  const bucket = 2 ** tile.level;
  const begin = tile.index * tileSpan(tile.level);
  const strip = new Strip();
  for (let i = 0; i < lane.start.length; i++)
    addSpan(strip, (lane.start[i] - begin) / bucket, (lane.end[i] - begin) / bucket, colourOf(scene, row, lane.flags[i] & 255, lane.name[i]));
  for (let i = 0; i < lane.bucket.length; i++)
    strip.add(lane.bucket[i], lane.busy[i] / 255, colourOf(scene, row, lane.kind[i], lane.bucketName ? lane.bucketName[i] : 0));
  const canvas = lane.picture || document.createElement("canvas");
  canvas.width = TILE_BUCKETS;
  canvas.height = 1;
  const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  const image = context.createImageData(TILE_BUCKETS, 1);
  strip.paint(image.data);
  context.putImageData(image, 0, 0);
  return canvas;
}

/** @param {Scene} scene @param {Row} row @param {Tile} tile @param {Lane} lane */
function pictureOf(scene, row, tile, lane) {
  const drawn = `${scene.mode}/${scene.report(row.report).names.texts.size}`;
  if (!lane.picture || lane.drawn !== drawn) {
    lane.picture = picture(scene, row, tile, lane);
    lane.drawn = drawn;
  }
  return lane.picture;
}

/** What stands between brackets, and the brackets, are left out. @param {string} text @param {string} open @param {string} close */
function without(text, open, close) {
  let depth = 0;
  let kept = "";
  for (const c of text) {
    if (c === open)
      depth++;
    if (depth === 0)
      kept += c;
    if (c === close && depth > 0)
      depth--;
  }
  return kept;
}

/** A short name: without parameters, templates and name spaces. @param {string} name */
export function shortName(name) {
  if (!/[(<]/.test(name) || name.length < 20 || /operator/.test(name))
    return name;
  const bare = without(without(name.replace(/^void /, "").replace(/\(anonymous namespace\)::/g, ""), "<", ">"), "(", ")").trim();
  const last = bare.slice(bare.lastIndexOf("::") + 2 || 0).replace(/^:+/, "");
  return (bare.includes("::") ? last : bare) || name;
}

/** @param {Scene} scene @param {string} text @param {number} x @param {number} y @param {number} width @param {string} ink */
function label(scene, text, x, y, width, ink) {
  const { context } = scene;
  const shown = shortName(text);
  const left = Math.max(x, 0) + 4;
  const room = Math.min(x + width, scene.width) - left - 4;
  if (room < TEXT_PIXELS - 8)
    return;
  const letters = Math.floor(room / 6.6);
  context.fillStyle = ink;
  context.fillText(shown.length > letters ? `${shown.slice(0, Math.max(letters - 1, 1))}…` : shown, left, y);
}

/** @param {Scene} scene @param {Row} row @param {number} laneNumber @param {Lane} lane @param {number} i @param {number} x @param {number} y @param {number} width @param {number} height */
function drawSlice(scene, row, laneNumber, lane, i, x, y, width, height) {
  const { context, picked } = scene;
  const colour = colourOf(scene, row, lane.flags[i] & 255, lane.name[i]);
  const text = scene.report(row.report).names.get(lane.name[i]) || "";
  const left = Math.max(x, -2);
  const right = Math.min(x + width, scene.width + 2);
  const dimmed = scene.search && !text.toLowerCase().includes(scene.search);
  context.globalAlpha = dimmed ? 0.25 : 1;
  context.fillStyle = colours.css(colour);
  context.fillRect(left, y, Math.max(right - left - 0.5, 1), height);
  if (lane.flags[i] & 512) {
    context.fillStyle = scene.ink.trouble;
    context.fillRect(left, y + height - 3, right - left, 3);
  }
  if (width >= TEXT_PIXELS && height >= 12)
    label(scene, text, x, y + height - 5, width, colours.inkOn(colour));
  context.globalAlpha = 1;
  const chosen = picked && picked.report === row.report && picked.row === row.id && picked.lane === laneNumber && picked.index === lane.index[i];
  if (chosen || (scene.pickedName && scene.pickedName === lane.name[i] && picked?.report === row.report)) {
    context.strokeStyle = chosen ? scene.ink.strong : scene.ink.like;
    context.lineWidth = chosen ? 2 : 1;
    context.strokeRect(left + 0.5, y + 0.5, Math.max(right - left - 1.5, 1), height - 1);
  }
}

/** Where a time of a report lies. @param {Scene} scene @param {Row} row @param {number} time */
function xOf(scene, row, time) {
  return (time + scene.report(row.report).offset - scene.from) / scene.perPixel;
}

/** What is too narrow to be drawn by itself. @param {Scene} scene @param {Row} row @param {Tile} tile @param {number} laneNumber @param {number} y @param {number} height
 * @param {number} cutFrom @param {number} cutTo in ns */
function drawPicture(scene, row, tile, laneNumber, y, height, cutFrom, cutTo) {
  const lane = tile.lanes[laneNumber];
  const bucket = 2 ** tile.level;
  const source = (cutFrom - tile.index * tileSpan(tile.level)) / bucket;
  if (!lane || (!lane.start.length && !lane.bucket.length))
    return;
  scene.context.drawImage(pictureOf(scene, row, tile, lane), source, 0, (cutTo - cutFrom) / bucket, 1, xOf(scene, row, cutFrom), y,
    (cutTo - cutFrom) / scene.perPixel, height);
}

/** @param {Scene} scene @param {Row} row @param {Tile} tile @param {number} laneNumber @param {number} y @param {number} height @param {number} cutFrom @param {number} cutTo in ns */
function drawSlices(scene, row, tile, laneNumber, y, height, cutFrom, cutTo) {
  const lane = tile.lanes[laneNumber];
  for (let i = 0; lane && i < lane.start.length; i++) {
    const width = (lane.end[i] - lane.start[i]) / scene.perPixel;
    if (width < EXACT_PIXELS || lane.end[i] <= cutFrom || lane.start[i] >= cutTo)
      continue;
    /* A slice over several tiles is in each of them; the first one shown draws it. */
    if (lane.start[i] < cutFrom && xOf(scene, row, cutFrom) > 0)
      continue;
    drawSlice(scene, row, laneNumber, lane, i, xOf(scene, row, lane.start[i]), y, width, height);
  }
}

/** @param {Scene} scene @param {Row} row @param {Tile} tile @param {number} y @param {number} height */
function drawPlot(scene, row, tile, y, height) {
  const lane = tile.lanes[0];
  if (!lane || !lane.mean || !lane.least || !lane.most)
    return;
  const { context } = scene;
  const low = row.least ?? 0;
  const high = Math.max(row.most ?? 1, low + 1e-9);
  const bucket = 2 ** tile.level;
  const begin = tile.index * tileSpan(tile.level) + scene.report(row.report).offset;
  const wide = Math.max(bucket / scene.perPixel, 1);
  const up = (/** @type {number} */ value) => y + height - 2 - (height - 6) * Math.max(0, Math.min(1, (value - low) / (high - low)));
  for (let i = 0; i < lane.bucket.length; i++) {
    const x = (begin + lane.bucket[i] * bucket - scene.from) / scene.perPixel;
    const next = i + 1 < lane.bucket.length ? (begin + lane.bucket[i + 1] * bucket - scene.from) / scene.perPixel : x + wide;
    context.fillStyle = scene.ink.plotArea;
    context.fillRect(x, up(lane.mean[i]), Math.max(next - x, 1), y + height - 2 - up(lane.mean[i]));
    context.fillStyle = scene.ink.plotLine;
    context.fillRect(x, up(lane.most[i]), Math.max(next - x, 1), Math.max(up(lane.least[i]) - up(lane.most[i]), 1.2));
  }
}

/** @param {Scene} scene @param {Row} row @param {number} y */
function drawAxis(scene, row, y) {
  const { context } = scene;
  context.fillStyle = scene.ink.faint;
  context.textAlign = "right";
  const tell = (/** @type {number} */ value) => Number(value).toLocaleString("en-US", { maximumSignificantDigits: 4 });
  context.fillText(`${tell(row.most ?? 1)} ${row.unit || ""}`, scene.width - 4, y + 11);
  context.fillText(tell(row.least ?? 0), scene.width - 4, y + row.height - 4);
  context.textAlign = "left";
}

/** Draws a row at height y and says which tiles it needs. @param {Scene} scene @param {Row} row @param {number} y @returns {Array<[number, number]>} */
export function drawRow(scene, row, y) {
  const loaded = scene.report(row.report);
  const level = levelFor(scene.perPixel / scene.ratio);
  const span = tileSpan(level);
  const from = scene.from - loaded.offset;
  const to = from + scene.width * scene.perPixel;
  const lanes = Math.min(Math.max(row.lanes, 1), Math.max(1, Math.floor((row.height - 2) / LANE)));
  /** @type {Array<[number, number]>} */
  const wanted = [];
  /** @type {Array<[Tile, number]>} */
  const shown = [];
  if (row.id < 0 || row.lanes === 0)
    return wanted;
  for (let index = Math.max(0, Math.floor(from / span)); index * span < to && index * span <= loaded.length; index++) {
    wanted.push([row.id, index]);
    const tile = loaded.tiles.find(row.id, level, index) || loaded.tiles.instead(row.id, level, index * span);
    if (!tile)
      continue;
    if (row.draw === "plot") {
      drawPlot(scene, row, tile, y, row.height);
      continue;
    }
    shown.push([tile, index * span]);
  }
  const height = row.draw === "slices" ? LANE - 1 : row.height - 6;
  /* Names go over the borders of tiles: all pictures first. */
  for (const draw of [drawPicture, drawSlices])
    for (const [tile, begin] of shown)
      for (let lane = 0; lane < Math.min(lanes, tile.lanes.length); lane++)
        draw(scene, row, tile, lane, y + 2 + lane * LANE, height, begin, begin + span);
  if (row.draw === "plot")
    drawAxis(scene, row, y);
  return wanted;
}

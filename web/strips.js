// Rows as pictures: the colour and cover of each bucket, brought to device pixels exactly. A pixel is a fixed piece of time as long as one
// does not zoom, so that panning only moves what was painted.
import { TILE_BUCKETS, levelFor, tileSpan } from "./tiles.js";

/** Of 255: even the shortest event is shaded by so much. */
const LEAST_SHADE = 36;
/** Pixels painted beyond the edges, while one pans. */
const MARGIN = 300;

/** @typedef {import("./rows.js").Row} Row */
/** @typedef {import("./tiles.js").Lane} Lane */
/** @typedef {import("./tiles.js").Tile} Tile */
/** @typedef {import("./draw.js").Scene} Scene */
/** @typedef {{ canvas: HTMLCanvasElement, first: number, width: number, step: number, key: string }} Strip */

const weight = new Float32Array(TILE_BUCKETS);
const red = new Float32Array(TILE_BUCKETS);
const green = new Float32Array(TILE_BUCKETS);
const blue = new Float32Array(TILE_BUCKETS);

/** @param {number} bucket @param {number} share @param {import("./colours.js").Colour} colour */
function add(bucket, share, colour) {
  weight[bucket] += share;
  red[bucket] += share * colour.r;
  green[bucket] += share * colour.g;
  blue[bucket] += share * colour.b;
}

/** @param {number} from @param {number} to in buckets @param {import("./colours.js").Colour} colour */
function addSpan(from, to, colour) {
  const first = Math.max(0, Math.floor(from));
  const last = Math.min(TILE_BUCKETS - 1, Math.floor(to));
  for (let i = first; i <= last; i++) {
    const share = Math.min(to, i + 1) - Math.max(from, i);
    if (share > 0)
      add(i, share, colour);
  }
}

/** How much a bucket of points is shaded: by how many there are. @param {number} count */
export function pointShade(count) {
  return Math.min(1, 0.45 + 0.12 * Math.log2(Math.max(count, 1)));
}

/** @param {Scene} scene @param {Row} row @param {Tile} tile @param {Lane} lane */
function fillBuckets(scene, row, tile, lane) {
  const bucket = 2 ** tile.level;
  const begin = tile.index * tileSpan(tile.level);
  const { paint } = scene.report(row.report);
  const points = row.draw === "points";
  for (let i = 0; i < lane.start.length; i++) {
    const colour = paint.of(scene.mode, lane.flags[i] & 255, lane.name[i], row.id);
    const from = (lane.start[i] - begin) / bucket;
    if (points && from >= 0 && from < TILE_BUCKETS)
      add(Math.floor(from), 1, colour);
    else
      addSpan(from, (lane.end[i] - begin) / bucket, colour);
  }
  for (let i = 0; i < lane.bucket.length; i++)
    add(lane.bucket[i], points ? pointShade(lane.events?.[i] ?? 1) : lane.busy[i] / 255, paint.of(scene.mode, lane.kind[i], lane.bucketName?.[i] ?? 0, row.id));
}

/** Red, green, blue and cover (0 to 255) of each bucket. @param {Scene} scene @param {Row} row @param {Tile} tile @param {Lane} lane @returns {Uint8Array | null} */
export function lanePixels(scene, row, tile, lane) {
  if (!lane.start.length && !lane.bucket.length)
    return null;
  const { names, paint } = scene.report(row.report);
  if (lane.pixels && (lane.painted === scene.mode || lane.painted === `${scene.mode}/${names.version}`))
    return lane.pixels;
  weight.fill(0);
  red.fill(0);
  green.fill(0);
  blue.fill(0);
  paint.missing = false;
  fillBuckets(scene, row, tile, lane);
  lane.pixels ||= new Uint8Array(4 * TILE_BUCKETS);
  for (let i = 0; i < TILE_BUCKETS; i++) {
    const all = weight[i];
    lane.pixels[4 * i] = all ? red[i] / all : 0;
    lane.pixels[4 * i + 1] = all ? green[i] / all : 0;
    lane.pixels[4 * i + 2] = all ? blue[i] / all : 0;
    lane.pixels[4 * i + 3] = all ? Math.max(1, Math.min(255, Math.round(255 * all))) : 0;
  }
  /* Colours of names that have not come are painted again when they have. */
  lane.painted = paint.missing ? `${scene.mode}/${names.version}` : scene.mode;
  if (paint.missing)
    scene.missing = true;
  return lane.pixels;
}

/** Buckets of a lane from a first one on, taken from other levels where the right tiles have not come.
 * @param {Scene} scene @param {Row} row @param {number} laneNumber @param {number} level @param {number} first tile @param {number} count of tiles */
function laneBuckets(scene, row, laneNumber, level, first, count) {
  const { tiles } = scene.report(row.report);
  const out = new Uint8Array(count * TILE_BUCKETS * 4);
  let any = false;
  for (let n = 0; n < count; n++) {
    const tile = tiles.find(row.id, level, first + n);
    const lane = tile?.lanes[laneNumber];
    const pixels = tile && lane ? lanePixels(scene, row, tile, lane) : null;
    if (pixels)
      out.set(pixels, n * TILE_BUCKETS * 4);
    any ||= Boolean(pixels);
    if (!tile)
      any = fillInstead(scene, row, laneNumber, level, first + n, out.subarray(n * TILE_BUCKETS * 4, (n + 1) * TILE_BUCKETS * 4)) || any;
  }
  return any ? out : null;
}

/** @param {Scene} scene @param {Row} row @param {number} laneNumber @param {number} level @param {number} index @param {Uint8Array} out */
function fillInstead(scene, row, laneNumber, level, index, out) {
  const { tiles } = scene.report(row.report);
  const bucket = tileSpan(level) / TILE_BUCKETS;
  const begin = index * tileSpan(level);
  let any = false;
  for (let i = 0; i < TILE_BUCKETS;) {
    const tile = tiles.instead(row.id, level, begin + (i + 0.5) * bucket);
    if (!tile)
      break;
    const other = tileSpan(tile.level) / TILE_BUCKETS;
    const lane = tile.lanes[laneNumber];
    const pixels = lane ? lanePixels(scene, row, tile, lane) : null;
    const from = (begin - tile.index * tileSpan(tile.level)) / other;
    const step = bucket / other;
    for (; i < TILE_BUCKETS; i++) {
      const at = Math.floor(from + (i + 0.5) * step);
      if (at >= TILE_BUCKETS)
        break;
      for (let c = 0; pixels && c < 4; c++)
        out[4 * i + c] = pixels[4 * at + c];
    }
    any ||= pixels !== null;
  }
  return any;
}

/** Brings buckets to pixels: a pixel's cover is the mean of what it spans, its colour that of what covers it.
 * @param {Uint8Array} from four bytes a bucket @param {number} offset bucket at which the first pixel begins @param {number} step buckets a pixel
 * @param {Uint8ClampedArray} to @param {number} at first byte @param {number} width pixels */
export function resample(from, offset, step, to, at, width) {
  const last = from.length / 4 - 1;
  for (let x = 0; x < width; x++) {
    const begin = offset + x * step;
    const end = begin + step;
    let r = 0;
    let g = 0;
    let b = 0;
    let cover = 0;
    for (let i = Math.max(0, Math.floor(begin)); i <= last && i < end; i++) {
      const alpha = from[4 * i + 3];
      if (!alpha)
        continue;
      const part = alpha * (Math.min(end, i + 1) - Math.max(begin, i));
      cover += part;
      r += part * from[4 * i];
      g += part * from[4 * i + 1];
      b += part * from[4 * i + 2];
    }
    if (!cover)
      continue;
    const o = at + 4 * x;
    to[o] = r / cover;
    to[o + 1] = g / cover;
    to[o + 2] = b / cover;
    to[o + 3] = Math.max(cover / step, LEAST_SHADE);
  }
}

/** The row's picture, made anew only where something has changed. @param {Scene} scene @param {Row} row @param {number} lanes @returns {Strip | null} */
export function stripOf(scene, row, lanes) {
  const loaded = scene.report(row.report);
  const level = levelFor(scene.pixel);
  const pixels = Math.ceil(scene.width * scene.ratio);
  const firstPixel = Math.round(scene.from / scene.pixel);
  const old = row.strip;
  const key = `${scene.pixel}/${scene.mode}/${loaded.tiles.stamp(row.id)}/${loaded.offset}/${lanes}`;
  if (old && (old.key === key || old.key === `${key}/${loaded.names.version}`) && old.first <= firstPixel && old.first + old.width >= firstPixel + pixels)
    return old;
  const margin = scene.still ? MARGIN : 0;
  const first = firstPixel - margin;
  const width = pixels + 2 * margin;
  const canvas = old?.canvas || document.createElement("canvas");
  const step = scene.pixel / 2 ** level;
  const begin = (first * scene.pixel - loaded.offset) / 2 ** level;
  const firstTile = Math.max(0, Math.floor(begin / TILE_BUCKETS));
  const lastTile = Math.min(Math.floor(loaded.length / tileSpan(level)), Math.floor((begin + width * step) / TILE_BUCKETS));
  if (canvas.width !== width || canvas.height !== lanes) {
    canvas.width = width;
    canvas.height = lanes;
  }
  const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d", { willReadFrequently: true }));
  const image = context.createImageData(width, lanes);
  scene.missing = false;
  for (let lane = 0; lane < lanes && lastTile >= firstTile; lane++) {
    const buckets = laneBuckets(scene, row, lane, level, firstTile, lastTile - firstTile + 1);
    if (buckets)
      resample(buckets, begin - firstTile * TILE_BUCKETS, step, image.data, 4 * lane * width, width);
  }
  context.putImageData(image, 0, 0);
  row.strip = { canvas, first, width, step: scene.pixel, key: scene.missing ? `${key}/${loaded.names.version}` : key };
  return row.strip;
}

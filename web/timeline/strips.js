// Rows as pictures: the colour and cover of each bucket, brought to device pixels exactly. A pixel is a fixed piece of time as long as one
// does not zoom, so that panning only moves what was painted.
import { laneHeight } from "./rows.js";
import { TILE_BUCKETS, levelFor, tileSpan } from "./tiles.js";

/**
 * Where there is room a pixel of a lane is a bar of so many cells, as many of which are filled as was busy: full colours stand out from the
 * ground, and heights can be told apart.
 */
const CELLS = 8;
/** The part of the bar, or of the shade, that even the shortest event has. */
const LEAST = 1 / CELLS;
const OPAQUE = 255 << 24;
/** @type {{ colours: Int32Array, shares: Float32Array, below: Float32Array }} of a line of pixels */
let line = { colours: new Int32Array(0), shares: new Float32Array(0), below: new Float32Array(0) };
/** Pixels painted beyond the edges, while one pans. */
const MARGIN = 300;

/** @typedef {import("./rows.js").Row} Row */
/** @typedef {import("./tiles.js").Lane} Lane */
/** @typedef {import("./tiles.js").Tile} Tile */
/** @typedef {import("./draw.js").Scene} Scene */
/** @typedef {{ canvas: HTMLCanvasElement, cells: number, first: number, width: number, step: number, key: string }} Strip */

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
  for (let i = 0; i < lane.bucket.length; i++) {
    const colour = paint.of(scene.mode, lane.kind[i], lane.bucketName?.[i] ?? 0, row.id);
    add(lane.bucket[i], points ? pointShade(lane.events?.[i] ?? 1) : lane.busy[i] / 255, colour);
  }
}

/**
 * Red, green, blue and cover (0 to 255) of each bucket.
 * @param {Scene} scene @param {Row} row @param {Tile} tile @param {Lane} lane @returns {Uint8Array | null}
 */
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
 * @param {Scene} scene @param {Row} row @param {number} laneNumber @param {number} level @param {number} first tile
 * @param {number} count of tiles */
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

/** Brings buckets to pixels: a pixel's share is the mean of the covers that it spans, its colour that of what covers it.
 * @param {Uint8Array} from four bytes a bucket @param {number} offset bucket at which the first pixel begins
 * @param {number} step buckets a pixel
 * @param {Int32Array} colours red, green and blue from the lowest byte on @param {Float32Array} shares of 1 @param {number} width pixels */
export function resample(from, offset, step, colours, shares, width) {
  const last = from.length / 4 - 1;
  const whole = 1 / (255 * step);
  for (let x = 0; x < width; x++) {
    shares[x] = 0;
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
    const part = 1 / cover;
    colours[x] = (r * part + 0.5) | ((g * part + 0.5) << 8) | ((b * part + 0.5) << 16);
    shares[x] = Math.min(1, cover * whole);
  }
}

/** A lane as bars, in a picture of red, green, blue and alpha. Lanes that lie in one line stand on each other.
 * @param {Int32Array} image @param {number} top its first line of pixels @param {number} width @param {Int32Array} colours
 * @param {Float32Array} shares in the end how many cells are filled
 * @param {Float32Array | null} below how far what lies below is filled, and with this lane */
export function fillBars(image, top, width, colours, shares, below) {
  let most = 0;
  for (let x = 0; x < width; x++) {
    if (!shares[x])
      continue;
    shares[x] = CELLS * Math.min(1, (below ? below[x] : 0) + LEAST + (1 - LEAST) * shares[x]);
    if (below)
      below[x] = shares[x] / CELLS;
    most = Math.max(most, shares[x]);
  }
  /* Line by line, as it lies in memory. */
  for (let cell = 0; cell < most; cell++) {
    const begin = (top + CELLS - 1 - cell) * width;
    for (let x = 0; x < width; x++) {
      const filled = shares[x] - cell;
      if (filled > 0)
        image[begin + x] = colours[x] | (filled >= 1 ? OPAQUE : (255 * filled + 0.5) << 24);
    }
  }
}

/** A lane without room for bars, or of points: by its shade. The root, as little must be told from nothing.
 * @param {Int32Array} image @param {number} top @param {number} width @param {Int32Array} colours @param {Float32Array} shares */
export function fillShades(image, top, width, colours, shares) {
  for (let x = 0; x < width; x++)
    if (shares[x])
      image[top * width + x] = colours[x] | ((255 * (LEAST + (1 - LEAST) * Math.sqrt(shares[x])) + 0.5) << 24);
}

/** @param {number} width */
function lineOf(width) {
  if (line.shares.length < width)
    line = { colours: new Int32Array(width), shares: new Float32Array(width), below: new Float32Array(width) };
  line.below.fill(0);
  return line;
}

/** @param {Row} row */
function cellsOf(row) {
  return row.draw === "group" || (row.draw === "slices" && laneHeight(row) >= 2 * CELLS) ? CELLS : 1;
}

/**
 * The row's picture, made anew only where something has changed.
 * @param {Scene} scene @param {Row} row @param {number} lanes @returns {Strip | null}
 */
export function stripOf(scene, row, lanes) {
  const loaded = scene.report(row.report);
  const level = levelFor(scene.pixel);
  const pixels = Math.ceil(scene.width * scene.ratio);
  const firstPixel = Math.round(scene.from / scene.pixel);
  const old = row.strip;
  const cells = cellsOf(row);
  const key = `${scene.pixel}/${scene.mode}/${loaded.tiles.stamp(row.id)}/${loaded.offset}/${lanes}/${cells}`;
  const isSame = old && (old.key === key || old.key === `${key}/${loaded.names.version}`);
  if (isSame && old.first <= firstPixel && old.first + old.width >= firstPixel + pixels)
    return old;
  const margin = scene.still ? MARGIN : 0;
  const first = firstPixel - margin;
  const width = pixels + 2 * margin;
  const canvas = old?.canvas || document.createElement("canvas");
  const step = scene.pixel / 2 ** level;
  const begin = (first * scene.pixel - loaded.offset) / 2 ** level;
  const firstTile = Math.max(0, Math.floor(begin / TILE_BUCKETS));
  const lastTile = Math.min(Math.floor(loaded.length / tileSpan(level)), Math.floor((begin + width * step) / TILE_BUCKETS));
  if (canvas.width !== width || canvas.height !== lanes * cells) {
    canvas.width = width;
    canvas.height = lanes * cells;
  }
  const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d", { willReadFrequently: true }));
  const image = context.createImageData(width, lanes * cells);
  const cellPixels = new Int32Array(image.data.buffer);
  const { colours, shares, below } = lineOf(width);
  scene.missing = false;
  for (let lane = 0; lane < lanes && lastTile >= firstTile; lane++) {
    const buckets = laneBuckets(scene, row, lane, level, firstTile, lastTile - firstTile + 1);
    if (!buckets)
      continue;
    resample(buckets, begin - firstTile * TILE_BUCKETS, step, colours, shares, width);
    if (cells > 1)
      fillBars(cellPixels, lane * cells, width, colours, shares, row.overlaid ? below : null);
    else
      fillShades(cellPixels, lane, width, colours, shares);
  }
  context.putImageData(image, 0, 0);
  row.strip = { canvas, cells, first, width, step: scene.pixel, key: scene.missing ? `${key}/${loaded.names.version}` : key };
  return row.strip;
}

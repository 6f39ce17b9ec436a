// What rows look like, in pieces of 256 buckets of 2^level ns. Old pieces stay until new ones have come.
import { binary } from "../api.js";

export const TILE_BUCKETS = 256;
const MOST_BYTES = 80 << 20;
const TILES_A_REQUEST = 1024;
/** More requests are not under way at once: what is wanted by then may be something else. */
const MOST_REQUESTS = 3;

/**
 * @typedef {object} Lane
 * @property {Float64Array} start
 * @property {Float64Array} end
 * @property {Uint32Array} name
 * @property {Uint32Array} index
 * @property {Uint32Array} flags
 * @property {Uint16Array} bucket
 * @property {Uint8Array} busy
 * @property {Uint8Array} kind
 * @property {Uint32Array} [events]
 * @property {Uint32Array} [bucketName]
 * @property {Uint32Array} [bucketIndex]
 * @property {Float32Array} [least]
 * @property {Float32Array} [most]
 * @property {Float32Array} [mean]
 * @property {number} longest of those that are listed, ns
 * @property {Uint8Array} [pixels] colour and cover of each bucket
 * @property {string} [painted] what the pixels were made with
 */
/** @typedef {{ row: number, index: number, level: number, lanes: Lane[], used: number, bytes: number, stale: boolean }} Tile */

/** The level whose buckets are between half a pixel and a pixel wide. @param {number} nsPerPixel */
export function levelFor(nsPerPixel) {
  return Math.max(0, Math.min(50, Math.floor(Math.log2(Math.max(nsPerPixel, 1)))));
}

const SPANS = Array.from({ length: 51 }, (_, level) => TILE_BUCKETS * 2 ** level);

/** @param {number} level */
export function tileSpan(level) {
  return SPANS[level];
}

const NOTHING = new ArrayBuffer(0);
/** @type {Lane} */
const EMPTY = {
  start: new Float64Array(0), end: new Float64Array(0), name: new Uint32Array(0), index: new Uint32Array(0), flags: new Uint32Array(0),
  bucket: new Uint16Array(0), busy: new Uint8Array(0), kind: new Uint8Array(0), longest: 0,
};

/** Hands out arrays over a copy of a lane's part of the answer: they begin with the widest and so are aligned. */
class Reader {
  /** @param {ArrayBuffer} data */
  constructor(data) {
    this.view = new DataView(data);
    this.data = data;
    this.at = 0;
    this.copy = NOTHING;
    this.in = 0;
  }

  u32() {
    this.at += 4;
    return this.view.getUint32(this.at - 4, true);
  }

  f64() {
    this.at += 8;
    return this.view.getFloat64(this.at - 8, true);
  }

  /** @param {number} size */
  begin(size) {
    this.copy = this.data.slice(this.at, this.at + size);
    this.at += size;
    this.in = 0;
  }

  /** @param {number} size @returns {number} where it begins */
  take(size) {
    const from = this.in;
    this.in += (size + 3) & ~3;
    return from;
  }
}

/** @param {Reader} r @param {boolean} plot @returns {Lane} */
function readLane(r, plot) {
  const s = r.u32();
  const b = r.u32();
  const padded = (/** @type {number} */ size) => (size + 3) & ~3;
  if (s === 0 && b === 0)
    return EMPTY;
  r.begin(28 * s + padded(2 * b) + 2 * padded(b) + 12 * b);
  const { copy } = r;
  /** @type {Lane} */
  const lane = {
    start: new Float64Array(copy, r.take(8 * s), s), end: new Float64Array(copy, r.take(8 * s), s),
    name: new Uint32Array(copy, r.take(4 * s), s), index: new Uint32Array(copy, r.take(4 * s), s),
    flags: new Uint32Array(copy, r.take(4 * s), s),
    bucket: new Uint16Array(copy, r.take(2 * b), b), busy: new Uint8Array(copy, r.take(b), b),
    kind: new Uint8Array(copy, r.take(b), b), longest: 0,
  };
  if (plot) {
    lane.least = new Float32Array(copy, r.take(4 * b), b);
    lane.most = new Float32Array(copy, r.take(4 * b), b);
    lane.mean = new Float32Array(copy, r.take(4 * b), b);
  } else {
    lane.events = new Uint32Array(copy, r.take(4 * b), b);
    lane.bucketName = new Uint32Array(copy, r.take(4 * b), b);
    lane.bucketIndex = new Uint32Array(copy, r.take(4 * b), b);
  }
  for (let i = 0; i < s; i++)
    lane.longest = Math.max(lane.longest, lane.end[i] - lane.start[i]);
  return lane;
}

/** @param {ArrayBuffer} data @param {number} level @param {(row: number) => boolean} isPlot @returns {Tile[]} */
export function readTiles(data, level, isPlot) {
  const r = new Reader(data);
  const tiles = [];
  while (r.at < data.byteLength) {
    const began = r.at;
    const row = r.u32();
    const count = r.u32();
    const index = r.f64();
    const plot = isPlot(row);
    const lanes = Array.from({ length: count }, () => readLane(r, plot));
    /* Pixels, and what the browser needs for all these arrays. */
    const bytes = r.at - began + lanes.filter((lane) => lane !== EMPTY).length * 2400 + 300;
    tiles.push({ row, index, level, used: 0, lanes, bytes, stale: false });
  }
  return tiles;
}

/** @param {number} row @param {number} level @param {number} index */
const keyOf = (row, level, index) => `${row}/${level}/${index}`;

/** The tiles of one report. */
export class Tiles {
  /**
   * @param {number} report @param {(row: number) => boolean} isPlot @param {() => void} arrived @param {(error: unknown) => void} failed
   */
  constructor(report, isPlot, arrived, failed) {
    this.report = report;
    this.isPlot = isPlot;
    this.arrived = arrived;
    this.failed = failed;
    /** @type {Map<string, Tile>} */
    this.known = new Map();
    /** @type {Map<string, AbortController>} */
    this.asked = new Map();
    /** @type {Set<AbortController>} requests that may be given up when something else is looked at */
    this.mayEnd = new Set();
    /** @type {Map<number, Map<number, number>>} how many tiles of which level a row has */
    this.levels = new Map();
    /** @type {Map<number, number>} changes with each tile that comes for a row */
    this.stamps = new Map();
    this.clock = 0;
    this.bytes = 0;
  }

  /** @param {number} row @param {number} level @param {number} index */
  find(row, level, index) {
    const tile = this.known.get(keyOf(row, level, index));
    if (tile)
      tile.used = ++this.clock;
    return tile;
  }

  /** @param {number} row */
  stamp(row) {
    return this.stamps.get(row) || 0;
  }

  /** Other levels a row has tiles of: the coarser ones first, the nearest of them first. @param {number} row @param {number} level */
  otherLevels(row, level) {
    const levels = [...(this.levels.get(row)?.keys() || [])].filter((other) => other !== level && other > level - 4);
    return levels.sort((a, b) => (a > level ? a - level : 100 + level - a) - (b > level ? b - level : 100 + level - b));
  }

  /** Another level's tile over that time: better than nothing until the right one is there.
   * @param {number} row @param {number} level @param {number} time @returns {Tile | undefined} */
  instead(row, level, time) {
    for (const other of this.otherLevels(row, level)) {
      const tile = this.find(row, other, Math.floor(time / tileSpan(other)));
      if (tile)
        return tile;
    }
    return undefined;
  }

  /** @param {number} level @param {Array<[number, number]>} wanted */
  missing(level, wanted) {
    return wanted.filter(([row, index]) => {
      const key = keyOf(row, level, index);
      const tile = this.known.get(key);
      return (!tile || tile.stale) && !this.asked.has(key);
    });
  }

  /** Asks for what is missing among the tiles wanted; what is no longer wanted is not waited for.
   * @param {number} level @param {Array<[number, number]>} wanted pairs of row and index */
  want(level, wanted) {
    const missing = this.missing(level, wanted);
    if (this.mayEnd.size) {
      const still = new Set();
      for (const [row, index] of wanted) {
        const controller = this.asked.get(keyOf(row, level, index));
        if (controller)
          still.add(controller);
      }
      for (const controller of this.mayEnd)
        if (!still.has(controller))
          controller.abort();
    }
    for (let i = 0; i < missing.length && this.mayEnd.size < MOST_REQUESTS; i += TILES_A_REQUEST)
      this.ask(level, missing.slice(i, i + TILES_A_REQUEST), true);
    return missing.length === 0;
  }

  /** Asks for what is missing, beside what else is on its way. @param {number} level @param {Array<[number, number]>} wanted */
  wantAlso(level, wanted) {
    const missing = this.missing(level, wanted);
    if (missing.length)
      this.ask(level, missing, false);
  }

  /** @param {number} level @param {number[][]} pairs @param {boolean} mayEnd */
  async ask(level, pairs, mayEnd) {
    const controller = new AbortController();
    const keys = pairs.map(([row, index]) => keyOf(row, level, index));
    for (const key of keys)
      this.asked.set(key, controller);
    if (mayEnd)
      this.mayEnd.add(controller);
    try {
      const list = pairs.map(([row, index]) => `${row}:${index}`).join(",");
      const data = await binary("/api/tiles", { report: this.report, level, tiles: list }, controller.signal);
      for (const tile of readTiles(data, level, this.isPlot))
        this.keep(tile);
    } catch (error) {
      if (!(error instanceof DOMException && error.name === "AbortError"))
        this.failed(error);
    } finally {
      this.mayEnd.delete(controller);
      for (const key of keys)
        if (this.asked.get(key) === controller)
          this.asked.delete(key);
      this.arrived();
    }
  }

  /** @param {Tile} tile */
  keep(tile) {
    const key = keyOf(tile.row, tile.level, tile.index);
    const before = this.known.get(key);
    tile.used = ++this.clock;
    if (before)
      this.drop(key, before);
    this.known.set(key, tile);
    this.bytes += tile.bytes;
    this.stamps.set(tile.row, this.stamp(tile.row) + 1);
    const levels = this.levels.get(tile.row) || new Map();
    levels.set(tile.level, (levels.get(tile.level) || 0) + 1);
    this.levels.set(tile.row, levels);
    if (this.bytes > MOST_BYTES)
      this.forget();
  }

  /** @param {string} key @param {Tile} tile */
  drop(key, tile) {
    const levels = this.levels.get(tile.row);
    const left = (levels?.get(tile.level) || 1) - 1;
    if (left)
      levels?.set(tile.level, left);
    else
      levels?.delete(tile.level);
    this.known.delete(key);
    this.bytes -= tile.bytes;
  }

  /** Those that were not looked at for longest, until a quarter of the room is free. */
  forget() {
    const oldest = [...this.known.entries()].sort((a, b) => a[1].used - b[1].used);
    for (const [key, tile] of oldest) {
      if (this.bytes < 0.75 * MOST_BYTES)
        break;
      this.drop(key, tile);
    }
  }

  clear() {
    for (const row of this.levels.keys())
      this.stamps.set(row, this.stamp(row) + 1);
    this.known.clear();
    this.levels.clear();
    this.bytes = 0;
  }

  /** The recording has grown: what reaches beyond its old end is asked for again, and shown until then. @param {number} end */
  outdate(end) {
    for (const tile of this.known.values())
      if ((tile.index + 1) * tileSpan(tile.level) > end)
        tile.stale = true;
  }

  /** Nothing is on its way. */
  get settled() {
    return this.asked.size === 0;
  }
}

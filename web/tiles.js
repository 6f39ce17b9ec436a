// What rows look like, in pieces of 256 buckets of 2^level ns. Old pieces stay until new ones have come.
import { binary } from "./api.js";

export const TILE_BUCKETS = 256;
const MOST_TILES = 6000;
const TILES_A_REQUEST = 400;

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
 * @property {HTMLCanvasElement} [picture] drawn once, stretched ever after
 * @property {string} [drawn] what the picture was drawn with
 */
/** @typedef {{ row: number, index: number, level: number, lanes: Lane[], used: number }} Tile */

/** The level whose buckets are between half a pixel and a pixel wide. @param {number} nsPerPixel */
export function levelFor(nsPerPixel) {
  return Math.max(0, Math.floor(Math.log2(Math.max(nsPerPixel, 1))));
}

/** @param {number} level */
export function tileSpan(level) {
  return TILE_BUCKETS * 2 ** level;
}

/** Reads the binary answer; arrays are copies, so that they are aligned. */
class Reader {
  /** @param {ArrayBuffer} data */
  constructor(data) {
    this.data = data;
    this.view = new DataView(data);
    this.at = 0;
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
  take(size) {
    const piece = this.data.slice(this.at, this.at + size);
    this.at += (size + 3) & ~3;
    return piece;
  }
}

/** @param {Reader} r @param {boolean} plot @returns {Lane} */
function readLane(r, plot) {
  const listed = r.u32();
  const buckets = r.u32();
  /** @type {Lane} */
  const lane = {
    start: new Float64Array(r.take(8 * listed)), end: new Float64Array(r.take(8 * listed)),
    name: new Uint32Array(r.take(4 * listed)), index: new Uint32Array(r.take(4 * listed)), flags: new Uint32Array(r.take(4 * listed)),
    bucket: new Uint16Array(r.take(2 * buckets)), busy: new Uint8Array(r.take(buckets)), kind: new Uint8Array(r.take(buckets)),
  };
  if (plot) {
    lane.least = new Float32Array(r.take(4 * buckets));
    lane.most = new Float32Array(r.take(4 * buckets));
    lane.mean = new Float32Array(r.take(4 * buckets));
  } else {
    lane.events = new Uint32Array(r.take(4 * buckets));
    lane.bucketName = new Uint32Array(r.take(4 * buckets));
    lane.bucketIndex = new Uint32Array(r.take(4 * buckets));
  }
  return lane;
}

/** @param {ArrayBuffer} data @param {number} level @param {(row: number) => boolean} isPlot @returns {Tile[]} */
export function readTiles(data, level, isPlot) {
  const r = new Reader(data);
  const tiles = [];
  while (r.at < data.byteLength) {
    const row = r.u32();
    const lanes = r.u32();
    const index = r.f64();
    const plot = isPlot(row);
    tiles.push({ row, index, level, used: 0, lanes: Array.from({ length: lanes }, () => readLane(r, plot)) });
  }
  return tiles;
}

/** The tiles of one report. */
export class Tiles {
  /** @param {number} report @param {(row: number) => boolean} isPlot @param {() => void} arrived @param {(error: unknown) => void} failed */
  constructor(report, isPlot, arrived, failed) {
    this.report = report;
    this.isPlot = isPlot;
    this.arrived = arrived;
    this.failed = failed;
    /** @type {Map<string, Tile>} */
    this.known = new Map();
    /** @type {Map<string, AbortController>} */
    this.asked = new Map();
    /** @type {Set<AbortController>} requests that may be given up when another level is looked at */
    this.stale = new Set();
    /** @type {Map<number, Set<number>>} levels a row has tiles of */
    this.levels = new Map();
    this.clock = 0;
  }

  /** @param {number} row @param {number} level @param {number} index */
  find(row, level, index) {
    const tile = this.known.get(`${row}/${level}/${index}`);
    if (tile)
      tile.used = ++this.clock;
    return tile;
  }

  /** Another level's tile over that time, the nearest first: better than nothing until the right one is there.
   * @param {number} row @param {number} level @param {number} from @returns {Tile | undefined} */
  instead(row, level, from) {
    const levels = [...(this.levels.get(row) || [])].sort((a, b) => Math.abs(a - level) - Math.abs(b - level));
    for (const other of levels) {
      const tile = other > level && this.find(row, other, Math.floor(from / tileSpan(other)));
      if (tile)
        return tile;
    }
    return undefined;
  }

  /** Asks for what is missing among the tiles wanted; what is no longer wanted is not waited for.
   * @param {number} level @param {Array<[number, number]>} wanted pairs of row and index */
  want(level, wanted) {
    const missing = [];
    const keys = new Set();
    for (const [row, index] of wanted) {
      const key = `${row}/${level}/${index}`;
      keys.add(key);
      if (!this.known.has(key) && !this.asked.has(key))
        missing.push([row, index]);
    }
    for (const [key, controller] of this.asked)
      if (!keys.has(key) && !key.includes(`/${level}/`) && this.stale.has(controller))
        controller.abort();
    for (let i = 0; i < missing.length; i += TILES_A_REQUEST)
      this.ask(level, missing.slice(i, i + TILES_A_REQUEST));
  }

  /** Asks for what is missing, beside what else is on its way. @param {number} level @param {Array<[number, number]>} wanted */
  wantAlso(level, wanted) {
    const missing = wanted.filter(([row, index]) => !this.known.has(`${row}/${level}/${index}`) && !this.asked.has(`${row}/${level}/${index}`));
    if (missing.length)
      this.ask(level, missing, false);
  }

  /** @param {number} level @param {number[][]} pairs @param {boolean} [mayGoStale] */
  async ask(level, pairs, mayGoStale = true) {
    const controller = new AbortController();
    const keys = pairs.map(([row, index]) => `${row}/${level}/${index}`);
    for (const key of keys)
      this.asked.set(key, controller);
    if (mayGoStale)
      this.stale.add(controller);
    try {
      const list = pairs.map(([row, index]) => `${row}:${index}`).join(",");
      const data = await binary("/api/tiles", { report: this.report, level, tiles: list }, controller.signal);
      for (const tile of readTiles(data, level, this.isPlot))
        this.keep(tile);
      this.arrived();
    } catch (error) {
      if (!(error instanceof DOMException && error.name === "AbortError"))
        this.failed(error);
    } finally {
      this.stale.delete(controller);
      for (const key of keys)
        if (this.asked.get(key) === controller)
          this.asked.delete(key);
    }
  }

  /** @param {Tile} tile */
  keep(tile) {
    tile.used = ++this.clock;
    this.known.set(`${tile.row}/${tile.level}/${tile.index}`, tile);
    if (!this.levels.has(tile.row))
      this.levels.set(tile.row, new Set());
    this.levels.get(tile.row)?.add(tile.level);
    if (this.known.size > MOST_TILES)
      this.forget();
  }

  /** The quarter that was not looked at for longest. */
  forget() {
    const oldest = [...this.known.entries()].sort((a, b) => a[1].used - b[1].used).slice(0, MOST_TILES / 4);
    for (const [key] of oldest)
      this.known.delete(key);
  }

  /** Nothing is on its way. */
  get settled() {
    return this.asked.size === 0;
  }
}

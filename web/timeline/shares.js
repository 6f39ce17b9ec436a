// How much of what is looked at (the measured span where it is in sight, else the window) a row was busy. It is added up of the
// tiles that are drawn, so it is there when they are.
import { levelFor, tileSpan } from "./tiles.js";

/** @typedef {import("../main.js").App} App */
/** @typedef {import("./rows.js").Row} Row */

/** What shares are of. @param {App} app @returns {{ from: number, to: number, isSpan: boolean }} */
export function lookedAt(app) {
  const { span, from, to } = app.view;
  if (span && span[1] > span[0] && span[0] >= from && span[1] <= to)
    return { from: span[0], to: span[1], isSpan: true };
  return { from: Math.max(from, app.view.first), to: Math.min(to, app.view.last), isSpan: false };
}

/** Busy time of a lane of a tile between two times. Shares of buckets are rounded up to one of 255: half of that is taken back.
 * @param {import("./tiles.js").Tile} tile @param {number} lane @param {number} from @param {number} to */
function busyIn(tile, lane, from, to) {
  const it = tile.lanes[lane];
  const width = 2 ** tile.level;
  const begin = tile.index * tileSpan(tile.level);
  const within = (/** @type {number} */ start, /** @type {number} */ end) => Math.max(0, Math.min(end, to) - Math.max(start, from));
  let busy = 0;
  for (let i = 0; i < it.bucket.length; i++) {
    const start = begin + it.bucket[i] * width;
    busy += within(start, start + width) * (it.busy[i] === 255 ? 1 : (it.busy[i] - 0.5) / 255);
  }
  for (let i = 0; i < it.start.length; i++)
    busy += within(Math.max(it.start[i], begin), Math.min(it.end[i], begin + tileSpan(tile.level)));
  return busy;
}

/**
 * Of 1; null where it is not known (yet). Nested lanes: the outermost is the time that something went on; lanes beside each other: all.
 * @param {App} app @param {Row} row @returns {number | null}
 */
export function shareOf(app, row) {
  const loaded = app.loaded[row.report];
  if (!loaded || row.share === undefined || row.share === null)
    return null;
  const at = lookedAt(app);
  const [from, to] = [Math.max(at.from - loaded.offset, 0), Math.min(at.to - loaded.offset, loaded.length)];
  if (!(to > from))
    return 0;
  if (from <= 0 && to >= loaded.length)
    return row.share;
  const level = levelFor(app.timeline.perPixel / app.timeline.ratio);
  const isNested = !["stream", "gpu-sync"].includes(row.kind);
  let busy = 0;
  for (let index = Math.floor(from / tileSpan(level)); index * tileSpan(level) < to; index++) {
    const tile = loaded.tiles.find(row.id, level, index);
    if (!tile)
      return null;
    for (let lane = 0; lane < (isNested ? Math.min(1, tile.lanes.length) : tile.lanes.length); lane++)
      busy += busyIn(tile, lane, from, to);
  }
  return Math.min(busy / (to - from), 1);
}

// Calm, few, and told apart by colour-blind people: blue for compute, orange for communication, green for copies, grey for
// the host; red only for trouble. A name has the same colour in every report.

/** Classes as tiles name them (docs/view.md). */
export const CLASS = Object.freeze({
  none: 0, compute: 1, communication: 2, copy: 3, set: 4, wait: 5, call: 6, range: 7, runtime: 8, running: 9, sample: 10, graph: 11,
});

/** Hue, saturation and lightness by class. */
const BY_CLASS = [
  [215, 10, 52], [212, 62, 50], [32, 82, 50], [158, 52, 40], [172, 38, 46], [215, 8, 60], [228, 28, 58], [262, 34, 56], [205, 14, 48],
  [100, 30, 44], [24, 40, 55], [200, 58, 46],
];
/** Hues that stay apart for the three common kinds of colour blindness. */
const HUES = [212, 36, 168, 262, 195, 18, 228, 50, 148, 285, 205, 28];

/** FNV-1a, so that it is the same everywhere. @param {string} text */
export function hash(text) {
  let h = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) {
    h ^= text.charCodeAt(i);
    h = Math.imul(h, 0x01000193);
  }
  return h >>> 0;
}

/** @param {number} h @param {number} s @param {number} l @returns {[number, number, number]} */
function rgb(h, s, l) {
  const a = (s / 100) * Math.min(l / 100, 1 - l / 100);
  const channel = (/** @type {number} */ n) => {
    const k = (n + h / 30) % 12;
    return Math.round(255 * (l / 100 - a * Math.max(-1, Math.min(k - 3, 9 - k, 1))));
  };
  return [channel(0), channel(8), channel(4)];
}

/** @type {Map<string, [number, number, number]>} */
const cache = new Map();

/** @param {string} key @param {() => [number, number, number]} make */
function cached(key, make) {
  let found = cache.get(key);
  if (!found) {
    found = make();
    cache.set(key, found);
  }
  return found;
}

/** A class's colour; with a name, one of its family: lighter or darker, a little to the side.
 * @param {number} kind @param {string} name @returns {[number, number, number]} */
export function byClass(kind, name) {
  return cached(`c${kind}${name}`, () => {
    const [h, s, l] = BY_CLASS[kind] || BY_CLASS[0];
    const turn = name ? hash(name) : 0;
    return rgb(h + (turn % 25) - 12, s, l + ((turn >>> 8) % 17) - 8);
  });
}

/** @param {string} name @returns {[number, number, number]} */
export function byName(name) {
  return cached(`n${name}`, () => {
    const turn = hash(name);
    return rgb(HUES[turn % HUES.length], 34 + ((turn >>> 8) % 24), 44 + ((turn >>> 16) % 14));
  });
}

/** @param {number} row @returns {[number, number, number]} */
export function byRow(row) {
  return cached(`r${row}`, () => rgb(HUES[row % HUES.length], 42, 50));
}

/** Black or white, whichever can be read on it. @param {[number, number, number]} colour */
export function inkOn([r, g, b]) {
  return 0.299 * r + 0.587 * g + 0.114 * b > 140 ? "#10151c" : "#ffffff";
}

/** @param {[number, number, number]} colour */
export function css([r, g, b]) {
  return `rgb(${r},${g},${b})`;
}

// Calm, few, and told apart by colour-blind people: blue for compute, orange for communication, green for copies, grey for
// the host; red only for trouble. A name has the same colour in every report.

/** @typedef {{ r: number, g: number, b: number, css: string, ink: string }} Colour */

/** Hue, saturation and lightness by class, in the order of docs/view.md. */
const BY_CLASS = [
  [215, 10, 52], [212, 62, 50], [32, 82, 50], [162, 56, 38], [220, 9, 66], [205, 16, 50], [226, 26, 60],
  [262, 30, 60], [190, 30, 46], [20, 34, 52], [46, 38, 58],
];
export const CLASS_NAMES = [
  "other", "compute", "communication", "copies and sets", "waiting", "OS runtime", "CUDA calls", "ranges", "running", "overhead",
  "ready, waits for a CPU",
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

/** Relative luminance as WCAG has it. @param {number} r @param {number} g @param {number} b */
export function luminance(r, g, b) {
  const [x, y, z] = [r, g, b].map((c) => (c / 255 <= 0.03928 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4));
  return 0.2126 * x + 0.7152 * y + 0.0722 * z;
}

/** Every colour is at least 3 times as light or dark as what rows are drawn on, in both themes (style.css, --row and --groupRow). */
const [LEAST_LIGHT, MOST_LIGHT] = [0.156, 0.255];

/** @param {number} h @param {number} s @param {number} l @returns {[number, number, number]} */
function rgbOf(h, s, l) {
  const a = (s / 100) * Math.min(l / 100, 1 - l / 100);
  const channel = (/** @type {number} */ n) => {
    const k = (n + h / 30) % 12;
    return Math.round(255 * (l / 100 - a * Math.max(-1, Math.min(k - 3, 9 - k, 1))));
  };
  return [channel(0), channel(8), channel(4)];
}

/** As asked for, made darker or lighter as far as it must be. @param {number} h @param {number} s @param {number} l @returns {Colour} */
function colour(h, s, l) {
  let [r, g, b] = rgbOf(h, s, l);
  for (let light = luminance(r, g, b); light < LEAST_LIGHT || light > MOST_LIGHT; light = luminance(r, g, b)) {
    l += light > MOST_LIGHT ? -0.5 : 0.5;
    [r, g, b] = rgbOf(h, s, l);
  }
  /* Black or white, whichever is told apart better. */
  return { r, g, b, css: `rgb(${r},${g},${b})`, ink: luminance(r, g, b) > 0.179 ? "#000000" : "#ffffff" };
}

/** @type {Map<string, Colour>} */
const cache = new Map();

/** @param {string} key @param {() => Colour} make */
function cached(key, make) {
  let found = cache.get(key);
  if (!found) {
    found = make();
    cache.set(key, found);
  }
  return found;
}

/** A class's colour; with a name, one of its family: lighter or darker, a little to the side.
 * @param {number} kind @param {string} name @returns {Colour} */
export function byClass(kind, name) {
  return cached(`c${kind}${name}`, () => {
    const [h, s, l] = BY_CLASS[kind] || BY_CLASS[0];
    const turn = name ? hash(name) : 0;
    return colour(h + (name ? (turn % 25) - 12 : 0), s, l + (name ? ((turn >>> 8) % 17) - 8 : 0));
  });
}

/** @param {string} name @returns {Colour} */
export function byName(name) {
  return cached(`n${name}`, () => {
    const turn = hash(name);
    return colour(HUES[turn % HUES.length], 30 + ((turn >>> 8) % 20), 46 + ((turn >>> 16) % 14));
  });
}

/** @param {number} row @returns {Colour} */
export function byRow(row) {
  return cached(`r${row % HUES.length}`, () => colour(HUES[row % HUES.length], 42, 50));
}

/** The colours of one report's events: by kind, by name or by row; those of names are known once their texts have come. */
export class Paint {
  /** @param {(id: number) => string | undefined} textOf */
  constructor(textOf) {
    this.textOf = textOf;
    this.mode = "";
    /** @type {Map<number, Colour>} */
    this.known = new Map();
    this.missing = false;
  }

  /** @param {string} mode class, name or row @param {number} kind @param {number} name @param {number} row @returns {Colour} */
  of(mode, kind, name, row) {
    if (mode === "row")
      return byRow(row);
    if (mode !== this.mode) {
      this.mode = mode;
      this.known.clear();
    }
    const key = name * 16 + kind;
    const found = this.known.get(key);
    if (found)
      return found;
    const text = this.textOf(name);
    if (text === undefined) {
      this.missing = true;
      return byClass(kind, "");
    }
    const made = mode === "name" && text ? byName(text) : byClass(kind, text);
    this.known.set(key, made);
    return made;
  }
}

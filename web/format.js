// Numbers as people read them. Times are nanoseconds.

const UNITS = [["ns", 1], ["us", 1e3], ["ms", 1e6], ["s", 1e9]];

/** The unit in which a span of that length is told.
 * @param {number} ns @returns {[string, number]} */
export function unitOf(ns) {
  const size = Math.abs(ns);
  let found = UNITS[0];
  for (const unit of UNITS)
    if (size >= Number(unit[1]))
      found = unit;
  return [String(found[0]), Number(found[1])];
}

/** @param {Intl.NumberFormatOptions} options */
const numberFormat = (options) => new Intl.NumberFormat("en-US", options);
/** Made once: making one takes longer than using it a hundred times. */
const FORMATS = Array.from({ length: 10 }, (_, digits) => numberFormat({ minimumFractionDigits: digits, maximumFractionDigits: digits }));
const SIGNIFICANT = Array.from({ length: 7 }, (_, digits) => numberFormat({ maximumSignificantDigits: digits + 1 }));
const LOOSE = numberFormat({ maximumFractionDigits: 6 });

/** @param {number} value @param {number} digits */
function plain(value, digits) {
  return FORMATS[digits].format(value);
}

/** A length of time, four significant digits.
 * @param {number} ns @returns {string} */
export function duration(ns) {
  const [unit, size] = unitOf(ns);
  const value = ns / size;
  if (unit === "ns")
    return `${plain(value, 0)} ns`;
  const whole = Math.abs(value) >= 1000 ? 0 : Math.abs(value) >= 100 ? 1 : Math.abs(value) >= 10 ? 2 : 3;
  return `${plain(value, whole)} ${unit}`;
}

/** A length to the nanosecond.
 * @param {number} ns @returns {string} */
export function exact(ns) {
  return `${plain(Math.round(ns), 0)} ns`;
}

/** Without its unit's name where several stand beside each other: with as many digits as a step needs.
 * @param {number} ns @param {[string, number]} unit @param {number} step @returns {string} */
export function inUnit(ns, unit, step) {
  const digits = Math.max(0, Math.min(9, Math.ceil(Math.log10(unit[1] / step) - 1e-9)));
  return `${plain(ns / unit[1], digits)} ${unit[0]}`;
}

/** A moment, in seconds, to the digit that matters when so many ns are a pixel.
 * @param {number} ns @param {number} step @returns {string} */
export function moment(ns, step) {
  const digits = Math.max(0, Math.min(9, Math.ceil(9 - Math.log10(Math.max(step, 1)) - 0.001)));
  return `${plain(ns / 1e9, digits)} s`;
}

/** @param {number} count @returns {string} */
export function count(count) {
  return FORMATS[0].format(count);
}

/** "1 thread", "2 threads". @param {number} number @param {string} plural @returns {string} */
export function some(number, plural) {
  return `${count(number)} ${number === 1 ? plural.replace(/(sses|s)$/, (end) => (end === "sses" ? "ss" : "")) : plural}`;
}

/** With at most so many significant digits, up to 7. @param {number} value @param {number} digits */
export function significant(value, digits) {
  return SIGNIFICANT[digits - 1].format(value);
}

/** With at most one digit behind the point. @param {number} value */
export function rounded(value) {
  return LOOSE.format(Math.round(value * 10) / 10);
}

/** 1st, 2nd, 3rd, 4th ... @param {number} number @returns {string} */
export function ordinal(number) {
  const teen = number % 100 >= 11 && number % 100 <= 13;
  return `${count(number)}${teen ? "th" : { 1: "st", 2: "nd", 3: "rd" }[number % 10] || "th"}`;
}

/** @param {number} share of 1 @returns {string} */
export function percent(share) {
  const value = share * 100;
  return `${plain(value, value >= 10 || value === 0 ? 0 : 1)} %`;
}

/** A value with its unit: bytes and times by their size. @param {number} value @param {string} [unit] @returns {string} */
export function amount(value, unit = "") {
  if (/^(b|bytes?)$/i.test(unit))
    return bytes(value);
  if (unit === "ns")
    return duration(value);
  const size = Math.abs(value);
  const text = size >= 1e6 ? `${SIGNIFICANT[3].format(value / 1e6)} M` : SIGNIFICANT[size >= 1000 ? 5 : 3].format(value);
  return unit ? `${text} ${unit}` : text;
}

/** @param {number} bytes @returns {string} */
export function bytes(bytes) {
  const units = ["B", "KB", "MB", "GB", "TB"];
  let i = 0;
  let value = bytes;
  for (; Math.abs(value) >= 1000 && i < units.length - 1; i++)
    value /= 1000;
  return `${plain(value, i === 0 || value >= 100 ? 0 : 1)} ${units[i]}`;
}

/** @param {string} text @returns {string} */
export function escapeHtml(text) {
  return text.replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);
}

/** Attributes of a tag in their order; those without a value are left out. @param {Record<string, string | number | undefined>} named */
export function attributesHtml(named) {
  const given = Object.entries(named).filter(([, value]) => value !== undefined);
  return given.map(([name, value]) => `${name}="${escapeHtml(String(value))}"`).join(" ");
}

/** The value of an argument, by what it is called. @param {string} key @param {any} value @returns {string} */
export function argument(key, value) {
  if (typeof value !== "number")
    return String(value);
  if (key === "bytes per second")
    return `${bytes(value)}/s`;
  if (key === "bytes" || /_bytes$|^(static|dynamic)_shared|^shared_executed|^local_/.test(key))
    return value >= 1000 ? `${bytes(value)} (${count(value)} B)` : `${value} B`;
  return LOOSE.format(value);
}

/** A list kept as JSON (a report's command), or nothing where it is none. @param {any} text @returns {string[] | null} */
export function listOf(text) {
  try {
    const list = JSON.parse(text);
    return Array.isArray(list) && list.length && list.every((item) => typeof item === "string") ? list : null;
  } catch {
    return null;
  }
}

/** As a shell takes them. @param {string[]} words @returns {string} */
export function shellLine(words) {
  return words.map((word) => (/^[\w\-+=./:,@%]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`)).join(" ");
}

/** What was run, as one types it. @param {any} command @returns {string} */
export function commandLine(command) {
  const words = listOf(command);
  return words ? shellLine(words) : String(command ?? "");
}

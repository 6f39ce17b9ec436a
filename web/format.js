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

/** @param {number} value @param {number} digits */
function plain(value, digits) {
  return value.toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits });
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

/** A moment, in seconds, to the digit that matters when so many ns are a pixel.
 * @param {number} ns @param {number} step @returns {string} */
export function moment(ns, step) {
  const digits = Math.max(0, Math.min(9, Math.ceil(9 - Math.log10(Math.max(step, 1)) - 0.001)));
  return `${plain(ns / 1e9, digits)} s`;
}

/** @param {number} count @returns {string} */
export function count(count) {
  return count.toLocaleString("en-US");
}

/** "1 thread", "2 threads". @param {number} number @param {string} plural @returns {string} */
export function some(number, plural) {
  return `${count(number)} ${number === 1 ? plural.replace(/(sses|s)$/, (end) => (end === "sses" ? "ss" : "")) : plural}`;
}

/** @param {number} share of 1 @returns {string} */
export function percent(share) {
  const value = share * 100;
  return `${plain(value, value >= 10 || value === 0 ? 0 : 1)} %`;
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

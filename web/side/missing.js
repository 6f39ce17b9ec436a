// What a recording does not have, and which option would have recorded it.
import * as format from "../format.js";

/** What rows show, what `-t` calls it, and how it is recorded. @type {Array<[string, string[], string, string]>} */
const SOURCES = [
  ["GPU work and CUDA calls", ["gpu", "cuda-api"], "cuda", "-t cuda"],
  ["NVTX ranges", ["nvtx", "marks"], "nvtx", "-t nvtx"],
  ["calls that wait in the operating system", ["osrt"], "osrt", "-t osrt"],
  ["CPU samples", ["samples"], "", "-s process-tree"],
  ["when threads ran", ["state", "cpu"], "", "--cpuctxsw process-tree"],
];

/**
 * Of a recording of ours; an import says nothing about what could have been.
 * @param {{ facts: any }} loaded @param {Array<{ kind: string }>} rows @returns {Array<[string, string]>} what, and why or how
 */
export function missingSources(loaded, rows) {
  if (!loaded.facts.trace || !loaded.facts.version)
    return [];
  const kinds = new Set(rows.map((row) => row.kind));
  const traced = new Set(String(loaded.facts.trace).split(","));
  return SOURCES.filter(([, shown]) => !shown.some((kind) => kinds.has(kind)))
    .map(([what, , name, option]) => [what, name && traced.has(name) ? "was recorded, but there was none" : `${option} records them`]);
}

/** @param {{ facts: any }} loaded @param {Array<{ kind: string }>} rows */
export function missingHtml(loaded, rows) {
  const missing = missingSources(loaded, rows);
  if (!missing.length)
    return "";
  const items = missing.map(([what, how]) => `<li>${format.escapeHtml(what)}: <span class="faint">${format.escapeHtml(how)}</span></li>`);
  return `<h3>Not recorded</h3><ul class="missing">${items.join("")}</ul>`;
}

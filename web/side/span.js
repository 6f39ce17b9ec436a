// The sums of a measured span, as the panel at the right shows them.
import * as format from "../format.js";
import { nameIn } from "../names.js";

/** @typedef {import("./side.js").Side} Side */

const escape = format.escapeHtml;
const MOST_NAMES = 40;
const MOST_ROWS = 40;
const KINDS = /** @type {Record<string, string>} */ ({
  stream: "GPU streams", compute: "GPU compute", copies: "GPU copies", "gpu-sync": "GPU waiting", "cuda-api": "CUDA calls", nvtx: "ranges",
  osrt: "OS runtime", state: "thread states", generic: "imported slices",
  samples: "CPU samples", marks: "marks", overhead: "overhead", "gpu-memory": "GPU memory", "gpu-allocator": "PyTorch allocator",
  "gpu-switch": "GPU switches", "gpu-nvtx": "ranges on the GPU", cpu: "CPU cores",
});

/** @param {string[]} heads @param {string[][]} rows the first cell of each is HTML of a name */
function table(heads, rows) {
  const head = heads.map((text, i) => `<th class="${i ? "number" : ""}">${text}</th>`).join("");
  const cellHtml = (/** @type {string} */ cell, /** @type {number} */ i) => `<td class="${i ? "number" : ""}">${cell}</td>`;
  const body = rows.map((row) => `<tr>${row.map(cellHtml).join("")}</tr>`).join("");
  return `<table class="small"><thead><tr>${head}</tr></thead>${body}</table>`;
}

/** The names that took longest. @param {Side} side @param {any} sums @param {number} most @returns {string} */
export function namesHtml(side, sums, most) {
  const linkHtml = (/** @type {any} */ n) =>
    `<span title="${escape(n.name)}">${side.link({ search: n.name }, nameIn(n.kind, n.name), n.name)}</span>`;
  const names = sums.names.slice(0, most)
    .map((/** @type {any} */ n) => [linkHtml(n), format.duration(n.total), format.count(n.count), format.duration(n.mean)]);
  const more = sums.different > most ? `<p class="faint">The longest ${most} of ${format.count(sums.different)} names.</p>` : "";
  return `<h3>By name</h3>${table(["Name", "Total", "Events", "Mean"], names)}${more}`;
}

/** @param {Side} side @param {any} sums @param {number} length @param {number} report @returns {string} */
export function sumsHtml(side, sums, length, report) {
  if (!sums.kinds.length)
    return `<p class="empty">Nothing lies in this span.</p>`;
  const kinds = sums.kinds.map((/** @type {any} */ k) => [escape(KINDS[k.kind] || k.kind), format.duration(k.busy), format.count(k.count)]);
  const order = sums.busy.slice().sort((/** @type {any} */ a, /** @type {any} */ b) => b.busy - a.busy);
  const rows = order.slice(0, MOST_ROWS).map((/** @type {any} */ r) => {
    const row = side.app.rows.find(report, r.row);
    const where = [row?.above?.label, r.label].filter(Boolean).join(" › ");
    return [side.link({ row, report }, r.label, where), format.duration(r.busy), format.percent(r.busy / length), format.count(r.count)];
  });
  return `<h3>By kind</h3>${table(["Kind", "Busy", "Events"], kinds)}${namesHtml(side, sums, MOST_NAMES)}` +
    `<h3>By row</h3>${table(["Row", "Busy", "Of the span", "Events"], rows)}`;
}

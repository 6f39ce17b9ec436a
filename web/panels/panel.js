// What panels have in common.
import { json } from "../api.js";
import * as format from "../format.js";

/** @typedef {import("../main.js").App} App */

/**
 * The span that panels tell of: the measured one, or everything.
 * @param {App} app @param {import("../main.js").Loaded} loaded @returns {[number, number]}
 */
export function spanOf(app, loaded) {
  const [from, to] = app.view.span || [app.view.first, app.view.last];
  return [Math.max(0, Math.round(from - loaded.offset)), Math.round(to - loaded.offset)];
}

/** @param {App} app */
export function spanText(app) {
  return app.view.span ? `of the measured ${format.duration(app.view.span[1] - app.view.span[0])}` : "of the whole recording";
}

/** @param {string} text */
export function empty(text) {
  return `<p class="empty">${format.escapeHtml(text)}</p>`;
}

/** Headings of a table, those of numbers with true. @param {Array<[string, boolean?]>} heads */
export function headsHtml(heads) {
  const cells = heads.map(([text, isNumber]) => `<th${isNumber ? ` class="number"` : ""}>${text}</th>`);
  return `<thead><tr>${cells.join("")}</tr></thead>`;
}

/** Whose it is, where there are several. @param {App} app @param {import("../main.js").Loaded} loaded */
export function headOf(app, loaded) {
  return app.loaded.length > 1 ? `<h3>${format.escapeHtml(loaded.facts.name)}</h3>` : "";
}

/** Rows as tab-separated text, for spreadsheets. @param {string[]} columns @param {any[][]} rows */
export function tsv(columns, rows) {
  const clean = (/** @type {any} */ cell) => String(cell ?? "").replace(/[\t\n]/g, " ");
  return [columns, ...rows].map((row) => row.map(clean).join("\t")).join("\n");
}

/**
 * What the server tells of each report, one below the other.
 * @param {App} app @param {string} path @param {(answer: any, loaded: import("../main.js").Loaded) => string} draw
 */
export async function ofEachReport(app, path, draw) {
  const parts = [];
  for (const loaded of app.loaded) {
    const answer = await app.attempt(() => json(path, { report: loaded.number }));
    if (answer)
      parts.push(headOf(app, loaded) + draw(answer, loaded) +
        (answer.left_out ? `<p class="faint">${format.count(answer.left_out)} more; sonde sql lists them.</p>` : ""));
  }
  return parts.join("");
}

/** A column's heading; lengths of time have their units in the cells. @param {{ name: string }} column */
export function headText(column) {
  return column.name.replace(/ ?\(ns\)/, "").replace(/ ?\(%\)/, " %");
}

/** A cell as people read it. @param {any} cell @param {{ name: string, number?: boolean }} column @returns {string} */
export function cellText(cell, column) {
  if (cell === null || cell === undefined)
    return "";
  if (!column.number || typeof cell !== "number")
    return String(cell);
  if (column.name.includes("(ns)"))
    return format.duration(cell);
  return format.rounded(cell);
}

/** @param {string} text @param {HTMLElement} button */
export function copyText(text, button) {
  navigator.clipboard?.writeText(text);
  const before = button.textContent;
  button.textContent = "Copied";
  window.setTimeout(() => { button.textContent = before; }, 1500);
}

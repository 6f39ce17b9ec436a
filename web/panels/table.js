// A table that is sorted by a click on a heading, or by the keyboard, and copied.
import * as format from "../format.js";
import { shortName } from "../names.js";
import { NOISE } from "./difference.js";

/** @typedef {{ columns: Array<{ name: string, number?: boolean, functions?: boolean, percent?: number }>, rows: any[][] }} Table */

const MOST_LINES = 1000;
const escape = format.escapeHtml;

/**
 * @param {any[][]} rows @param {number} sort column from 1 on, negative: the largest first; 0: as it is @param {Table["columns"]} columns
 */
export function sorted(rows, sort, columns) {
  if (!sort)
    return rows;
  const by = Math.abs(sort) - 1;
  const order = (/** @type {any[]} */ a, /** @type {any[]} */ b) => (columns[by].number ? Number(a[by] ?? -Infinity) - Number(b[by] ?? -Infinity) : String(a[by] ?? "").localeCompare(String(b[by] ?? "")));
  return [...rows].sort((a, b) => (sort < 0 ? order(b, a) : order(a, b)));
}

/** @param {any} cell @param {Table["columns"][0]} column @param {any[]} row */
function cellHtml(cell, column, row) {
  if (cell === null || cell === undefined)
    return `<td></td>`;
  const signed = column.percent !== undefined;
  const share = signed ? row[/** @type {number} */ (column.percent)] : null;
  const tells = signed && (share === null || Math.abs(share) > NOISE);
  const text = column.number && typeof cell === "number" ? (signed && cell > 0 ? "+" : "") + format.rounded(cell) : column.functions ? shortName(String(cell)) : String(cell);
  const classes = [column.number && "number", tells && cell > 0 && "more", tells && cell < 0 && "less"].filter(Boolean).join(" ");
  return `<td class="${classes}" title="${escape(String(cell))}">${escape(text)}</td>`;
}

/** @param {Table} table @param {number} sort */
export function tableHtml(table, sort) {
  const rows = sorted(table.rows, sort, table.columns);
  const arrow = (/** @type {number} */ i) => (Math.abs(sort) === i + 1 ? (sort < 0 ? " ▾" : " ▴") : "");
  const head = table.columns.map((column, i) => `<th class="${column.number ? "number" : ""}" aria-sort="${Math.abs(sort) === i + 1 ? (sort < 0 ? "descending" : "ascending") : "none"}">` +
    `<button data-column="${i}">${escape(column.name)}${arrow(i)}</button></th>`).join("");
  const body = rows.slice(0, MOST_LINES).map((row) => `<tr>${row.map((cell, i) => cellHtml(cell, table.columns[i], row)).join("")}</tr>`).join("");
  return `<table class="statistics"><thead><tr>${head}</tr></thead><tbody>${body}</tbody></table>` +
    (rows.length > MOST_LINES ? `<p class="faint">The first ${format.count(MOST_LINES)} of ${format.count(rows.length)} lines; copying takes all.</p>` : "");
}

/**
 * What a click on a heading makes of the order: the largest first, then the other way round.
 * @param {Event} event @param {number} sort @param {Table["columns"]} columns
 */
export function nextSort(event, sort, columns) {
  const button = /** @type {HTMLElement | null} */ (/** @type {HTMLElement} */ (event.target).closest("[data-column]"));
  if (!button)
    return sort;
  const column = Number(button.dataset.column);
  if (Math.abs(sort) === column + 1)
    return -sort;
  return columns[column]?.number ? -(column + 1) : column + 1;
}

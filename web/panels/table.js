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
  const numberAt = (/** @type {any[]} */ row) => Number(row[by] ?? -Infinity);
  const textAt = (/** @type {any[]} */ row) => String(row[by] ?? "");
  const order = (/** @type {any[]} */ a, /** @type {any[]} */ b) =>
    (columns[by].number ? numberAt(a) - numberAt(b) : textAt(a).localeCompare(textAt(b)));
  return [...rows].sort((a, b) => (sort < 0 ? order(b, a) : order(a, b)));
}

/** @param {any} cell @param {Table["columns"][0]} column @param {string} sign */
function textOf(cell, column, sign) {
  if (column.number && typeof cell === "number")
    return sign + format.rounded(cell);
  return column.functions ? shortName(String(cell)) : String(cell);
}

/** @param {any} cell @param {Table["columns"][0]} column @param {any[]} row */
function cellHtml(cell, column, row) {
  if (cell === null || cell === undefined)
    return `<td></td>`;
  const signed = column.percent !== undefined;
  const share = signed ? row[/** @type {number} */ (column.percent)] : null;
  const tells = signed && (share === null || Math.abs(share) > NOISE);
  const text = textOf(cell, column, signed && cell > 0 ? "+" : "");
  const classes = [column.number && "number", tells && cell > 0 && "more", tells && cell < 0 && "less"].filter(Boolean).join(" ");
  return `<td class="${classes}" title="${escape(String(cell))}">${escape(text)}</td>`;
}

/** @param {Table["columns"][0]} column @param {number} i @param {number} sort */
function headHtml(column, i, sort) {
  const sorting = Math.abs(sort) !== i + 1 ? "none" : sort < 0 ? "descending" : "ascending";
  const arrow = { none: "", descending: " ▾", ascending: " ▴" }[sorting];
  const button = `<button data-column="${i}">${escape(column.name)}${arrow}</button>`;
  return `<th class="${column.number ? "number" : ""}" aria-sort="${sorting}">${button}</th>`;
}

/** @param {Table} table @param {number} sort */
export function tableHtml(table, sort) {
  const rows = sorted(table.rows, sort, table.columns);
  const rowHtml = (/** @type {any[]} */ row) => `<tr>${row.map((cell, i) => cellHtml(cell, table.columns[i], row)).join("")}</tr>`;
  const head = table.columns.map((column, i) => headHtml(column, i, sort)).join("");
  const body = rows.slice(0, MOST_LINES).map(rowHtml).join("");
  const count = `The first ${format.count(MOST_LINES)} of ${format.count(rows.length)} lines; copying takes all.`;
  return `<table class="statistics"><thead><tr>${head}</tr></thead><tbody>${body}</tbody></table>` +
    (rows.length > MOST_LINES ? `<p class="faint">${count}</p>` : "");
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

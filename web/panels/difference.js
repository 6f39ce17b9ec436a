// Two tables of the same report of statistics as one: what each has, and by how much the second differs.

/** Two runs of the same differ by less than this, in percent: such differences have no colour. */
export const NOISE = 5;

/**
 * @typedef {{ name: string, number: boolean, percent?: number }} Column percent: the column that says by how much of the first the second
 *   differs
 */
/** @typedef {{ columns: Column[], rows: any[][] }} Table */

/** What is compared where a table has it, in this order; else its first numbers. */
const COMPARED = [/^(total|self) time/i, /^(instances|num calls|count|operations|samples|self samples)/i, /^avg/i];

/** Columns that are compared, as places. @param {Column[]} columns @returns {number[]} */
export function comparedColumns(columns) {
  const found = COMPARED.map((pattern) => columns.findIndex((column) => column.number && pattern.test(column.name))).filter((i) => i >= 0);
  return found.length ? found : columns.map((column, i) => (column.number ? i : -1)).filter((i) => i >= 0).slice(0, 3);
}

/** Rows are the same where all their texts are. @param {Table} table @returns {Map<string, any[]>} */
function byTexts(table) {
  const rows = new Map();
  for (const row of table.rows) {
    const key = table.columns.map((column, i) => (column.number ? "" : String(row[i] ?? ""))).join("\t");
    if (!rows.has(key))
      rows.set(key, row);
  }
  return rows;
}

/** What is told of a column that is compared. @param {string} name @param {number} place @returns {Column[]} */
function columnsOf(name, place) {
  const percent = 4 * place + 3;
  const own = [`A ${name}`, `B ${name}`].map((text) => ({ name: text, number: true, percent: undefined }));
  return [...own, ...[`B - A ${name}`, "B - A (%)"].map((text) => ({ name: text, number: true, percent }))];
}

/**
 * The texts of a row, then for each column compared: of the first, of the second, the difference and its share of the first;
 * the largest difference first. A row that one of them does not have counts as 0 there.
 * @param {Table} a @param {Table} b @returns {Table}
 */
export function difference(a, b) {
  const shape = a.columns.length ? a : b;
  const texts = shape.columns.map((column, i) => (column.number ? -1 : i)).filter((i) => i >= 0);
  const compared = comparedColumns(shape.columns);
  const columns = [...compared.flatMap((i, place) => columnsOf(shape.columns[i].name, place)), ...texts.map((i) => shape.columns[i])];
  const [left, right] = [byTexts(a), byTexts(b)];
  const rows = [...new Set([...left.keys(), ...right.keys()])].map((key) => {
    const [x, y] = [left.get(key), right.get(key)];
    const numbers = compared.flatMap((i) => {
      const [p, q] = [Number(x?.[i] ?? 0), Number(y?.[i] ?? 0)];
      return [x ? p : null, y ? q : null, q - p, p ? (100 * (q - p)) / p : null];
    });
    return [...numbers, ...texts.map((i) => (x || y)?.[i])];
  });
  rows.sort((p, q) => Math.abs(q[2] ?? 0) - Math.abs(p[2] ?? 0));
  return { columns, rows };
}

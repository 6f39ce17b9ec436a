// Rows of the source page: instructions, source lines and lines of PTX, each with what it did and what the baseline has for it.

/** @typedef {{ group: string, label: string, metric: string }} Column */
/** @typedef {Array<number | null>} Values of each column */
/** @typedef {{ function: string, file: string, line: number }} Call what was inlined, and where it was called */
/**
 * @typedef {{ function: string, pc: number, sass: string | null, file: string | null, line: number, inlined?: Call[], outer_file?: string,
 *   outer_line?: number, ptx?: string, ptx_line?: number, values: Values, before?: Values }} Instruction
 */
/** @typedef {{ file: string, line: number, values: Values }} LineBefore */
/**
 * @typedef {{ columns: Column[], lines: Instruction[], files: Array<{ name: string, text: string | null, kept: boolean }>,
 *   ptx: Array<{ name: string, line: number, text: string }>,
 *   before?: { lines: LineBefore[], outermost: LineBefore[], ptx: LineBefore[] } }} Source
 */
/** @typedef {{ mark: string, text: string, title: string, values: Values, before?: Values, isHead?: boolean, isCall?: boolean }} Row */

/** @param {string} path */
const lastName = (path) => path.slice(path.lastIndexOf("/") + 1);

/** The innermost first. @param {Call[]} calls */
export function callsText(calls) {
  return calls.map((call) => `${call.function}${call.function ? " " : ""}at ${lastName(call.file)}:${call.line}`).join(", ");
}

/** @param {Call} call */
const calledAt = (call) => `${call.function || "inlined"} called at ${call.file}:${call.line}`;

/** @param {Instruction} line */
function placeOf(line) {
  const place = line.file ? `${line.file}:${line.line}` : "no line: compile with -lineinfo";
  return [place, ...(line.inlined || []).map(calledAt)].join("\n");
}

/**
 * Rows of instructions, each function with a heading.
 * @param {Source} source @param {(name: string) => string} nameOf a function for people @returns {Row[]}
 */
export function instructionRows(source, nameOf) {
  /** @type {Row[]} */
  const rows = [];
  let last = "";
  for (const line of source.lines) {
    if (line.function !== last)
      rows.push({ mark: "", text: nameOf(line.function) || "(function)", title: line.function, values: [], isHead: true });
    last = line.function;
    const mark = line.pc.toString(16).padStart(4, "0");
    rows.push({ mark, text: line.sass ?? "(not disassembled)", title: placeOf(line), values: line.values, before: line.before });
  }
  return rows;
}

/** What is computed from counters is left out of sums. @param {Source} source @param {Values} sums @param {Values} values */
function add(source, sums, values) {
  values.forEach((value, i) => { sums[i] = source.columns[i].metric && value !== null ? (sums[i] ?? 0) + value : sums[i]; });
}

/** A line, and the ways by which it was inlined. @typedef {{ sums: Values, calls: Map<string, { calls: Call[], sums: Values }> }} Sums */

/** @param {Source} source @param {boolean} outermost @returns {Map<string, Map<number, Sums>>} */
function sumLines(source, outermost) {
  const files = new Map();
  for (const line of source.lines) {
    const name = (outermost && line.outer_file) || line.file || "";
    const number = (outermost && line.outer_line) || line.line;
    const lines = files.get(name) || new Map();
    files.set(name, lines);
    const found = lines.get(number) || { sums: source.columns.map(() => null), calls: new Map() };
    lines.set(number, found);
    add(source, found.sums, line.values);
    if (!line.inlined || outermost)
      continue;
    const key = JSON.stringify(line.inlined);
    const way = found.calls.get(key) || { calls: line.inlined, sums: source.columns.map(() => null) };
    found.calls.set(key, way);
    add(source, way.sums, line.values);
  }
  return files;
}

/** @param {LineBefore[] | undefined} lines @returns {(file: string, line: number) => Values | undefined} */
function beforeOf(lines) {
  const known = new Map((lines || []).map((line) => [`${line.line} ${line.file}`, line.values]));
  return (file, line) => known.get(`${line} ${file}`);
}

/** A way by which a line was inlined. @param {{ calls: Call[], sums: Values }} way @returns {Row} */
function callRow({ calls, sums }) {
  return { mark: "", text: `  ↳ ${callsText(calls)}`, title: calls.map(calledAt).join("\n"), values: sums, isCall: true };
}

/** @param {string} name of a file @param {string[] | undefined} text @param {number} number */
function lineText(name, text, number) {
  if (text)
    return text[number - 1];
  return name ? "(the file's text is not here: --import-source yes)" : "";
}

/** @param {string} name @param {{ kept: boolean } | undefined} file @param {boolean} hasText */
function headingOf(name, file, hasText) {
  if (!name)
    return "(no source line: compile with -lineinfo)";
  return `${name}${hasText && !file?.kept ? " (as it is on this machine now)" : ""}`;
}

/**
 * Rows of source lines: sums over their instructions.
 * @param {Source} source @param {{ outermost: boolean, calls: boolean }} how @returns {Row[]}
 */
export function sourceRows(source, how) {
  const before = beforeOf(how.outermost ? source.before?.outermost : source.before?.lines);
  /** @type {Row[]} */
  const rows = [];
  for (const [name, lines] of sumLines(source, how.outermost)) {
    const file = source.files.find((one) => one.name === name);
    const text = file?.text?.split("\n");
    rows.push({ mark: "", text: headingOf(name, file, Boolean(text)), title: name, values: [], isHead: true });
    const numbers = text ? text.map((_, i) => i + 1) : [...lines.keys()].sort((a, b) => a - b);
    for (const number of numbers) {
      const found = lines.get(number);
      const [mark, title] = [number ? String(number) : "", `${name}:${number}`];
      rows.push({ mark, text: lineText(name, text, number), title, values: found?.sums || [], before: before(name, number) });
      for (const way of how.calls && found ? found.calls.values() : [])
        rows.push(callRow(way));
    }
  }
  return rows;
}

/** Rows of PTX; linked code has a text for each part. @param {Source} source @returns {Row[]} */
export function ptxRows(source) {
  /** @type {Map<string, Values>} */
  const sums = new Map();
  for (const line of source.lines) {
    if (!line.ptx_line)
      continue;
    const key = `${line.ptx_line} ${line.ptx}`;
    const found = sums.get(key) || source.columns.map(() => null);
    sums.set(key, found);
    add(source, found, line.values);
  }
  const before = beforeOf(source.before?.ptx);
  const valuesOf = (/** @type {{ name: string, line: number }} */ { name, line }) => sums.get(`${line} ${name}`) || [];
  return source.ptx.map((one) => ({
    mark: String(one.line), text: one.text, title: `PTX, line ${one.line}`, values: valuesOf(one), before: before(one.name, one.line),
  }));
}

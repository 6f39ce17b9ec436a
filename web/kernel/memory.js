// Memory: which units the data passes, how much on each link, how busy that is; and the tables below.
import {
  absent, amount, attributesHtml, blocksOf, changeText, chartText, escape, factsHtml, marks, numberOf, percent, rowsOf, tableHtml,
  unitText,
} from "./parts.js";

/** @typedef {import("./types.js").Cell} Cell */
/** @typedef {import("./types.js").Section} Section */

const WIDTH = 1000;
const HEIGHT = 430;
/** Boxes: left, top, width, height. @type {Record<string, [number, number, number, number]>} */
const BOXES = {
  Kernel: [10, 20, 92, 390],
  Global: [196, 20, 136, 40], Local: [196, 70, 136, 40], Texture: [196, 120, 136, 40], Surface: [196, 170, 136, 40],
  "Load Global Store Shared": [196, 220, 136, 40], Shared: [196, 270, 136, 40],
  "Distributed Shared": [196, 320, 136, 40], TMA: [196, 370, 136, 40],
  "L1/TEX": [424, 20, 120, 240], "Shared Memory": [424, 270, 120, 90],
  L2: [650, 20, 100, 390],
  "System Memory": [874, 20, 116, 90], "Device Memory": [874, 150, 116, 130], "Peer Memory": [874, 320, 116, 90],
};
/** Rows that say how busy a link or box is. @type {Record<string, string>} */
const BUSY = {
  "L2 to L1/TEX Busy": "L2 > L1/TEX", "L1/TEX to L2 Busy": "L1/TEX > L2",
  "Device Memory Read Busy": "Device Memory > L2", "Device Memory Write Busy": "L2 > Device Memory",
  "Shared Memory Busy": "Shared > Shared Memory",
};
/** @type {Record<string, string>} */
const HITS = { "L1/TEX Hit Rate": "L1/TEX", "L2 Hit Rate": "L2" };
/** As --explain knows them. @type {Record<string, string>} */
const EXPLAINED = {
  Global: "global memory", Local: "local memory", Texture: "texture memory", Surface: "surface memory", Shared: "shared memory",
  "Distributed Shared": "distributed shared memory", TMA: "tensor memory accelerator", "L1/TEX": "l1tex", L2: "lts",
};
const NICE = /** @type {Record<string, string>} */ ({ "Load Global Store Shared": "Global to Shared" });

/** Links with what is known of them. @param {Cell[]} rows */
export function linksOf(rows) {
  /** @type {Map<string, Cell>} */
  const busy = new Map();
  for (const row of rows)
    if (BUSY[row.label])
      busy.set(BUSY[row.label], row);
  return rows.filter((row) => row.label.includes(" > ")).map((row) => {
    const [from, to] = row.label.split(" > ");
    return { from, to, cell: row, busy: busy.get(row.label) };
  });
}

/** Where a link is drawn: straight, between boxes; two directions beside each other. @param {string} from @param {string} to */
function lineOf(from, to) {
  const a = BOXES[from];
  const b = BOXES[to];
  if (!a || !b)
    return null;
  const leftwards = b[0] < a[0];
  const [left, right] = leftwards ? [b, a] : [a, b];
  const top = Math.max(left[1], right[1]);
  const bottom = Math.min(left[1] + left[3], right[1] + right[3]);
  const middle = top < bottom ? (top + bottom) / 2 : left[1] + left[3] / 2;
  const isPair = from === "L2" || to === "L2";
  const y = isPair ? middle + (leftwards ? -14 : 20) : middle;
  const [x0, x1] = [left[0] + left[2], right[0]];
  return { x0: leftwards ? x1 : x0, x1: leftwards ? x0 : x1, y, middle: (x0 + x1) / 2 };
}

/** @param {number} share percent; NaN: not known */
function heat(share) {
  return Number.isNaN(share) ? "none" : share >= 80 ? "high" : share >= 60 ? "middle" : share >= 20 ? "low" : "least";
}

/** @typedef {ReturnType<typeof linksOf>[0]} Link */

/** What stands at a link. @param {Cell} cell */
const textOf = (cell) => (numberOf(cell.value) > 0 || numberOf(cell.before) > 0 ? amountOf(cell) : "0");

/** All that is known of a link, in a line. @param {Link} link */
function saidOf({ from, to, cell, busy }) {
  const before = numberOf(cell.before);
  const heated = cell.warm === undefined ? "" : `, with warm caches ${amount(cell.warm, shortUnit(cell.unit))}`;
  const was = Number.isFinite(before) ? `, in the baseline ${amount(before, shortUnit(cell.unit))}` : "";
  return `${from} to ${to}: ${textOf(cell)}${heated}${was}${busy ? `, ${percent(numberOf(busy.value))} of its peak` : ""}`;
}

/** Below a link: how busy it is, its traffic with warm caches, the change since the baseline. @param {Link} link */
function belowHtml({ cell, busy }) {
  const isUsed = numberOf(cell.value) > 0;
  const warm = cell.warm === undefined ? "" : `<tspan class="warm">${escape(amount(cell.warm, shortUnit(cell.unit)))}</tspan>`;
  const hasChange = typeof cell.change === "number" && cell.change !== 0;
  const old = hasChange ? `<tspan class="old">${escape(changeText(Number(cell.change)))}</tspan>` : "";
  return [busy && isUsed ? escape(percent(numberOf(busy.value))) : "", warm, old].filter(Boolean).join(" ");
}

/** The line with its arrow. @param {{ x0: number, x1: number, y: number }} line @param {string} tip */
function arrowHtml({ x0, x1, y }, tip) {
  const drawn = attributesHtml({ x1: x0, x2: x1 + (x1 > x0 ? -7 : 7), y1: y, y2: y, "marker-end": `url(#tip-${tip})` });
  return `<line ${drawn}/>`;
}

/** @param {Link} link */
function linkHtml(link) {
  const { from, to, cell, busy } = link;
  const line = lineOf(from, to);
  if (!line)
    return "";
  const warmth = heat(numberOf(busy?.value));
  const isUsed = numberOf(cell.value) > 0;
  const said = saidOf(link);
  const below = belowHtml(link);
  const named = attributesHtml({
    "data-link": cell.label, "data-busy": busy ? String(busy.value) : undefined, "data-explain": cell.metric, "data-said": said,
    tabindex: 0, role: "img", "aria-label": said,
  });
  return `<g class="link ${isUsed ? "used" : "unused"} heat-${warmth}" ${marks(cell)} ${named}>` +
    arrowHtml(line, isUsed ? warmth : "unused") + chartText("", line.middle, line.y - 5, "middle", escape(textOf(cell))) +
    (below ? chartText("peak", line.middle, line.y + 13, "middle", below) : "") + "</g>";
}

/** @param {string} unit */
function shortUnit(unit) {
  return unit === "byte" ? "B" : unit === "request" ? "req" : unit === "wavefront" ? "wave" : unitText(unit);
}

/** @param {Cell} cell */
function amountOf(cell) {
  const value = numberOf(cell.value);
  return Number.isFinite(value) ? amount(value, shortUnit(cell.unit)) : cell.text;
}

/**
 * What a box says below its name: the hit rate or how busy it is, with warm caches, in the baseline.
 * @param {string} name @param {Cell[]} rows
 */
function factsOf(name, rows) {
  const hit = rows.find((row) => HITS[row.label] === name);
  const busy = rows.find((row) => row.label === `${name} Busy`);
  const fact = hit ? `hit rate ${percent(numberOf(hit.value))}` : busy ? `busy ${percent(numberOf(busy.value))}` : "";
  const before = hit && hit.before !== null && hit.before !== undefined ? `was ${percent(hit.before)}` : "";
  const warm = (hit || busy)?.warm;
  return { hit, fact, heated: warm === undefined ? "" : `warm ${percent(warm)}`, before };
}

/** @param {string} name @param {Cell[]} rows @param {boolean} isUsed */
function boxHtml(name, rows, isUsed) {
  const [x, y, width, height] = BOXES[name];
  const { hit, fact, heated, before } = factsOf(name, rows);
  const lines = [NICE[name] || name, fact, heated, before].filter(Boolean);
  const start = y + height / 2 - (lines.length - 1) * 8 + 4;
  const kindOf = (/** @type {number} */ i) => (!i ? "box-name" : lines[i] === heated ? "fact-text warm" : "fact-text");
  const texts = lines.map((line, i) => chartText(kindOf(i), x + width / 2, start + 16 * i, "middle", escape(line))).join("");
  const explained = `${hit ? `${marks(hit)} ` : ""}data-explain="${escape(hit ? hit.metric : EXPLAINED[name] || name)}"`;
  return `<g class="box ${isUsed ? "" : "unused"}" data-box="${escape(name)}" ${explained}>` +
    `<rect ${attributesHtml({ x, y, width, height, rx: 5 })}/>${texts}</g>`;
}

/** The tip of an arrow. @param {string} name */
function tipHtml(name) {
  const drawn = attributesHtml({
    id: `tip-${name}`, class: `tip heat-${name}`, viewBox: "0 0 8 8", refX: 2, refY: 4, markerWidth: 3.2, markerHeight: 3.2, orient: "auto",
  });
  return `<marker ${drawn}><path d="M0,0L8,4L0,8z"/></marker>`;
}

/** What colours of links say. */
function legendHtml() {
  const ranges = { least: "below 20 %", low: "20 to 60 %", middle: "60 to 80 %", high: "above 80 %", none: "not known" };
  const items = Object.entries(ranges).map(([name, range]) => `<span><i class="swatch heat-${name}"></i>${range}</span>`);
  return `<div class="legend">of the link's peak: ${items.join("")}</div>`;
}

/** @param {Cell[]} rows */
export function chartHtml(rows) {
  const links = linksOf(rows);
  const used = new Set(links.filter((link) => numberOf(link.cell.value) > 0).flatMap((link) => [link.from, link.to]));
  const known = new Set(links.flatMap((link) => [link.from, link.to]));
  const boxes = Object.keys(BOXES).filter((name) => known.has(name)).map((name) => boxHtml(name, rows, used.has(name))).join("");
  const tips = ["none", "least", "low", "middle", "high", "unused"].map(tipHtml).join("");
  const named = attributesHtml({
    class: "memory-chart", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": "Memory chart: traffic between the units",
  });
  return `<svg ${named}><defs>${tips}</defs>${boxes}${links.map(linkHtml).join("")}</svg>${legendHtml()}`;
}

/** @param {Section | undefined} chart */
function picturesHtml(chart) {
  const graphs = blocksOf(chart, "graph");
  return graphs.length ? graphs.map((block) => chartHtml(block.rows)).join("") :
    absent("The traffic on each link is not in this report.", ["MemoryWorkloadAnalysis_Chart"]);
}

/** @param {Section | undefined} tables */
function tablesHtml(tables) {
  const blocks = blocksOf(tables, "table");
  return blocks.length ? blocks.map((block) => `<h4>${escape(block.title)}</h4>${tableHtml(block)}`).join("") :
    absent("Loads and stores level by level are not in this report.", ["MemoryWorkloadAnalysis_Tables"]);
}

/** @param {{ memory?: Section, chart?: Section, tables?: Section }} sections */
export function memoryHtml({ memory, chart, tables }) {
  return `<div class="memory-parts"><div class="memory-facts">${factsHtml(rowsOf(memory))}</div>` +
    `<div class="memory-picture">${picturesHtml(chart)}</div><div class="memory-tables">${tablesHtml(tables)}</div></div>`;
}

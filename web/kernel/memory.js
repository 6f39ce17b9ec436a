// Memory: which units the data passes, how much on each link, how busy that is; and the tables below.
import { amount, blocksOf, changeText, escape, factsHtml, marks, numberOf, percent, rowsOf, tableHtml, absent, unitText } from "./parts.js";

/** @typedef {import("./types.js").Cell} Cell */
/** @typedef {import("./types.js").Section} Section */

const WIDTH = 1000;
const HEIGHT = 430;
/** Boxes: left, top, width, height. @type {Record<string, [number, number, number, number]>} */
const BOXES = {
  Kernel: [10, 20, 92, 390],
  Global: [196, 20, 136, 40], Local: [196, 70, 136, 40], Texture: [196, 120, 136, 40], Surface: [196, 170, 136, 40],
  "Load Global Store Shared": [196, 220, 136, 40], Shared: [196, 270, 136, 40], "Distributed Shared": [196, 320, 136, 40], TMA: [196, 370, 136, 40],
  "L1/TEX": [424, 20, 120, 240], "Shared Memory": [424, 270, 120, 90],
  L2: [650, 20, 100, 390],
  "System Memory": [874, 20, 116, 90], "Device Memory": [874, 150, 116, 130], "Peer Memory": [874, 320, 116, 90],
};
/** Rows that say how busy a link or box is. @type {Record<string, string>} */
const BUSY = {
  "L2 to L1/TEX Busy": "L2 > L1/TEX", "L1/TEX to L2 Busy": "L1/TEX > L2", "Device Memory Read Busy": "Device Memory > L2", "Device Memory Write Busy": "L2 > Device Memory",
  "Shared Memory Busy": "Shared > Shared Memory",
};
/** @type {Record<string, string>} */
const HITS = { "L1/TEX Hit Rate": "L1/TEX", "L2 Hit Rate": "L2" };
/** As --explain knows them. @type {Record<string, string>} */
const EXPLAINED = { Global: "global memory", Local: "local memory", Texture: "texture memory", Surface: "surface memory", Shared: "shared memory", "Distributed Shared": "distributed shared memory", TMA: "tensor memory accelerator", "L1/TEX": "l1tex", L2: "lts" };
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

/** @param {{ from: string, to: string, cell: Cell, busy: Cell | undefined }} link */
function linkHtml({ from, to, cell, busy }) {
  const line = lineOf(from, to);
  if (!line)
    return "";
  const value = numberOf(cell.value);
  const share = numberOf(busy?.value);
  const isUsed = value > 0;
  const before = numberOf(cell.before);
  const text = isUsed || before > 0 ? amountOf(cell) : "0";
  const old = typeof cell.change === "number" && cell.change !== 0 ? `<tspan class="old">${escape(changeText(cell.change))}</tspan>` : "";
  const warm = cell.warm === undefined ? "" : `<tspan class="warm">${escape(amount(cell.warm, shortUnit(cell.unit)))}</tspan>`;
  const heated = cell.warm === undefined ? "" : `, with warm caches ${amount(cell.warm, shortUnit(cell.unit))}`;
  const was = Number.isFinite(before) ? `, in the baseline ${amount(before, shortUnit(cell.unit))}` : "";
  const below = [busy && isUsed ? escape(percent(share)) : "", warm, old].filter(Boolean).join(" ");
  const said = `${from} to ${to}: ${text}${heated}${was}${busy ? `, ${percent(share)} of its peak` : ""}`;
  return `<g class="link ${isUsed ? "used" : "unused"} heat-${heat(share)}" ${marks(cell)} data-link="${escape(cell.label)}"${busy ? ` data-busy="${busy.value}"` : ""} data-explain="${escape(cell.metric)}" data-said="${escape(said)}" tabindex="0" role="img" aria-label="${escape(said)}">` +
    `<line x1="${line.x0}" x2="${line.x1 + (line.x1 > line.x0 ? -7 : 7)}" y1="${line.y}" y2="${line.y}" marker-end="url(#${isUsed ? `tip-${heat(share)}` : "tip-unused"})"/>` +
    `<text x="${line.middle}" y="${line.y - 5}" text-anchor="middle">${escape(text)}</text>${below ? `<text class="peak" x="${line.middle}" y="${line.y + 13}" text-anchor="middle">${below}</text>` : ""}</g>`;
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

/** @param {string} name @param {Cell[]} rows @param {boolean} isUsed */
function boxHtml(name, rows, isUsed) {
  const [x, y, w, h] = BOXES[name];
  const hit = rows.find((row) => HITS[row.label] === name);
  const busy = rows.find((row) => row.label === `${name} Busy`);
  const fact = hit ? `hit rate ${percent(numberOf(hit.value))}` : busy ? `busy ${percent(numberOf(busy.value))}` : "";
  const before = hit && hit.before !== null && hit.before !== undefined ? `was ${percent(hit.before)}` : "";
  const warm = (hit || busy)?.warm;
  const heated = warm === undefined ? "" : `warm ${percent(warm)}`;
  const lines = [NICE[name] || name, fact, heated, before].filter(Boolean);
  const start = y + h / 2 - (lines.length - 1) * 8 + 4;
  return `<g class="box ${isUsed ? "" : "unused"}" data-box="${escape(name)}" ${hit ? `${marks(hit)} data-explain="${escape(hit.metric)}"` : `data-explain="${escape(EXPLAINED[name] || name)}"`}><rect x="${x}" y="${y}" width="${w}" height="${h}" rx="5"/>` +
    lines.map((line, i) => `<text class="${!i ? "box-name" : line === heated ? "fact-text warm" : "fact-text"}" x="${x + w / 2}" y="${start + 16 * i}" text-anchor="middle">${escape(line)}</text>`).join("") + "</g>";
}

/** @param {Cell[]} rows */
export function chartHtml(rows) {
  const links = linksOf(rows);
  const used = new Set(links.filter((link) => numberOf(link.cell.value) > 0).flatMap((link) => [link.from, link.to]));
  const known = new Set(links.flatMap((link) => [link.from, link.to]));
  const boxes = Object.keys(BOXES).filter((name) => known.has(name)).map((name) => boxHtml(name, rows, used.has(name))).join("");
  const tips = ["none", "least", "low", "middle", "high", "unused"].map((name) => `<marker id="tip-${name}" class="tip heat-${name}" viewBox="0 0 8 8" refX="2" refY="4" markerWidth="3.2" markerHeight="3.2" orient="auto"><path d="M0,0L8,4L0,8z"/></marker>`).join("");
  return `<svg class="memory-chart" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="Memory chart: traffic between the units"><defs>${tips}</defs>${boxes}${links.map(linkHtml).join("")}</svg>` +
    `<div class="legend">of the link's peak: <span><i class="swatch heat-least"></i>below 20 %</span><span><i class="swatch heat-low"></i>20 to 60 %</span><span><i class="swatch heat-middle"></i>60 to 80 %</span><span><i class="swatch heat-high"></i>above 80 %</span><span><i class="swatch heat-none"></i>not known</span></div>`;
}

/** @param {{ memory?: Section, chart?: Section, tables?: Section }} sections */
export function memoryHtml({ memory, chart, tables }) {
  const graphs = blocksOf(chart, "graph");
  const picture = graphs.length ? graphs.map((block) => chartHtml(block.rows)).join("") : absent("The traffic on each link is not in this report.", ["MemoryWorkloadAnalysis_Chart"]);
  const blocks = blocksOf(tables, "table");
  const list = blocks.length ? blocks.map((block) => `<h4>${escape(block.title)}</h4>${tableHtml(block)}`).join("") : absent("Loads and stores level by level are not in this report.", ["MemoryWorkloadAnalysis_Tables"]);
  return `<div class="memory-parts"><div class="memory-facts">${factsHtml(rowsOf(memory))}</div><div class="memory-picture">${picture}</div><div class="memory-tables">${list}</div></div>`;
}

// Speed of light: how near the kernel comes to what the hardware can do, what limits it, in a sentence, and what the two figures are the
// largest of.
import { duration } from "../format.js";
import { absent, barsHtml, blocksOf, escape, factsHtml, find, moreHtml, numberOf, percent, rowsOf } from "./parts.js";

/** @typedef {import("./types.js").Cell} Cell */
/** @typedef {import("./types.js").Block} Block */
/** @typedef {import("./types.js").Kernel} Kernel */

const COMPUTE = "sm__throughput.avg.pct_of_peak_sustained_elapsed";
const MEMORY = "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed";
const LEVELS = /^(sm__throughput|gpu__compute_memory_throughput|l1tex__throughput|lts__throughput|gpu__dram_throughput)\./;
const MOST_PARTS = 8;
/** Points of percent. */
const LEAST_ABOVE = 0.5;

/** @type {Record<string, string>} parts of the chip as people call them */
const UNITS = {
  l1tex: "L1/TEX", lts: "L2", syslts: "L2 (system)", sm: "SM", smsp: "SM", dram: "DRAM", fbpa: "DRAM", gpu: "GPU", idc: "Constants",
};
/** @type {Record<string, string>} */
const WORDS = {
  inst: "instructions", pipe: "pipe", pq: "queue", mio: "MIO", lsu: "LSU", adu: "ADU", cbu: "CBU", xu: "XU", alu: "ALU", fma: "FMA",
  fmaheavy: "FMA heavy", fp64: "FP64", tma: "TMA", tex: "TEX", tensor: "tensor", dmma: "DMMA", hmma: "HMMA",
  xbar2lts: "from crossbar", lts2xbar: "to crossbar", l1tex2xbar: "to crossbar", xbar2l1tex: "from crossbar",
  lsuin: "LSU", texin: "TEX", tmain: "TMA", req: "requests", t: "tag", d: "data", m: "", f: "filter", sysmem: "system memory",
  device: "device memory", mio2rf: "to registers", rf: "registers", sm2tex: "", ipa: "IPA", mem: "", dshared: "distributed shared",
  throughput: "", internal: "(internal)", activity: "",
};

/** A counter's name as people read it: "L1/TEX: data bank reads". @param {string} base */
export function partName(base) {
  const [unit, name = ""] = base.split("__");
  // The pipe is what tells them apart: it goes first.
  const rest = name.replace(/^inst_executed_pipe_(\w+)$/, "$1_instructions").replace(/^pipe_(\w+?)_cycles_active/, "$1_pipe_cycles_active");
  const told = rest.replace(/tensor_type_.*_cycles/, "tensor_(matrix)_cycles").replace(/_cycles_active(_v2)?$/, "_busy");
  const words = told.split("_").map((word) => WORDS[word] ?? word).filter((word, i, all) => word && word !== all[i - 1]);
  return `${UNITS[unit] || unit}: ${words.join(" ")}`;
}

/** @type {Record<string, (compute: string, memory: string) => string>} */
const SENTENCES = {
  "compute-bound": (compute, memory) =>
    `Limited by compute: the multiprocessors work at ${compute} of their peak, memory at ${memory}.`,
  "memory-bound": (compute, memory) =>
    `Limited by memory: the memory system works at ${memory} of its peak, the multiprocessors at ${compute}.`,
  "compute- and memory-bound": (compute, memory) =>
    `Compute (${compute}) and memory (${memory}) are near their peaks alike: only less work or less traffic makes it faster.`,
  "latency-bound": (compute, memory) =>
    `Limited by waiting: neither compute (${compute}) nor memory (${memory}) is near its peak. ` +
    "Warps wait for something; see warp states and occupancy.",
  "launch-bound": (compute, memory) =>
    `The launch is too small to fill the GPU: compute at ${compute}, memory at ${memory} of their peaks.`,
};

/**
 * Limits of memory that the two figures do not show: one slice of L2 is little of the average, and loads and stores keep multiprocessors
 * busy.
 * @param {number} compute @param {number} memory
 */
function hiddenLimit(compute, memory) {
  if (Math.max(compute, memory) < 60)
    return "Limited by memory: atomics on the same addresses meet in one slice of L2. On average the memory system works at " +
      `${percent(memory)} of its peak, the multiprocessors at ${percent(compute)}.`;
  return compute > memory ? `Limited by memory: loads and stores keep the multiprocessors busy, at ${percent(compute)} of their peak; ` +
    `the memory system beyond them works at ${percent(memory)}.` : "";
}

/** What limits the kernel. @param {Kernel} kernel */
export function sentence(kernel) {
  if (kernel.compute === null || kernel.memory === null)
    return "";
  const hidden = kernel.verdict === "memory-bound" ? hiddenLimit(kernel.compute, kernel.memory) : "";
  if (hidden)
    return hidden;
  const [compute, memory] = [percent(kernel.compute), percent(kernel.memory)];
  const said = SENTENCES[kernel.verdict];
  return said ? said(compute, memory) : `Compute at ${compute}, memory at ${memory} of their peaks.`;
}

/** The same with warm caches. @param {Kernel} kernel */
function warmSentence(kernel) {
  const { compute = null, memory = null } = kernel.warm || {};
  if (compute === null || memory === null)
    return "";
  const time = kernel.warm?.duration ? `, and it takes ${escape(duration(kernel.warm.duration))}` : "";
  return `<p class="warm-sentence"><span class="warm">With warm caches</span> compute is at ${percent(compute)}, ` +
    `memory at ${percent(memory)} of their peaks${time}.</p>`;
}

/** @type {Record<string, string>} the levels, and which parts of the memory throughput are theirs */
const LEVEL_UNITS = { l1tex: "l1tex", lts: "lts", gpu: "dram|fbpa" };

/** The most of a level in the memory throughput. @param {Cell[]} parts @param {string} unit */
function busiestPart(parts, unit) {
  const own = new RegExp(`^(${LEVEL_UNITS[unit] ?? unit})__`);
  return parts.filter((part) => own.test(part.metric)).sort((a, b) => numberOf(b.value) - numberOf(a.value))[0];
}

/** Why a level is above the memory throughput. @param {Cell} row @param {number} memory @param {Cell[]} parts of the memory throughput */
function aboveText(row, memory, parts) {
  const unit = row.metric.split("__")[0];
  const own = busiestPart(parts, unit);
  const name = UNITS[unit === "gpu" ? "dram" : unit];
  const part = own ? ` (${partName(own.label).replace(/^[^:]*: /, "")})` : "";
  const nearest = own ? `, and the busiest of these in ${name} is at ${percent(numberOf(own.value))}${part}` : "";
  return `${name} is at ${percent(numberOf(row.value))}, above the memory throughput of ${percent(memory)}. ` +
    `Its figure is the largest of all its counters; that of memory is the largest of the parts listed below${nearest}.`;
}

/** A level that is busier than "memory": why. @param {Cell[]} levels @param {Cell[]} parts of the memory throughput */
function aboveMemoryHtml(levels, parts) {
  const memory = numberOf(levels.find((row) => row.metric === MEMORY)?.value);
  const above = levels.filter((row) => ![COMPUTE, MEMORY].includes(row.metric) && numberOf(row.value) > memory + LEAST_ABOVE);
  const noteHtml = (/** @type {Cell} */ row) =>
    `<p class="kernel-note" data-above="${escape(row.metric)}">${escape(aboveText(row, memory, parts))}</p>`;
  return above.map(noteHtml).join("");
}

/** @param {Cell[]} rows the busiest first */
function partsHtml(rows) {
  const order = [...rows].sort((a, b) => numberOf(b.value) - numberOf(a.value));
  const bars = order.map((cell) => ({ label: partName(cell.label), title: cell.metric, cell }));
  const rest = bars.slice(MOST_PARTS);
  return barsHtml(bars.slice(0, MOST_PARTS)) + moreHtml(rest.length, () => barsHtml(rest));
}

/** @param {Block} block */
const breakdownHtml = (block) => `<div><h4>${escape(block.title)}</h4>${partsHtml(block.rows)}</div>`;

/** The levels as bars. @param {Cell[]} levels */
function levelsHtml(levels) {
  if (!levels.length)
    return absent("How near the kernel comes to the peaks is not in this report.", ["SpeedOfLight"]);
  return `<div class="light">${barsHtml(levels.map((cell) => ({ label: cell.label, cell })))}</div>`;
}

/** @param {Kernel} kernel @param {import("./types.js").Section | undefined} section */
export function lightHtml(kernel, section) {
  const rows = rowsOf(section);
  const levels = rows.filter((row) => LEVELS.test(row.metric)).sort((a, b) => order(a) - order(b));
  const others = rows.filter((row) => !LEVELS.test(row.metric));
  const breakdowns = blocksOf(section, "breakdown");
  const parts = breakdowns.length ? `<div class="pair">${breakdowns.map(breakdownHtml).join("")}</div>` : "";
  const ofMemory = breakdowns.filter((block) => block.title.includes("Memory")).flatMap((block) => block.rows);
  const said = `<p class="sentence" data-verdict="${escape(kernel.verdict)}">${escape(sentence(kernel))}</p>${warmSentence(kernel)}`;
  return said + levelsHtml(levels) + aboveMemoryHtml(levels, ofMemory) + factsHtml(others) + parts;
}

/** Compute, memory, then the levels. @param {Cell} row */
function order(row) {
  const at = [COMPUTE, MEMORY].indexOf(row.metric);
  return at >= 0 ? at : row.metric.startsWith("l1tex") ? 2 : row.metric.startsWith("lts") ? 3 : 4;
}

export { COMPUTE, MEMORY, find };

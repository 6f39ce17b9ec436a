// The sections of a kernel as cards: which there are, in which order, and what each is made of.
import { curveBarsHtml, timelinesHtml } from "./lines.js";
import { lightHtml } from "./light.js";
import { memoryHtml } from "./memory.js";
import { occupancyHtml } from "./occupancy.js";
import { absent, barsHtml, blocksOf, changeText, escape, factsHtml, find, note, numberOf, percent, rowsOf, tableHtml } from "./parts.js";
import { rooflineHtml } from "./roofline.js";
import { isKernel } from "./summary.js";

/** @typedef {import("./types.js").Kernel} Kernel */
/** @typedef {import("./types.js").Section} Section */
/** @typedef {import("./types.js").Rule} Rule */
/** @typedef {import("./types.js").Block} Block */
/** @typedef {import("./types.js").Cell} Cell */
/** @typedef {{ kernel: Kernel, sections: Map<string, Section>, choices: Record<string, string> }} Shown */
/** @typedef {{ id: string, title: string, sections: string[], html: (shown: Shown) => string }} Card */

/** @param {Shown} shown @param {string} id */
const section = (shown, id) => shown.sections.get(id);

/** @type {Card[]} in the order in which they are read */
const CARDS = [
  { id: "light", title: "Speed of light", sections: ["SpeedOfLight"], html: (shown) => lightHtml(shown.kernel, section(shown, "SpeedOfLight")) },
  { id: "roofline", title: "Roofline", sections: ["SpeedOfLight_RooflineChart", "SpeedOfLight_HierarchicalSingleRooflineChart", "SpeedOfLight_HierarchicalDoubleRooflineChart", "SpeedOfLight_HierarchicalHalfRooflineChart", "SpeedOfLight_HierarchicalTensorRooflineChart"], html: roofline },
  { id: "memory", title: "Memory", sections: ["MemoryWorkloadAnalysis", "MemoryWorkloadAnalysis_Chart", "MemoryWorkloadAnalysis_Tables"], html: (shown) => memoryHtml({ memory: section(shown, "MemoryWorkloadAnalysis"), chart: section(shown, "MemoryWorkloadAnalysis_Chart"), tables: section(shown, "MemoryWorkloadAnalysis_Tables") }) },
  { id: "compute", title: "Compute pipes", sections: ["ComputeWorkloadAnalysis"], html: pipes },
  { id: "scheduler", title: "Scheduler", sections: ["SchedulerStats"], html: (shown) => plain(section(shown, "SchedulerStats")) },
  { id: "warps", title: "Warp states", sections: ["WarpStateStats"], html: states },
  { id: "instructions", title: "Instructions", sections: ["InstructionStats"], html: instructions },
  { id: "occupancy", title: "Occupancy", sections: ["Occupancy"], html: (shown) => occupancyHtml(shown.kernel, section(shown, "Occupancy")) },
  { id: "launch", title: "Launch", sections: ["LaunchStats"], html: (shown) => plain(section(shown, "LaunchStats")) + placeHtml(shown.kernel) },
  { id: "distribution", title: "Distribution over the chip", sections: ["WorkloadDistribution"], html: distribution },
  { id: "sampling", title: "Over time (PM sampling)", sections: ["PmSampling", "PmSampling_WarpStates"], html: sampling },
  { id: "source", title: "Source counters", sections: ["SourceCounters"], html: (shown) => `${plain(section(shown, "SourceCounters"))}<p class="kernel-note">By instruction: page <button class="link" data-tab="source">Source</button>.</p>` },
  { id: "links", title: "NVLink and C2C", sections: ["Nvlink", "Nvlink_Tables", "Nvlink_Topology", "C2CLink"], html: (shown) => ["Nvlink", "Nvlink_Tables", "Nvlink_Topology", "C2CLink"].map((id) => plain(section(shown, id))).join("") },
  { id: "numa", title: "NUMA", sections: ["NumaAffinity"], html: (shown) => plain(section(shown, "NumaAffinity")) },
];

/** Whatever a section has, each in its own way: also sections that users add. @param {Section | undefined} from */
function plain(from) {
  if (!from)
    return "";
  return from.blocks.filter((block) => block.rows.length).map((block) => {
    const title = block.title ? `<h4>${escape(block.title)}</h4>` : "";
    if (block.kind === "rows" || block.kind === "graph")
      return title + factsHtml(block.rows);
    if (block.kind === "bars" || block.kind === "breakdown")
      return title + barsHtml(block.rows.map((/** @type {Cell} */ cell) => ({ label: cell.label, cell })));
    if (block.kind === "table")
      return title + tableHtml(block);
    if (block.kind === "curves")
      return title + block.rows.map(curveBarsHtml).join("");
    return block.kind === "timeline" ? timelinesHtml([block]) : block.kind === "roofline" ? rooflineHtml([block], "", {}) : "";
  }).join("");
}

/** Where in the program it was launched. @param {Kernel} kernel */
function placeHtml(kernel) {
  const ranges = kernel.ranges.map((range) => `<li style="margin-left:${Math.max(0, range.level) * 12}px"${range.level < 0 ? ` title="start/end range"` : ""}>${escape(range.name)}${range.domain ? `<span class="unit">${escape(range.domain)}</span>` : ""}</li>`).join("");
  const frames = kernel.frames.map((frame) => `<li title="${escape(frame.module)}">${escape(frame.function || "?")}<span class="unit">${escape(frame.module.split("/").pop() || "")}</span></li>`).join("");
  const python = kernel.python.map((frame) => `<li title="${escape(frame.file)}">${escape(frame.function || "?")}<span class="unit">${escape(frame.file.split("/").pop() || "")}:${frame.line}</span></li>`).join("");
  return (ranges ? `<h4>NVTX ranges around the launch</h4><ul class="place" data-place-of="ranges">${ranges}</ul>` : "") + (python ? `<h4>Python call stack</h4><ul class="place" data-place-of="python">${python}</ul>` : "") + (frames ? `<h4>Call stack</h4><ul class="place" data-place-of="frames">${frames}</ul>` : "");
}

/** @param {Shown} shown */
function roofline(shown) {
  const blocks = CARDS[1].sections.flatMap((id) => blocksOf(section(shown, id), "roofline"));
  return blocks.length ? rooflineHtml(blocks, shown.choices.roofline, shown.kernel.clocks) : absent("No roofs were recorded.", ["SpeedOfLight_RooflineChart"]);
}

/** Of which cycles a chart of pipes tells; users' charts, which may not say it, are measures of their own. @param {Block} block */
const measureOf = (block) => /\b(active|elapsed) cycles/.exec(block.title)?.[0] || block.title;

/** How busy pipes are and what they execute, beside each other: some are in one of the two only. @param {Shown} shown */
function pipes(shown) {
  const from = section(shown, "ComputeWorkloadAnalysis");
  const blocks = blocksOf(from, "bars");
  const measures = [...new Set(blocks.map(measureOf))].sort((a, b) => Number(b === "active cycles") - Number(a === "active cycles"));
  const chosen = measures.find((measure) => measure === shown.choices.pipes) || measures[0];
  if (!chosen)
    return plain(from);
  const options = measures.map((measure) => `<option${measure === chosen ? " selected" : ""}>${escape(measure)}</option>`).join("");
  const charts = blocks.filter((block) => measureOf(block) === chosen).map((block) => {
    const order = [...block.rows].sort((a, b) => numberOf(b.value) - numberOf(a.value));
    return `<div><h4>${escape(block.title)}</h4>${barsHtml(order.map((cell) => ({ label: cell.label, cell })))}</div>`;
  });
  return `${factsHtml(rowsOf(from))}<label class="choice">of <select data-choice="pipes" aria-label="Which cycles">${options}</select></label><div class="pair">${charts.join("")}</div>`;
}

/** Cycles from one instruction of a warp to the next: states are parts of it. */
const BETWEEN = "smsp__average_warp_latency_per_inst_issued.ratio";

/** CUPTI calls warps for each instruction that is issued instructions; they are the cycles that a warp spends. @param {Cell} cell @returns {Cell} */
function inCycles(cell) {
  return cell.unit === "inst" ? { ...cell, shown: "cycle", before_unit: cell.before_unit && "cycle", warm_unit: cell.warm_unit && "cycle" } : cell;
}

/** Stalls, the longest first; those of nothing are only counted. @param {Shown} shown */
function states(shown) {
  const from = section(shown, "WarpStateStats");
  const rows = blocksOf(from, "bars").flatMap((block) => block.rows);
  const order = rows.filter((cell) => numberOf(cell.value) > 0 || numberOf(cell.before) > 0).sort((a, b) => numberOf(b.value) - numberOf(a.value));
  const between = numberOf(find(rowsOf(from), BETWEEN)?.value);
  const total = between > 0 ? between : rows.reduce((sum, cell) => sum + (numberOf(cell.value) || 0), 0);
  const bars = order.map((cell) => ({ label: cell.label, cell: inCycles(cell), explain: cell.label }));
  const first = order[0];
  const said = first && total ? `<p class="kernel-note">Of ${total.toFixed(2)} cycles between two instructions of a warp, ${percent((100 * numberOf(first.value)) / total)} are ${escape(first.label)}. <span data-words="${escape(first.label)}"></span></p>` : "";
  const none = rows.length - order.length;
  return `${factsHtml(rowsOf(from))}${said}<h4>Cycles a warp spends in each state, for each instruction issued</h4>${barsHtml(bars)}${none ? `<p class="kernel-note">${none} other states: none.</p>` : ""}`;
}

/** @param {Shown} shown */
function instructions(shown) {
  const from = section(shown, "InstructionStats");
  const curves = blocksOf(from, "curves").flatMap((block) => block.rows);
  return factsHtml(rowsOf(from)) + (curves.length ? `<div class="pair">${curves.map(curveBarsHtml).join("")}</div>` : absent("The mix of instructions is not in this report.", ["InstructionStats", "SourceCounters"]));
}

/** From the least to the most of the parts of a chip, with the mean. @param {Cell | null} least @param {Cell | null} mean @param {Cell | null} most @param {number} end */
function rangeHtml(least, mean, most, end) {
  const [a, m, b] = [least, mean, most].map((cell) => numberOf(cell?.value));
  if (![a, m, b].every(Number.isFinite) || !end)
    return "";
  const at = (/** @type {number} */ value) => ((100 * value) / end).toFixed(2);
  const before = numberOf(mean?.before);
  const last = numberOf(most?.before);
  const old = before >= 0 && last > 0 ? `<span class="mean old" style="left:${((100 * before) / last).toFixed(2)}%" title="mean of the baseline, of its most"></span>` : "";
  const heated = mean?.warm !== undefined && (most?.warm ?? 0) > 0 ? `<span class="mean warm" style="left:${((100 * mean.warm) / (most?.warm ?? 1)).toFixed(2)}%" title="mean with warm caches, of its most"></span>` : "";
  return `<span class="range" data-least="${a}" data-mean="${m}" data-most="${b}"><span class="span" style="left:${at(a)}%;width:${at(Math.max(b - a, end / 400))}%"></span><span class="mean" style="left:${at(m)}%"></span>${heated}${old}</span>`;
}

/** @param {Shown} shown */
function distribution(shown) {
  const from = section(shown, "WorkloadDistribution");
  const block = blocksOf(from, "table")[0];
  if (!block)
    return plain(from);
  const column = (/** @type {string} */ title) => (block.columns || []).findIndex((one) => one.title === title);
  const [mean, least, most] = ["Average", "Minimum", "Maximum"].map(column);
  const lines = block.rows.map((/** @type {import("./types.js").Line} */ line) => {
    const end = numberOf(line.cells[most]?.value);
    const said = `${line.label}: ${line.cells[least]?.text || "–"} to ${line.cells[most]?.text || "–"} cycles, mean ${line.cells[mean]?.text || "–"}`;
    return `<div class="range-line" data-explain="${escape(line.cells[mean]?.metric || "")}" data-said="${escape(said)}"><span class="bar-label">${escape(line.label)}</span>${rangeHtml(line.cells[least], line.cells[mean], line.cells[most], end)}</div>`;
  }).join("");
  return `<h4>Active cycles from the least to the most busy part, and the mean</h4><div class="ranges">${lines}</div>${tableHtml(block)}`;
}

/** @param {Shown} shown */
function sampling(shown) {
  const sections = ["PmSampling", "PmSampling_WarpStates"].map((id) => section(shown, id));
  const blocks = sections.flatMap((one) => blocksOf(one, "timeline"));
  const facts = rowsOf(sections[0]);
  const none = facts.length ? note("No sample was taken while this kernel ran: it may be shorter than the interval.") : absent("Samples over time are not in this report.", ["PmSampling"]);
  return factsHtml(facts) + (blocks.length ? timelinesHtml(blocks) : none);
}

/** @param {Rule[]} rules */
function rulesHtml(rules) {
  if (!rules.length)
    return "";
  return `<ul class="kernel-rules">${rules.map((rule) => `<li class="rule-${escape(rule.type)}" data-rule="${escape(rule.name)}">${rule.gain !== null ? `<span class="gain" title="estimated ${escape(rule.gain_type)} speed-up">${escape(gainText(rule))}</span>` : ""}${escape(rule.text)}</li>`).join("")}</ul>`;
}

/** @param {Rule} rule */
export function gainText(rule) {
  return `${rule.gain_type === "local" ? "local " : ""}${percent(rule.gain)}`;
}

/** Cards that have something, and those that nothing was recorded for. @param {Kernel} kernel @returns {{ shown: Card[], missing: Card[] }} */
export function cardsOf(kernel) {
  const there = new Set(kernel.sections.filter((one) => one.blocks.some((block) => block.rows.length) || kernel.rules.some((rule) => rule.section === one.id)).map((one) => one.id));
  const known = new Set(CARDS.flatMap((card) => card.sections));
  const own = kernel.sections.filter((one) => !known.has(one.id)).map((one) => ({ id: `own-${one.id || one.title}`, title: one.title, sections: [one.id], html: () => plain(one) }));
  const isOne = isKernel(kernel);
  const shown = CARDS.filter((card) => card.sections.some((id) => there.has(id)) || (card.id === "occupancy" && kernel.occupancy));
  return { shown: [...shown, ...own], missing: CARDS.filter((card) => !shown.includes(card) && (isOne || card.id !== "occupancy") && card.sections.some((id) => kernel.missing.some((one) => one.id === id))) };
}

/** @param {Card} card @param {Shown} shown */
export function cardHtml(card, shown) {
  const about = card.sections.map((id) => section(shown, id)?.about).find(Boolean) || "";
  const rules = shown.kernel.rules.filter((rule) => card.sections.includes(rule.section));
  return `<article class="card" tabindex="0" id="card-${escape(card.id)}" aria-label="${escape(card.title)}"><header><h3>${escape(card.title)}</h3><p class="about">${escape(about)}</p></header>${rulesHtml(rules)}<div class="body">${card.html(shown)}</div></article>`;
}

/** What rules say that belongs to no card, the largest gain first. @param {Kernel} kernel @param {Card[]} cards */
export function otherRulesHtml(kernel, cards) {
  const placed = new Set(cards.flatMap((card) => card.sections));
  const rest = kernel.rules.filter((rule) => !placed.has(rule.section));
  return rest.length ? `<article class="card" id="card-rules"><header><h3>Findings</h3></header>${rulesHtml(rest)}</article>` : "";
}

/** @param {Kernel} kernel @param {Card[]} missing */
export function missingHtml(kernel, missing) {
  if (!missing.length)
    return "";
  const lines = missing.map((card) => {
    const ids = card.sections.filter((id) => kernel.missing.some((one) => one.id === id));
    const about = kernel.missing.find((one) => one.id === ids[0])?.about || "";
    return `<li><b>${escape(card.title)}</b> <code>--section ${escape(ids[0])}</code><span class="faint"> ${escape(about)}</span></li>`;
  });
  return `<article class="card" id="card-missing"><header><h3>Not recorded</h3><p class="about">What these options of sonde kernel would add; <code>--set full</code> records all of it.</p></header><ul class="missing-list">${lines.join("")}</ul></article>`;
}

export { changeText };

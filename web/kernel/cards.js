// The sections of a kernel as cards: which there are, in which order, and what each is made of.
import { curveBarsHtml, timelinesHtml } from "./lines.js";
import { lightHtml } from "./light.js";
import { memoryHtml } from "./memory.js";
import { occupancyHtml } from "./occupancy.js";
import {
  absent, attributesHtml, barsHtml, blocksOf, changeText, choiceHtml, escape, factsHtml, find, note, numberOf, percent, rowsOf, tableHtml,
  unitHtml,
} from "./parts.js";
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

const ROOFLINES = [
  "SpeedOfLight_RooflineChart", "SpeedOfLight_HierarchicalSingleRooflineChart", "SpeedOfLight_HierarchicalDoubleRooflineChart",
  "SpeedOfLight_HierarchicalHalfRooflineChart", "SpeedOfLight_HierarchicalTensorRooflineChart",
];
const MEMORY = ["MemoryWorkloadAnalysis", "MemoryWorkloadAnalysis_Chart", "MemoryWorkloadAnalysis_Tables"];
const LINKS = ["Nvlink", "Nvlink_Tables", "Nvlink_Topology", "C2CLink"];

/** @type {Card[]} in the order in which they are read */
const CARDS = [
  { id: "light", title: "Speed of light", sections: ["SpeedOfLight"], html: light },
  { id: "roofline", title: "Roofline", sections: ROOFLINES, html: roofline },
  { id: "memory", title: "Memory", sections: MEMORY, html: memory },
  { id: "compute", title: "Compute pipes", sections: ["ComputeWorkloadAnalysis"], html: pipes },
  { id: "scheduler", title: "Scheduler", sections: ["SchedulerStats"], html: (shown) => plain(section(shown, "SchedulerStats")) },
  { id: "warps", title: "Warp states", sections: ["WarpStateStats"], html: states },
  { id: "instructions", title: "Instructions", sections: ["InstructionStats"], html: instructions },
  { id: "occupancy", title: "Occupancy", sections: ["Occupancy"], html: occupancy },
  { id: "launch", title: "Launch", sections: ["LaunchStats"], html: launch },
  { id: "distribution", title: "Distribution over the chip", sections: ["WorkloadDistribution"], html: distribution },
  { id: "sampling", title: "Over time (PM sampling)", sections: ["PmSampling", "PmSampling_WarpStates"], html: sampling },
  { id: "source", title: "Source counters", sections: ["SourceCounters"], html: source },
  { id: "links", title: "NVLink and C2C", sections: LINKS, html: (shown) => LINKS.map((id) => plain(section(shown, id))).join("") },
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

/** @param {Kernel["ranges"][0]} range */
function rangeLineHtml({ name, domain, level }) {
  const placed = attributesHtml({ style: `margin-left:${Math.max(0, level) * 12}px`, title: level < 0 ? "start/end range" : undefined });
  return `<li ${placed}>${escape(name)}${domain ? unitHtml(domain) : ""}</li>`;
}

/** @param {string} path */
const lastPart = (path) => path.split("/").pop() || "";

/** @param {Kernel["frames"][0]} frame */
function frameHtml(frame) {
  return `<li title="${escape(frame.module)}">${escape(frame.function || "?")}${unitHtml(lastPart(frame.module))}</li>`;
}

/** @param {Kernel["python"][0]} frame */
function pythonHtml(frame) {
  const place = unitHtml(`${lastPart(frame.file)}:${frame.line}`);
  return `<li title="${escape(frame.file)}">${escape(frame.function || "?")}${place}</li>`;
}

/** @param {string} title @param {string} of @param {string[]} lines */
function placesHtml(title, of, lines) {
  return lines.length ? `<h4>${title}</h4><ul class="place" data-place-of="${of}">${lines.join("")}</ul>` : "";
}

/** Where in the program it was launched. @param {Kernel} kernel */
function placeHtml(kernel) {
  return placesHtml("NVTX ranges around the launch", "ranges", kernel.ranges.map(rangeLineHtml)) +
    placesHtml("Python call stack", "python", kernel.python.map(pythonHtml)) +
    placesHtml("Call stack", "frames", kernel.frames.map(frameHtml));
}

/** @param {Shown} shown */
function light(shown) {
  return lightHtml(shown.kernel, section(shown, "SpeedOfLight"));
}

/** @param {Shown} shown */
function memory(shown) {
  const [facts, chart, tables] = MEMORY.map((id) => section(shown, id));
  return memoryHtml({ memory: facts, chart, tables });
}

/** @param {Shown} shown */
function occupancy(shown) {
  return occupancyHtml(shown.kernel, section(shown, "Occupancy"));
}

/** @param {Shown} shown */
function launch(shown) {
  return plain(section(shown, "LaunchStats")) + placeHtml(shown.kernel);
}

/** @param {Shown} shown */
function source(shown) {
  const where = `<p class="kernel-note">By instruction: page <button class="link" data-tab="source">Source</button>.</p>`;
  return plain(section(shown, "SourceCounters")) + where;
}

/** @param {Shown} shown */
function roofline(shown) {
  const blocks = ROOFLINES.flatMap((id) => blocksOf(section(shown, id), "roofline"));
  if (!blocks.length)
    return absent("No roofs were recorded.", ["SpeedOfLight_RooflineChart"]);
  return rooflineHtml(blocks, shown.choices.roofline, shown.kernel.clocks);
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
  const choice = choiceHtml("of", "pipes", "Which cycles", options);
  return `${factsHtml(rowsOf(from))}${choice}<div class="pair">${charts.join("")}</div>`;
}

/** Cycles from one instruction of a warp to the next: states are parts of it. */
const BETWEEN = "smsp__average_warp_latency_per_inst_issued.ratio";

/**
 * CUPTI calls warps for each instruction that is issued instructions; they are the cycles that a warp spends.
 * @param {Cell} cell @returns {Cell}
 */
function inCycles(cell) {
  if (cell.unit !== "inst")
    return cell;
  return { ...cell, shown: "cycle", before_unit: cell.before_unit && "cycle", warm_unit: cell.warm_unit && "cycle" };
}

/** What a warp waits for the longest. @param {Cell} first @param {number} total cycles */
function longestHtml(first, total) {
  const label = escape(first.label);
  const share = percent((100 * numberOf(first.value)) / total);
  return `<p class="kernel-note">Of ${total.toFixed(2)} cycles between two instructions of a warp, ${share} are ${label}. ` +
    `<span data-words="${label}"></span></p>`;
}

/** Stalls, the longest first; those of nothing are only counted. @param {Shown} shown */
function states(shown) {
  const from = section(shown, "WarpStateStats");
  const rows = blocksOf(from, "bars").flatMap((block) => block.rows);
  const order = rows.filter((cell) => numberOf(cell.value) > 0 || numberOf(cell.before) > 0)
    .sort((a, b) => numberOf(b.value) - numberOf(a.value));
  const between = numberOf(find(rowsOf(from), BETWEEN)?.value);
  const total = between > 0 ? between : rows.reduce((sum, cell) => sum + (numberOf(cell.value) || 0), 0);
  const bars = order.map((cell) => ({ label: cell.label, cell: inCycles(cell), explain: cell.label }));
  const said = order[0] && total ? longestHtml(order[0], total) : "";
  const none = rows.length - order.length;
  const others = none ? `<p class="kernel-note">${none} other states: none.</p>` : "";
  const title = "Cycles a warp spends in each state, for each instruction issued";
  return `${factsHtml(rowsOf(from))}${said}<h4>${title}</h4>${barsHtml(bars)}${others}`;
}

/** @param {Shown} shown */
function instructions(shown) {
  const from = section(shown, "InstructionStats");
  const curves = blocksOf(from, "curves").flatMap((block) => block.rows);
  const mix = curves.length ? `<div class="pair">${curves.map(curveBarsHtml).join("")}</div>` :
    absent("The mix of instructions is not in this report.", ["InstructionStats", "SourceCounters"]);
  return factsHtml(rowsOf(from)) + mix;
}

/**
 * A mean of the baseline or with warm caches, as a part of its own most.
 * @param {string} kind @param {number} mean @param {number} most @param {string} of
 */
function otherMeanHtml(kind, mean, most, of) {
  return `<span class="mean ${kind}" style="left:${((100 * mean) / most).toFixed(2)}%" title="mean ${of}, of its most"></span>`;
}

/**
 * From the least to the most of the parts of a chip, with the mean.
 * @param {Cell | null} least @param {Cell | null} mean @param {Cell | null} most @param {number} end
 */
function rangeHtml(least, mean, most, end) {
  const [a, m, b] = [least, mean, most].map((cell) => numberOf(cell?.value));
  if (![a, m, b].every(Number.isFinite) || !end)
    return "";
  const at = (/** @type {number} */ value) => ((100 * value) / end).toFixed(2);
  const before = numberOf(mean?.before);
  const last = numberOf(most?.before);
  const old = before >= 0 && last > 0 ? otherMeanHtml("old", before, last, "of the baseline") : "";
  const warm = most?.warm ?? 0;
  const heated = mean?.warm !== undefined && warm > 0 ? otherMeanHtml("warm", mean.warm, warm, "with warm caches") : "";
  const span = `<span class="span" style="left:${at(a)}%;width:${at(Math.max(b - a, end / 400))}%"></span>`;
  return `<span class="range" data-least="${a}" data-mean="${m}" data-most="${b}">${span}` +
    `<span class="mean" style="left:${at(m)}%"></span>${heated}${old}</span>`;
}

/** A part of the chip. @param {string} label @param {Array<Cell | null>} cells the least, the mean, the most */
function rangeRowHtml(label, [least, mean, most]) {
  const said = `${label}: ${least?.text || "–"} to ${most?.text || "–"} cycles, mean ${mean?.text || "–"}`;
  const explained = attributesHtml({ "data-explain": mean?.metric || "", "data-said": said });
  const range = rangeHtml(least, mean, most, numberOf(most?.value));
  return `<div class="range-line" ${explained}><span class="bar-label">${escape(label)}</span>${range}</div>`;
}

/** @param {Shown} shown */
function distribution(shown) {
  const from = section(shown, "WorkloadDistribution");
  const block = blocksOf(from, "table")[0];
  if (!block)
    return plain(from);
  const at = ["Minimum", "Average", "Maximum"].map((title) => (block.columns || []).findIndex((one) => one.title === title));
  const lines = block.rows.map((/** @type {import("./types.js").Line} */ line) => rangeRowHtml(line.label, at.map((i) => line.cells[i])));
  const title = "Active cycles from the least to the most busy part, and the mean";
  return `<h4>${title}</h4><div class="ranges">${lines.join("")}</div>${tableHtml(block)}`;
}

/** @param {Shown} shown */
function sampling(shown) {
  const sections = ["PmSampling", "PmSampling_WarpStates"].map((id) => section(shown, id));
  const blocks = sections.flatMap((one) => blocksOf(one, "timeline"));
  const facts = rowsOf(sections[0]);
  if (blocks.length)
    return factsHtml(facts) + timelinesHtml(blocks);
  return factsHtml(facts) + (facts.length ? note("No sample was taken while this kernel ran: it may be shorter than the interval.") :
    absent("Samples over time are not in this report.", ["PmSampling"]));
}

/** @param {Rule} rule */
function ruleHtml(rule) {
  const gain = rule.gain === null ? "" :
    `<span class="gain" title="estimated ${escape(rule.gain_type)} speed-up">${escape(gainText(rule))}</span>`;
  return `<li class="rule-${escape(rule.type)}" data-rule="${escape(rule.name)}">${gain}${escape(rule.text)}</li>`;
}

/** @param {Rule[]} rules */
function rulesHtml(rules) {
  return rules.length ? `<ul class="kernel-rules">${rules.map(ruleHtml).join("")}</ul>` : "";
}

/** @param {Rule} rule */
export function gainText(rule) {
  return `${rule.gain_type === "local" ? "local " : ""}${percent(rule.gain)}`;
}

/** Whether anything was recorded for it. @param {Kernel} kernel @param {Section} one */
function isRecorded(kernel, one) {
  return one.blocks.some((block) => block.rows.length) || kernel.rules.some((rule) => rule.section === one.id);
}

/** Whether it has sections that could have been recorded. @param {Kernel} kernel @param {Card} card */
function isMissing(kernel, card) {
  return (isKernel(kernel) || card.id !== "occupancy") && card.sections.some((id) => kernel.missing.some((one) => one.id === id));
}

/** A card of a section that users add. @param {Section} one @returns {Card} */
function ownCard(one) {
  return { id: `own-${one.id || one.title}`, title: one.title, sections: [one.id], html: () => plain(one) };
}

/**
 * Cards that have something, and those that nothing was recorded for.
 * @param {Kernel} kernel @returns {{ shown: Card[], missing: Card[] }}
 */
export function cardsOf(kernel) {
  const there = new Set(kernel.sections.filter((one) => isRecorded(kernel, one)).map((one) => one.id));
  const known = new Set(CARDS.flatMap((card) => card.sections));
  const own = kernel.sections.filter((one) => !known.has(one.id)).map(ownCard);
  const shown = CARDS.filter((card) => card.sections.some((id) => there.has(id)) || (card.id === "occupancy" && kernel.occupancy));
  return { shown: [...shown, ...own], missing: CARDS.filter((card) => !shown.includes(card) && isMissing(kernel, card)) };
}

/** @param {Card} card @param {Shown} shown */
export function cardHtml(card, shown) {
  const about = card.sections.map((id) => section(shown, id)?.about).find(Boolean) || "";
  const rules = shown.kernel.rules.filter((rule) => card.sections.includes(rule.section));
  const named = attributesHtml({ tabindex: 0, id: `card-${card.id}`, "aria-label": card.title });
  const header = `<header><h3>${escape(card.title)}</h3><p class="about">${escape(about)}</p></header>`;
  return `<article class="card" ${named}>${header}${rulesHtml(rules)}<div class="body">${card.html(shown)}</div></article>`;
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
  const about = "What these options of sonde kernel would add; <code>--set full</code> records all of it.";
  return `<article class="card" id="card-missing"><header><h3>Not recorded</h3><p class="about">${about}</p></header>` +
    `<ul class="missing-list">${lines.join("")}</ul></article>`;
}

export { changeText };

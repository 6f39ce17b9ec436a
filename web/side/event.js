// Everything about one event, as the panel at the right shows it.
import * as format from "../format.js";

/** @typedef {import("./side.js").Side} Side */

const escape = format.escapeHtml;
const ROLES = /** @type {Record<string, string>} */ ({ caller: "Started by", work: "Started", waker: "Woken by", source: "Comes from" });

/** Bars of a histogram, the one with this duration marked. @param {number[][]} histogram @param {number} duration */
export function histogram(histogram, duration) {
  const most = Math.max(...histogram.map((bar) => bar[2]), 1);
  const bars = histogram.map(([from, to, count], i) => {
    const height = count ? Math.max(2, Math.round((48 * count) / most)) : 0;
    const here = duration >= from && (duration < to || i === histogram.length - 1);
    const said = `${format.duration(from)} to ${format.duration(to)}: ${format.count(count)}`;
    return `<span class="bar${here ? " here" : ""}" style="height:${height}px" title="${said}"></span>`;
  });
  const first = histogram[0];
  const last = histogram[histogram.length - 1];
  const about = "Durations of all events of this name; the marked bar has this one";
  return `<div class="histogram" role="img" aria-label="${about}">${bars.join("")}</div>` +
    `<div class="axis"><span>${format.duration(first[0])}</span><span>${format.duration(last[1])}</span></div>`;
}

/** @param {string} text */
const faint = (text) => `<span class="faint">${text}</span>`;

/** A line of a table of facts. @param {string} key @param {string} value */
const factHtml = (key, value) => `<tr><td>${key}</td><td>${value}</td></tr>`;

/** @param {Side} side @param {any} details @param {any} other */
function linkedHtml(side, details, other) {
  const link = side.link(other, side.nameOf(other), other.name);
  const distance = format.duration(Math.abs(other.start - details.start));
  const where = faint(`${distance} ${other.start < details.start ? "before" : "later"}`);
  return `<div class="linked">${ROLES[other.role] || "Belongs to"} ${link} ${where}</div>`;
}

/** @param {Side} side @param {any} details */
function linked(side, details) {
  return (details.linked || []).map((/** @type {any} */ other) => linkedHtml(side, details, other)).join("");
}

/** @param {Side} side @param {any} details */
function parents(side, details) {
  if (!details.parents?.length)
    return "";
  const itemHtml = (/** @type {any} */ p) => `<li>${side.link(p, side.nameOf(p), p.name)} ${faint(format.duration(p.end - p.start))}</li>`;
  return `<h3>Within</h3><ul class="parents">${details.parents.map(itemHtml).join("")}</ul>`;
}

/** How long the events of a name took. @param {any} s their statistics @param {number} length of this one */
function durations(s, length) {
  if (!(s.most > 0))
    return "";
  const against = s.median ? ` ${faint(`this one is ${format.significant(length / s.median, 3)} x`)}` : "";
  return factHtml("Total", format.duration(s.total)) +
    factHtml("Median, 95 %", `${format.duration(s.median)}, ${format.duration(s.p95)}${against}`) +
    factHtml("Least, most", `${format.duration(s.least)}, ${format.duration(s.most)}`);
}

/** To the events of this name before and behind. @param {Side} side @param {any} details */
function steps(side, details) {
  const previous = details.previous && side.link(details.previous, "‹ previous", "[");
  const next = details.next && side.link(details.next, "next ›", "]");
  return `<div class="steps">${[previous, next].filter(Boolean).join(" &nbsp; ")}</div>`;
}

/** @param {Side} side @param {any} details @param {number} length */
function statistics(side, details, length) {
  const s = details.statistics;
  if (!s)
    return `<h3>All of this name</h3><p class="faint">…</p>`;
  const rank = s.rank && s.most > 0 ? `, this is the ${format.ordinal(s.rank)} longest` : "";
  const facts = factHtml("Events", format.count(s.count) + rank) + durations(s, length);
  const bars = s.most > 0 && s.histogram?.length ? histogram(s.histogram, length) : "";
  return `<h3>All of this name</h3><table class="facts">${facts}</table>${bars}${steps(side, details)}`;
}

/** @param {any} details */
function stack(details) {
  const frames = (details.stack || []).map((/** @type {string} */ frame) => `<li>${escape(frame)}</li>`);
  return frames.length ? `<h3>Call stack</h3><ol class="stack">${frames.join("")}</ol>` : "";
}

/** @param {Side} side @param {any} details */
function command(side, details) {
  if (!details.command)
    return "";
  const { facts } = side.app.loaded[side.app.view.picked?.report ?? 0];
  const line = `${details.command} -- ${format.commandLine(facts.command) || "PROGRAM"}`;
  return `<h3>Its hardware counters</h3><code class="command">${escape(line)}</code> ${side.copy(line)}`;
}

/** What an event is called in full. @param {any} details @returns {string} */
export function wholeName(details) {
  return (details.arguments || []).find((/** @type {any[]} */ pair) => pair[0] === "full name")?.[1] || details.name || "?";
}

/** "128 x 1 x 1" of the event, against numbers. @param {any} details @param {string} key @param {number[]} numbers */
function isShape(details, key, numbers) {
  const text = (details.arguments || []).find((/** @type {any[]} */ pair) => pair[0] === key)?.[1];
  return text !== undefined && (String(text).match(/\d+/g) || []).map(Number).join() === numbers.join();
}

/** A counter, by what people call it. @param {any} counter */
function counterHtml({ metric, value, unit }) {
  const name = metric.split(".")[0].replace("__", " ").replaceAll("_", " ");
  return `<tr><td title="${escape(metric)}">${escape(name)}</td><td>${format.significant(value, 4)} ${escape(unit || "")}</td></tr>`;
}

/** What one report has. @param {Side} side @param {any} details @param {any} found */
function countersOf(side, details, { report, kernels, launches }) {
  const isSame = (/** @type {any} */ { grid, block }) => isShape(details, "grid", grid) && isShape(details, "block", block);
  const same = kernels.find(isSame);
  const kernel = same || kernels[0];
  const where = `${side.app.loaded[report].facts.name}, launch ${kernel.number}, ${format.count(launches)} of this name`;
  const other = same ? "" : "; grid and block are others";
  const link = side.link({ kernel: { report, id: kernel.number } }, "All of its counters");
  return `<h3>Counters</h3><p class="faint">${escape(where + other)}</p>` +
    `<table class="facts">${kernel.values.map(counterHtml).join("")}</table>${link}`;
}

/** Counters that were read of this kernel, launched the same way if there is such a launch. @param {Side} side @param {any} details */
function counters(side, details) {
  return (details.counters || []).map((/** @type {any} */ found) => countersOf(side, details, found)).join("");
}

/** An argument as a line. @param {[string, any]} pair */
function argumentHtml([key, value]) {
  const name = key === "bytes per second" ? "bandwidth" : key.replaceAll("_", " ");
  return factHtml(escape(name), escape(format.argument(key, value)));
}

/** What every event has, and its arguments. @param {any} details @param {string} row */
function facts(details, row) {
  const length = details.end - details.start;
  const pairs = (details.arguments || []).filter((/** @type {any[]} */ pair) => pair[0] !== "full name");
  const hasLength = length || details.table !== "point";
  const duration = hasLength ? factHtml("Duration", `${format.duration(length)} ${faint(format.exact(length))}`) : "";
  return duration + factHtml("Start", format.moment(details.start, 1)) + factHtml("Row", escape(row)) + pairs.map(argumentHtml).join("");
}

/** @param {Side} side @param {any} details @param {string} row @returns {string} */
export function eventHtml(side, details, row) {
  const length = details.end - details.start;
  const name = side.nameOf(details);
  const full = wholeName(details);
  const whole = full !== name ? `<div class="whole">${escape(full)} ${side.copy(full)}</div>` : "";
  return `<h2 class="event" title="${escape(full)}">${escape(name)}</h2>${whole}<table class="facts">${facts(details, row)}</table>` +
    linked(side, details) + parents(side, details) + statistics(side, details, length) + stack(details) +
    counters(side, details) + command(side, details);
}

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
    return `<span class="bar${here ? " here" : ""}" style="height:${height}px" title="${format.duration(from)} to ${format.duration(to)}: ${format.count(count)}"></span>`;
  });
  const first = histogram[0];
  const last = histogram[histogram.length - 1];
  return `<div class="histogram" role="img" aria-label="Durations of all events of this name; the marked bar has this one">${bars.join("")}</div>` +
    `<div class="axis"><span>${format.duration(first[0])}</span><span>${format.duration(last[1])}</span></div>`;
}

/** @param {Side} side @param {any} details */
function linked(side, details) {
  return (details.linked || []).map((/** @type {any} */ other) => `<div class="linked">${ROLES[other.role] || "Belongs to"} ${side.link(other, side.nameOf(other), other.name)} ` +
    `<span class="faint">${format.duration(Math.abs(other.start - details.start))} ${other.start < details.start ? "before" : "later"}</span></div>`).join("");
}

/** @param {Side} side @param {any} details */
function parents(side, details) {
  if (!details.parents?.length)
    return "";
  const items = details.parents.map((/** @type {any} */ p) => `<li>${side.link(p, side.nameOf(p), p.name)} <span class="faint">${format.duration(p.end - p.start)}</span></li>`);
  return `<h3>Within</h3><ul class="parents">${items.join("")}</ul>`;
}

/** @param {Side} side @param {any} details @param {number} length */
function statistics(side, details, length) {
  const s = details.statistics;
  if (!s)
    return `<h3>All of this name</h3><p class="faint">…</p>`;
  const step = [details.previous && side.link(details.previous, "‹ previous", "["), details.next && side.link(details.next, "next ›", "]")].filter(Boolean).join(" &nbsp; ");
  const against = s.median ? ` <span class="faint">this one is ${format.significant(length / s.median, 3)} x</span>` : "";
  const durations = s.most > 0 ? `<tr><td>Total</td><td>${format.duration(s.total)}</td></tr><tr><td>Median, 95 %</td><td>${format.duration(s.median)}, ${format.duration(s.p95)}${against}</td></tr>` +
    `<tr><td>Least, most</td><td>${format.duration(s.least)}, ${format.duration(s.most)}</td></tr>` : "";
  return `<h3>All of this name</h3><table class="facts"><tr><td>Events</td><td>${format.count(s.count)}${s.rank && s.most > 0 ? `, this is the ${format.ordinal(s.rank)} longest` : ""}</td></tr>` +
    `${durations}</table>${s.most > 0 && s.histogram?.length ? histogram(s.histogram, length) : ""}<div class="steps">${step}</div>`;
}

/** @param {any} details */
function stack(details) {
  return details.stack?.length ? `<h3>Call stack</h3><ol class="stack">${details.stack.map((/** @type {string} */ frame) => `<li>${escape(frame)}</li>`).join("")}</ol>` : "";
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

/** Counters that were read of this kernel, launched the same way if there is such a launch. @param {Side} side @param {any} details */
function counters(side, details) {
  return (details.counters || []).map((/** @type {any} */ found) => {
    const same = found.kernels.find((/** @type {any} */ kernel) => isShape(details, "grid", kernel.grid) && isShape(details, "block", kernel.block));
    const kernel = same || found.kernels[0];
    const rows = kernel.values.map((/** @type {any} */ v) => `<tr><td title="${escape(v.metric)}">${escape(v.metric.split(".")[0].replace("__", " ").replaceAll("_", " "))}</td><td>${format.significant(v.value, 4)} ${escape(v.unit || "")}</td></tr>`);
    const where = `${side.app.loaded[found.report].facts.name}, launch ${kernel.number}, ${format.count(found.launches)} of this name${same ? "" : "; grid and block are others"}`;
    return `<h3>Counters</h3><p class="faint">${escape(where)}</p><table class="facts">${rows.join("")}</table>${side.link({ kernel: { report: found.report, id: kernel.number } }, "All of its counters")}`;
  }).join("");
}

/** @param {Side} side @param {any} details @param {string} row @returns {string} */
export function eventHtml(side, details, row) {
  const length = details.end - details.start;
  const name = side.nameOf(details);
  const full = wholeName(details);
  const pairs = (details.arguments || []).filter((/** @type {any[]} */ pair) => pair[0] !== "full name");
  const facts = [
    length || details.table !== "point" ? ["Duration", `${format.duration(length)} <span class="faint">${format.exact(length)}</span>`] : null,
    ["Start", `${format.moment(details.start, 1)}`], ["Row", escape(row)],
    ...pairs.map((/** @type {[string, any]} */ [key, value]) => [escape(key === "bytes per second" ? "bandwidth" : key.replaceAll("_", " ")), escape(format.argument(key, value))]),
  ].filter((fact) => fact !== null);
  return `<h2 class="event" title="${escape(full)}">${escape(name)}</h2>${full !== name ? `<div class="whole">${escape(full)} ${side.copy(full)}</div>` : ""}` +
    `<table class="facts">${facts.map(([key, value]) => `<tr><td>${key}</td><td>${value}</td></tr>`).join("")}</table>` +
    linked(side, details) + parents(side, details) + statistics(side, details, length) + stack(details) + counters(side, details) + command(side, details);
}

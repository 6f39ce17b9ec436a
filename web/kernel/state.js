// What is looked at, as the part of the address behind #.
import { WAYS } from "./groups.js";

/**
 * @typedef {object} KernelState
 * @property {number} report
 * @property {number} kernel its place in the report
 * @property {string} tab
 * @property {[number, number] | null} baseline report, and place of a kernel of it; -1: the same kernels
 * @property {number} sort
 * @property {string} filter
 * @property {string} by what launches are summed up by; empty: they are not
 * @property {string} group the one of these whose launches are listed; empty: all of the sums
 * @property {number} order of the sums
 * @property {string} metric that is shown launch by launch; empty: the time
 * @property {string} raw filter of the raw page
 * @property {Record<string, string>} choices
 */

export const TABS = [["details", "Details"], ["source", "Source"], ["raw", "Raw"], ["variation", "Variation"], ["session", "Session"]];
const TEXTS = /** @type {const} */ (["filter", "raw", "by", "group", "metric"]);
const CHOICES = ["roofline", "pipes", "source"];

/** @param {KernelState} state @param {KernelState} first */
export function writeKernelState(state, first) {
  const parts = ["view=kernels"];
  if (state.report !== first.report)
    parts.push(`report=${state.report}`);
  parts.push(`kernel=${state.kernel}`);
  if (state.tab !== "details")
    parts.push(`tab=${state.tab}`);
  if (state.baseline)
    parts.push(`baseline=${state.baseline[0]}.${state.baseline[1]}`);
  else if (first.baseline)
    parts.push("baseline=none");
  if (state.sort)
    parts.push(`sort=${state.sort}`);
  if (state.order)
    parts.push(`order=${state.order}`);
  for (const name of TEXTS)
    if (state[name])
      parts.push(`${name}=${encodeURIComponent(state[name])}`);
  for (const name of CHOICES)
    if (state.choices[name])
      parts.push(`${name}=${encodeURIComponent(state.choices[name])}`);
  return parts.join("&");
}

/** @param {string | null} text @param {number} otherwise */
const whole = (text, otherwise) => (/^-?\d{1,9}$/.test(text || "") ? Number(text) : otherwise);

/** @param {string} hash @param {KernelState} first what it is without an address @returns {KernelState} */
export function readKernelState(hash, first) {
  const values = new URLSearchParams(hash.replace(/^#/, ""));
  const tab = values.get("tab") || "details";
  const pair = /^(\d{1,3})\.(-1|\d{1,9})$/.exec(values.get("baseline") || "");
  /** @type {Record<string, string>} */
  const choices = {};
  for (const name of CHOICES)
    if (values.get(name))
      choices[name] = String(values.get(name));
  return {
    report: whole(values.get("report"), first.report), kernel: whole(values.get("kernel"), first.kernel),
    tab: TABS.some(([name]) => name === tab) ? tab : "details",
    baseline: pair ? [Number(pair[1]), Number(pair[2])] : values.get("baseline") === "none" ? null : first.baseline,
    sort: whole(values.get("sort"), 0), filter: values.get("filter") || "", raw: values.get("raw") || "",
    by: WAYS[values.get("by") || ""] ? String(values.get("by")) : "", group: values.get("group") || "",
    order: whole(values.get("order"), 0), metric: values.get("metric") || "", choices,
  };
}

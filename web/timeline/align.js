// Several reports on one axis: at their beginnings, by the clock on the wall, at a range that each has, or by hand.
import { json } from "../api.js";

/** @typedef {import("../main.js").App} App */

export const WAYS = /** @type {Array<[string, string]>} */ ([
  ["start", "at the start"], ["clock", "by the clock"], ["range", "at a range"], ["hand", "manually (alt + drag)"],
]);

/** Moves all so that none begins before 0. @param {number[]} offsets */
export function fromZero(offsets) {
  const least = Math.min(...offsets);
  return offsets.map((offset) => offset - least);
}

/**
 * What the clocks say, as offsets. Times of day are ns since 1970, told as texts because they are beyond 2^53.
 * @param {Array<string | null>} started
 */
export function clockOffsets(started) {
  if (started.some((text) => !text))
    return null;
  const times = started.map((text) => BigInt(/** @type {string} */ (text)));
  const first = times.reduce((a, b) => (a < b ? a : b));
  return times.map((time) => Number(time - first));
}

export class Alignment {
  /** @param {App} app */
  constructor(app) {
    this.app = app;
    this.way = "start";
    this.range = "";
    this.bar = /** @type {HTMLElement} */ (document.getElementById("align"));
    if (app.loaded.length > 1)
      this.show();
  }

  show() {
    this.bar.hidden = false;
    const ways = WAYS.map(([value, text]) => `<option value="${value}">${text}</option>`).join("");
    const named = `placeholder="name of the range" aria-label="Range to align at"`;
    this.bar.innerHTML = `align <select aria-label="Align the reports">${ways}</select>` +
      `<input type="search" ${named} list="ranges" hidden><datalist id="ranges"></datalist>`;
    const select = /** @type {HTMLSelectElement} */ (this.bar.querySelector("select"));
    const input = /** @type {HTMLInputElement} */ (this.bar.querySelector("input"));
    select.addEventListener("change", () => {
      this.way = select.value;
      input.hidden = this.way !== "range";
      if (this.way === "range") {
        this.offerRanges();
        input.focus();
      } else {
        this.apply();
      }
    });
    input.addEventListener("change", () => {
      this.range = input.value.trim();
      this.apply();
    });
  }

  /** The controls say what holds. */
  tell() {
    const select = this.bar.querySelector("select");
    const input = this.bar.querySelector("input");
    if (select)
      select.value = this.way;
    if (input) {
      input.hidden = this.way !== "range";
      input.value = this.range;
    }
    this.app.offsetsChanged();
  }

  async offerRanges() {
    const answer = await this.app.attempt(() => json("/api/stats", { report: 0, name: "nvtx_sum" }));
    const list = this.bar.querySelector("datalist");
    const column = answer?.columns?.length - 1;
    const names = new Set((answer?.rows || []).map((/** @type {any[]} */ row) => String(row[column]).replace(/^[^:]*:/, "")));
    list?.replaceChildren(...[...names].slice(0, 200).map((name) => Object.assign(document.createElement("option"), { value: name })));
  }

  /** @returns {Promise<number[] | null>} */
  async offsets() {
    const { loaded } = this.app;
    if (this.way === "clock")
      return clockOffsets(loaded.map((report) => report.facts.started ?? null));
    if (this.way !== "range")
      return fromZero(loaded.map((report) => -report.first));
    const starts = [];
    for (const { number } of loaded) {
      const found = await this.firstRange(number);
      if (!found)
        return null;
      starts.push(found.start);
    }
    return fromZero(starts.map((start) => -start));
  }

  /** The first range of the name that all are aligned at. @param {number} report */
  async firstRange(report) {
    const ranges = [...this.app.rows.byKey.values()].filter((row) => row.report === report && ["nvtx", "generic"].includes(row.kind));
    const row = ranges.map(({ id }) => id).join(",");
    const answer = row && await this.app.attempt(() => json("/api/find", { report, text: this.range, row, limit: 1 }));
    return answer && answer.events[0];
  }

  async apply() {
    if (this.way === "hand" || (this.way === "range" && !this.range))
      return;
    const offsets = await this.offsets();
    const why = this.way === "clock" ? "A report has no start time." : `A report has no range “${this.range}”.`;
    if (!offsets)
      this.app.complain(new Error(why));
    else
      this.set(offsets);
  }

  /** @param {number[]} offsets */
  set(offsets) {
    this.app.loaded.forEach((report, i) => { report.offset = offsets[i] || 0; });
    this.tell();
  }

  /** @param {number} report @param {number} offset */
  byHand(report, offset) {
    this.way = "hand";
    this.app.loaded[report].offset = Math.round(offset);
    this.app.timeline.redraw();
  }
}

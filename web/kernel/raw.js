// Every value of a kernel by its metric, filtered by a text, to be copied.
import { copyText, tsv } from "../panels/panel.js";
import { beforeHtml, escape, filteredHtml, marks, note, unitText, warmHtml } from "./parts.js";

/** @typedef {import("./types.js").Cell} Cell */

const MOST_LINES = 3000;

const MORE = note(`The first ${MOST_LINES}; copying takes all.`);

/** @param {Cell} cell */
function lineHtml(cell) {
  const value = `<td>${escape(cell.metric)}</td><td class="number">${escape(cell.text)}</td><td>${escape(unitText(cell.shown))}</td>`;
  return `<tr ${marks(cell)} data-explain="${escape(cell.metric)}">${value}<td>${warmHtml(cell)}</td><td>${beforeHtml(cell)}</td></tr>`;
}

export class RawPage {
  /** @param {HTMLElement} place @param {() => void} changed the filter */
  constructor(place, changed) {
    this.place = place;
    this.filter = "";
    /** @type {Cell[]} */
    this.values = [];
    place.addEventListener("input", (event) => {
      const input = /** @type {HTMLInputElement} */ (event.target);
      if (input.id !== "raw-filter")
        return;
      this.filter = input.value;
      this.showLines();
      changed();
    });
    place.addEventListener("click", (event) => {
      const button = /** @type {HTMLElement} */ (event.target).closest("#raw-copy");
      if (button)
        copyText(this.tsv(), /** @type {HTMLElement} */ (button));
    });
  }

  kept() {
    const words = this.filter.trim().toLowerCase().split(/\s+/).filter(Boolean);
    return this.values.filter((cell) => words.every((word) => cell.metric.toLowerCase().includes(word)));
  }

  /** What is shown, for spreadsheets: in base units. */
  tsv() {
    const compared = this.values.some((cell) => cell.before !== undefined);
    const heated = this.values.some((cell) => cell.warm !== undefined);
    const others = (/** @type {Cell} */ { warm, before, change }) => [...(heated ? [warm] : []), ...(compared ? [before, change] : [])];
    const rows = this.kept().map((cell) => [cell.metric, cell.unit, cell.value, ...others(cell)]);
    return tsv(["metric", "unit", "value", ...(heated ? ["warm caches"] : []), ...(compared ? ["baseline", "change %"] : [])], rows);
  }

  /** @param {Cell[]} values */
  show(values) {
    this.values = values;
    this.place.innerHTML = filteredHtml("raw", this.filter);
    this.showLines();
  }

  showLines() {
    const kept = this.kept();
    const lines = kept.slice(0, MOST_LINES).map(lineHtml).join("");
    const count = this.place.querySelector("#raw-count");
    const box = this.place.querySelector("#raw-lines");
    if (count)
      count.textContent = `${kept.length} of ${this.values.length} values`;
    if (box)
      box.innerHTML = `<table class="raw-table"><tbody>${lines}</tbody></table>${kept.length > MOST_LINES ? MORE : ""}`;
  }
}

// What stands above the pages of a kernel: the launches of the report, or what they sum up to by kernel, range or operator.
import { json } from "../api.js";
import { count } from "../format.js";
import { TIME_COLUMN, WAYS, groupsHtml, groupsTsv, keyOf, nameOf, nextOrder } from "./groups.js";
import { SummaryList, arranged, summaryTsv } from "./summary.js";

/** @typedef {import("./kernels.js").Kernels} Kernels */

/** @param {string} id */
const element = (id) => /** @type {HTMLElement} */ (document.getElementById(id));

/** How many are listed. @param {number} shown @param {number} total */
function countText(shown, total) {
  if (shown !== total)
    return `${count(shown)} of ${count(total)} launches`;
  return `${count(shown)} ${shown === 1 ? "launch" : "launches"}`;
}

/** @param {string} way @param {boolean} isChosen */
function wayHtml(way, isChosen) {
  return `<button role="tab" data-way="${way}" aria-selected="${isChosen}">${way ? WAYS[way].title : "Launches"}</button>`;
}

export class Lists {
  /** @param {Kernels} page */
  constructor(page) {
    this.page = page;
    this.place = element("kernel-summary");
    this.lines = new SummaryList(this.place);
    /** @type {{ key: string, by: string, groups: import("./types.js").Group[] } | null} sums that were asked for */
    this.sums = null;
  }

  get kernels() {
    return this.page.list?.kernels || [];
  }

  /** Sums are asked for once. @param {() => boolean} isWanted still */
  async show(isWanted) {
    const { by, report } = this.page.state;
    const { baseline, against } = this.page.where();
    const key = [by, report, baseline, against].join();
    if (by && !this.page.list?.ways.includes(by)) {
      this.page.state = { ...this.page.state, by: "", group: "" };
    } else if (by && this.sums?.key !== key) {
      const answer = await this.page.app.attempt(() => json("/api/groups", { report, by, baseline, against }));
      if (!answer || !isWanted())
        return;
      this.sums = { key, by, groups: answer.groups };
    }
    this.showNow();
  }

  /** The group whose launches are listed. */
  group() {
    const { group: key, by } = this.page.state;
    return key && this.sums?.by === by ? this.sums.groups.find((group) => keyOf(group) === key) : undefined;
  }

  get showsSums() {
    return Boolean(this.sums && this.sums.by === this.page.state.by && !this.group());
  }

  /** Kernels that take longest come first; ranges as they lie in each other, operators as they come. */
  get order() {
    return this.page.state.order || (this.page.state.by === "kernel" ? nextOrder(0, TIME_COLUMN) : 0);
  }

  /** Time of all launches. */
  get allTime() {
    return this.kernels.reduce((sum, kernel) => sum + (kernel.duration ?? 0), 0);
  }

  arranged() {
    const group = this.group();
    return arranged(this.kernels, this.page.state.sort, this.page.state.filter, group ? new Set(group.places) : null);
  }

  tsv() {
    if (!this.showsSums)
      return summaryTsv(this.arranged());
    return groupsTsv(this.sums?.groups || [], this.allTime, this.order, this.page.state.filter);
  }

  showNow() {
    const { by, filter } = this.page.state;
    this.showWays();
    if (this.showsSums) {
      const [html, shown] = groupsHtml(this.sums?.groups || [], this.allTime, this.order, filter);
      this.place.innerHTML = html;
      element("kernel-count").textContent = `${count(shown)} ${WAYS[by].one}${shown === 1 ? "" : "s"}`;
      return;
    }
    const kernels = this.arranged();
    this.lines.show(kernels, this.page.state.kernel, this.page.state.sort);
    element("kernel-count").textContent = countText(kernels.length, this.page.list?.total || 0);
  }

  /** Launches or sums, and which group is listed. */
  showWays() {
    const group = this.group();
    const ways = ["", ...(this.page.list?.ways || [])];
    const chosen = this.showsSums ? this.page.state.by : "";
    element("kernel-ways").innerHTML = ways.map((way) => wayHtml(way, way === chosen)).join("");
    element("kernel-group").hidden = !group;
    element("kernel-group").textContent = group ? `${WAYS[this.page.state.by].one}: ${nameOf(group)} ✕` : "";
  }
}

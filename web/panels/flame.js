// Flame graph and call tree: of CPU samples, or of GPU time by range, or by PyTorch's operators or modules.
import { json } from "../api.js";
import * as colours from "../timeline/colours.js";
import * as format from "../format.js";
import { shortName } from "../names.js";
import { byFunction, heaviestPath, treeLines } from "./call_table.js";
import { empty, headsHtml, spanOf, spanText } from "./panel.js";
import { nextSort, tableHtml } from "./table.js";

/** @typedef {import("../main.js").App} App */
/** @typedef {import("./call_table.js").Node} Node */

const LINE = 19;
const MOST_LINES = 2000;
/** A box that is narrower has no name in it. */
const LEAST_NAMED = 24;
const { attributesHtml, escapeHtml: escape } = format;
const CUT = "more than 2 million kernels and copies: not all are in it; measure a span ";

/** What is said where nothing is there. @type {Record<string, string>} */
const NOTHING = {
  samples: "No CPU samples in this span. sonde profile takes them unless -s none was given or perf was not permitted; " +
    "sonde doctor prints how to allow them.",
  offcpu: "Nothing was recorded of threads that waited. --cpuctxsw process-tree (with -s) records when they left their CPU, and where.",
  osrt: "No OS runtime calls with stacks in this span. -t osrt records calls that wait; " +
    "those longer than --osrt-backtrace-threshold have stacks.",
  gpu: "No GPU work in this span. -t cuda,nvtx records it, with the ranges that it belongs to.",
};
/** Of the table by function: four of numbers, then the name. */
const TABLE_COLUMNS = [...Array(4).fill({ name: "", number: true }), { name: "" }];

/** @param {string} value @param {string} text @param {string} now */
const option = (value, text, now) => `<option value="${escape(value)}"${value === now ? " selected" : ""}>${escape(text)}</option>`;

/** @param {string} field @param {string} label @param {string} options */
const selectHtml = (field, label, options) => `<select class="${field}" data-field="${field}" aria-label="${label}">${options}</select>`;

/** @param {{ number: number }} loaded */
async function hasOperators(loaded) {
  const { reports } = await json("/api/stats", { report: loaded.number }).catch(() => ({ reports: [] }));
  return reports.some((/** @type {any} */ report) => report.name === "torch_op_sum" && report.available);
}

export class FlamePanel {
  /** @param {App} app @param {HTMLElement} place @param {string} path */
  constructor(app, place, path) {
    this.app = app;
    this.place = place;
    this.path = path;
    this.order = "top-down";
    this.mode = "flame";
    this.source = "samples";
    this.whose = "all";
    this.report = "0";
    this.by = "range";
    /** @type {boolean | null} whether there are operators of PyTorch; null: not asked yet */
    this.hasOperators = null;
    this.sort = -2;
    /** @type {Node | null} */
    this.root = null;
    /** @type {Node[]} from the root to what is looked at */
    this.trail = [];
    /** @type {Set<Node>} */
    this.open = new Set();
    /** @type {Node[]} those that are drawn, by number */
    this.nodes = [];
    this.unit = "ns";
    this.search = "";
    this.turn = 0;
    this.cut = false;
  }

  get samples() {
    return this.path === "/api/flame";
  }

  /** The thread or process that the chosen row belongs to. */
  owner() {
    let { row } = this.app;
    while (row && !["thread", "process"].includes(row.kind))
      row = row.above;
    return row;
  }

  /** Whose samples: of all threads, or of the chosen row's. */
  whoseOptions() {
    const owner = this.owner();
    const all = option("all", "all threads", this.whose);
    return owner ? all + option("row", owner.kind === "thread" ? owner.label : `process ${owner.label}`, this.whose) : all;
  }

  /** What only samples can be shown by. */
  sampleControls() {
    const orders = option("top-down", "top-down", this.order) + option("bottom-up", "bottom-up", this.order);
    const sources = option("samples", "CPU samples", this.source) + option("offcpu", "off CPU", this.source) +
      option("osrt", "OS runtime calls", this.source);
    return selectHtml("order", "Order", orders) + selectHtml("source", "Source", sources) +
      selectHtml("whose", "Of which threads", this.whoseOptions());
  }

  /** What only GPU time can be shown by. */
  workControls() {
    const kinds = option("range", "by range", this.by) + option("operator", "by operator", this.by) +
      option("module", "by module", this.by);
    return this.hasOperators ? selectHtml("by", "By", kinds) : "";
  }

  controls() {
    const { loaded } = this.app;
    const reports = loaded.map((report) => option(String(report.number), report.facts.name, this.report)).join("");
    const forms = option("flame", "flame graph", this.mode) + option("tree", "call tree", this.mode) +
      option("table", "by function", this.mode);
    const search = attributesHtml({
      type: "search", placeholder: "mark functions", "aria-label": "Mark functions with this text", value: this.search,
    });
    return `<div class="bar" data-path="${this.path}">${loaded.length > 1 ? selectHtml("report", "Report", reports) : ""}` +
      selectHtml("mode", "Form", forms) +
      `${this.samples ? this.sampleControls() : this.workControls()}<input ${search}>` +
      `<span class="faint">${spanText(this.app)}</span> <span class="trail"></span></div><div class="flame" tabindex="0"></div>`;
  }

  /** Whether a recording has operators of PyTorch: then it has their report. The panel may be gone when the answer comes. */
  async ask() {
    this.hasOperators = false;
    const answers = await Promise.all(this.app.loaded.map(hasOperators));
    this.hasOperators = answers.includes(true);
    if (this.hasOperators && this.place.querySelector(`[data-path="${this.path}"]`))
      await this.show();
  }

  async show() {
    if (!this.samples && this.hasOperators === null)
      this.ask();
    this.place.innerHTML = this.controls();
    for (const select of this.place.querySelectorAll("select"))
      select.addEventListener("change", () => {
        const field = /** @type {"order" | "mode" | "source" | "whose" | "report" | "by"} */ (select.dataset.field);
        this[field] = select.value;
        if (field === "mode")
          this.draw();
        else
          this.fill();
      });
    const input = /** @type {HTMLInputElement} */ (this.place.querySelector("input"));
    input.addEventListener("input", () => {
      this.search = input.value;
      this.draw();
    });
    const area = /** @type {HTMLElement} */ (this.place.querySelector(".flame"));
    area.addEventListener("click", (event) => this.click(event));
    await this.fill();
  }

  async fill() {
    const turn = ++this.turn;
    const owner = this.whose === "row" ? this.owner() : null;
    const loaded = this.app.loaded[owner ? owner.report : Number(this.report)];
    const [from, to] = spanOf(this.app, loaded);
    const ofWork = this.by === "range" ? {} : { by: this.by };
    const more = this.samples ? { order: this.order, source: this.source, row: owner ? owner.id : undefined } : ofWork;
    const answer = await this.app.attempt(() => json(this.path, { report: loaded.number, from, to, ...more }));
    if (!answer || turn !== this.turn)
      return;
    this.root = answer.root;
    this.cut = Boolean(answer.cut);
    this.unit = answer.unit;
    this.trail = [answer.root];
    this.open = heaviestPath(answer.root);
    if (!answer.root.value)
      await this.explain(loaded);
    else
      this.draw();
  }

  /** Nothing is there: why, in the recording's own words where it has some. @param {import("../main.js").Loaded} loaded */
  async explain(loaded) {
    const area = this.place.querySelector(".flame");
    const told = await json("/api/diagnostics", { report: loaded.number }).catch(() => ({ diagnostics: [] }));
    const word = this.samples ? /sampl|perf_event|paranoid/i : /cuda|gpu|cupti/i;
    const why = told.diagnostics.filter((/** @type {any} */ d) => word.test(d.text || "")).slice(0, 3);
    if (area)
      area.innerHTML = [NOTHING[this.samples ? this.source : "gpu"], ...why.map((/** @type {any} */ d) => d.text)].map(empty).join("");
  }

  draw() {
    const area = /** @type {HTMLElement | null} */ (this.place.querySelector(".flame"));
    if (!area || !this.root?.value)
      return;
    this.drawTrail();
    if (this.mode === "flame")
      this.drawFlame(area);
    else if (this.mode === "tree")
      this.drawTree(area);
    else
      this.drawTable(area);
  }

  /** @param {number} value */
  amount(value) {
    return this.unit === "ns" ? format.duration(value) : `${format.count(value)} ${this.unit}`;
  }

  /** Of GPU time the ends are kernels and copies; what they are in was named by people. @param {Node} node */
  nameOf(node) {
    return this.samples || !node.children.length ? shortName(node.name) : node.name;
  }

  /** @param {string} name */
  isMarked(name) {
    return Boolean(this.search) && name.toLowerCase().includes(this.search.toLowerCase());
  }

  /** @param {Node} node @param {number} depth @param {number} i its line @param {number} all what the root has */
  treeRow(node, depth, i, all) {
    const mark = node.children.length ? (this.open.has(node) ? "▾" : "▸") : "";
    const named = attributesHtml({ class: "tree", "data-node": i, "aria-expanded": String(this.open.has(node)) });
    const button = `<button ${named}><span class="mark">${mark}</span>${escape(this.nameOf(node))}</button>`;
    const cell = attributesHtml({ style: `padding-left:${4 + Math.min(depth, 60) * 12}px`, title: node.name });
    const share = `<span class="share" style="width:${Math.round((60 * node.value) / all)}px"></span>${format.percent(node.value / all)}`;
    const numbers = [this.amount(node.value), share, node.self ? this.amount(node.self) : ""];
    const cells = numbers.map((html) => `<td class="number">${html}</td>`).join("");
    return `<tr class="${this.isMarked(node.name) ? "marked" : ""}"><td ${cell}>${button}</td>${cells}</tr>`;
  }

  /** @param {HTMLElement} area */
  drawTree(area) {
    const all = /** @type {Node} */ (this.root).value;
    const lines = treeLines(this.trail[this.trail.length - 1], this.open).slice(0, MOST_LINES);
    this.nodes = lines.map(({ node }) => node);
    const rows = lines.map(({ node, depth }, i) => this.treeRow(node, depth, i, all));
    const heads = headsHtml([["Name"], ["Total", true], ["Share", true], ["Self", true]]);
    area.innerHTML = `<table class="statistics">${heads}${rows.join("")}</table>`;
  }

  /** @param {HTMLElement} area */
  drawTable(area) {
    const root = /** @type {Node} */ (this.root);
    const unit = this.unit === "ns" ? " (ns)" : "";
    const share = (/** @type {number} */ value) => (100 * value) / root.value;
    const kept = byFunction(root).filter((line) => !this.search || this.isMarked(line.name));
    const rows = kept.map(({ name, self, total }) => [share(self), self, share(total), total, name]);
    const numbers = ["Self (%)", `Self${unit}`, "Total (%)", `Total${unit}`].map((name) => ({ name, number: true, functions: false }));
    const columns = [...numbers, { name: "Name", number: false, functions: this.samples }];
    area.innerHTML = tableHtml({ columns, rows }, this.sort);
  }

  /** @param {Node} at @param {number} i @param {number} left @param {number} depth @param {number} wide in pixels */
  boxHtml(at, i, left, depth, wide) {
    const colour = colours.byName(at.name);
    const faded = this.search && !this.isMarked(at.name) ? ";opacity:.3" : "";
    const share = format.percent(at.value / /** @type {Node} */ (this.root).value);
    /* Padding would be a least width. */
    const width = Math.max(wide - 1, 1).toFixed(1);
    const box = attributesHtml({
      class: `box${wide > LEAST_NAMED ? " named" : ""}`, "data-node": i,
      style: `left:${left.toFixed(1)}px;top:${depth * LINE}px;width:${width}px;background:${colour.css};color:${colour.ink}${faded}`,
      title: `${at.name}\n${this.amount(at.value)}, ${share}; itself ${this.amount(at.self)}`,
    });
    return `<div ${box}>${wide > LEAST_NAMED ? escape(this.nameOf(at)) : ""}</div>`;
  }

  /** @param {HTMLElement} area */
  drawFlame(area) {
    const node = this.trail[this.trail.length - 1];
    const width = area.clientWidth - 4 || 800;
    /** @type {string[]} */
    const boxes = [];
    this.nodes = [];
    const put = (/** @type {Node} */ at, /** @type {number} */ left, /** @type {number} */ depth) => {
      const wide = (at.value / node.value) * width;
      if (wide < 1)
        return;
      boxes.push(this.boxHtml(at, this.nodes.length, left, depth, wide));
      this.nodes.push(at);
      let x = left;
      for (const child of [...at.children].sort((a, b) => b.value - a.value)) {
        put(child, x, depth + 1);
        x += (child.value / node.value) * width;
      }
    };
    put(node, 0, 0);
    area.innerHTML = `<div class="boxes">${boxes.join("")}</div>`;
  }

  /** @param {MouseEvent} event */
  click(event) {
    const target = /** @type {HTMLElement} */ (event.target);
    const node = this.nodes[Number(/** @type {HTMLElement | null} */ (target.closest("[data-node]"))?.dataset.node ?? NaN)];
    if (this.mode === "table") {
      this.sort = nextSort(event, this.sort, TABLE_COLUMNS);
    } else if (node && this.mode === "tree") {
      if (!this.open.delete(node))
        this.open.add(node);
    } else if (node) {
      this.zoom(node);
    }
    this.draw();
  }

  /** Into a box; the one at the top leads back. @param {Node} node */
  zoom(node) {
    if (node === this.trail[this.trail.length - 1] && this.trail.length > 1)
      this.trail.pop();
    else if (node !== this.root)
      this.trail.push(node);
  }

  drawTrail() {
    const trail = /** @type {HTMLElement} */ (this.place.querySelector(".trail"));
    trail.innerHTML = (this.cut ? CUT : "") + (this.trail.length > 1 ? `<button class="link">whole</button>` : "");
    trail.onclick = () => {
      this.trail = this.trail.slice(0, 1);
      this.draw();
    };
  }

  spanChosen() {
    this.show();
  }

  rowChosen() {
    if (this.samples && this.owner())
      this.show();
  }
}

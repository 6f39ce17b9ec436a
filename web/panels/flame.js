// Flame graph and call tree: of CPU samples, or of GPU time by range.
import { json } from "../api.js";
import * as colours from "../colours.js";
import * as format from "../format.js";
import { empty, spanOf, spanText } from "./panel.js";

/** @typedef {import("../main.js").App} App */
/** @typedef {{ name: string, value: number, self: number, children: Node[] }} Node */

const LINE = 19;
const MISSING = /** @type {Record<string, string>} */ ({
  "/api/flame": "No CPU samples in this span. Samples are taken unless -s none was given or perf was not permitted; `sonde doctor` tells what would allow them.",
  "/api/tree": "No GPU work in this span. `-t cuda,nvtx` records it, with the ranges that it belongs to.",
});

export class FlamePanel {
  /** @param {App} app @param {HTMLElement} place @param {string} path */
  constructor(app, place, path) {
    this.app = app;
    this.place = place;
    this.path = path;
    this.order = "top-down";
    this.mode = "flame";
    /** @type {Node | null} */
    this.root = null;
    /** @type {Node[]} from the root to what is looked at */
    this.trail = [];
    this.unit = "ns";
  }

  async show() {
    const samples = this.path === "/api/flame";
    const option = (/** @type {string} */ value, /** @type {string} */ text, /** @type {string} */ now) => `<option value="${value}"${value === now ? " selected" : ""}>${text}</option>`;
    this.place.innerHTML = `<div class="bar">${samples ? `<select class="order" aria-label="Order">${option("top-down", "top-down", this.order)}${option("bottom-up", "bottom-up", this.order)}</select>` : ""}` +
      `<select class="mode" aria-label="Form">${option("flame", "flame graph", this.mode)}${option("tree", "call tree", this.mode)}</select>` +
      ` <span class="faint">${spanText(this.app)}</span> <span class="trail"></span></div><div class="flame"></div>`;
    for (const name of /** @type {const} */ (["order", "mode"]))
      this.place.querySelector(`.${name}`)?.addEventListener("change", (event) => {
        this[name] = /** @type {HTMLSelectElement} */ (event.target).value;
        this.show();
      });
    const loaded = this.app.loaded[this.app.row?.report ?? 0];
    const [from, to] = spanOf(this.app, loaded);
    const answer = await this.app.attempt(() => json(this.path, { report: loaded.number, from, to, order: samples ? this.order : undefined }));
    if (!answer)
      return;
    this.root = answer.root;
    this.unit = answer.unit;
    this.trail = [answer.root];
    this.draw();
  }

  draw() {
    const area = /** @type {HTMLElement | null} */ (this.place.querySelector(".flame"));
    if (!area || !this.root)
      return;
    if (!this.root.value) {
      area.innerHTML = empty(MISSING[this.path]);
      return;
    }
    if (this.mode === "tree")
      area.innerHTML = `<table class="statistics"><thead><tr><th>Name</th><th class="number">Total</th><th class="number">Share</th><th class="number">Self</th></tr></thead>${this.treeRows(this.root, 0)}</table>`;
    else
      this.drawFlame(area);
  }

  /** @param {number} value */
  amount(value) {
    return this.unit === "ns" ? format.duration(value) : `${format.count(value)} ${this.unit}`;
  }

  /** @param {Node} node @param {number} depth @returns {string} */
  treeRows(node, depth) {
    const all = /** @type {Node} */ (this.root).value;
    const line = `<tr><td style="padding-left:${8 + depth * 14}px">${format.escapeHtml(node.name)}</td><td class="number">${this.amount(node.value)}</td>` +
      `<td class="number">${format.percent(node.value / all)}</td><td class="number">${this.amount(node.self)}</td></tr>`;
    const children = node.children.filter((child) => child.value >= all * 0.005).sort((a, b) => b.value - a.value);
    return line + (depth < 60 ? children.map((child) => this.treeRows(child, depth + 1)).join("") : "");
  }

  /** @param {HTMLElement} area */
  drawFlame(area) {
    const node = this.trail[this.trail.length - 1];
    const width = area.clientWidth || 800;
    /** @type {string[]} */
    const boxes = [];
    /** @type {Node[]} */
    const nodes = [];
    const put = (/** @type {Node} */ at, /** @type {number} */ left, /** @type {number} */ depth) => {
      const wide = (at.value / node.value) * width;
      if (wide < 1)
        return;
      const colour = colours.byName(at.name);
      nodes.push(at);
      boxes.push(`<div class="box" data-node="${nodes.length - 1}" style="left:${left.toFixed(1)}px;top:${depth * LINE}px;width:${Math.max(wide - 1, 1).toFixed(1)}px;background:${colour.css};` +
        `color:${colour.ink}" title="${format.escapeHtml(at.name)}\n${this.amount(at.value)}, ${format.percent(at.value / /** @type {Node} */ (this.root).value)}; itself ${this.amount(at.self)}">` +
        `${wide > 24 ? format.escapeHtml(at.name) : ""}</div>`);
      let x = left;
      for (const child of [...at.children].sort((a, b) => b.value - a.value)) {
        put(child, x, depth + 1);
        x += (child.value / node.value) * width;
      }
    };
    put(node, 0, 0);
    area.innerHTML = `<div class="boxes">${boxes.join("")}</div>`;
    area.onclick = (event) => {
      const i = /** @type {HTMLElement} */ (event.target).dataset.node;
      if (i !== undefined)
        this.zoom(nodes[Number(i)]);
    };
    this.drawTrail();
  }

  /** Into a box; the one at the top leads back. @param {Node} node */
  zoom(node) {
    if (node === this.trail[this.trail.length - 1] && this.trail.length > 1)
      this.trail.pop();
    else
      this.trail.push(node);
    this.draw();
  }

  drawTrail() {
    const trail = /** @type {HTMLElement} */ (this.place.querySelector(".trail"));
    trail.innerHTML = this.trail.length > 1 ? `<button class="link">whole</button>` : "";
    trail.onclick = () => {
      this.trail = this.trail.slice(0, 1);
      this.draw();
    };
  }

  spanChosen() {
    this.show();
  }
}

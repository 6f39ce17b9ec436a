// Dark and light follow the system until somebody chooses; the grips between the parts; the help.
import * as format from "./format.js";
import { KERNEL_KEYS } from "./kernel/kernels.js";
import { KEYS } from "./keys.js";

/** @typedef {import("./main.js").App} App */

/** Colours of the style sheet that are drawn with. */
const INKS = [
  "text", "faint", "strong", "line", "row", "groupRow", "span", "spanLine", "shade", "busy", "arrow", "like", "trouble", "plotArea",
  "plotBand", "plotLine", "grid", "plate", "plateStrong", "mark", "finding", "seriesB", "seriesC", "seriesD", "seriesE",
];
const STEP = 24;

/** @param {string} id */
const element = (id) => /** @type {HTMLElement} */ (document.getElementById(id));

export class Theme {
  /** @param {App} app */
  constructor(app) {
    this.app = app;
    element("theme").addEventListener("click", () => this.turn());
    element("help").addEventListener("click", () => this.showKeys());
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.take());
    this.listenToGrip("side-grip", "--side", "x");
    this.listenToGrip("bottom-grip", "--bottom", "y");
    this.take();
  }

  take() {
    const chosen = localStorage.getItem("theme");
    const dark = chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    document.documentElement.dataset.theme = dark ? "dark" : "light";
    const style = getComputedStyle(document.documentElement);
    for (const name of INKS)
      this.app.ink[name] = style.getPropertyValue(`--${name}`).trim();
    this.app.overview?.repaint();
    this.app.timeline?.redraw();
  }

  turn() {
    localStorage.setItem("theme", document.documentElement.dataset.theme === "dark" ? "light" : "dark");
    this.take();
  }

  /** @param {string} id @param {string} property @param {"x" | "y"} direction */
  listenToGrip(id, property, direction) {
    const grip = element(id);
    const whole = () => (direction === "x" ? window.innerWidth : window.innerHeight);
    const within = (/** @type {number} */ size) => Math.max(40, Math.min(size, 0.75 * whole()));
    const set = (/** @type {number} */ size) => document.documentElement.style.setProperty(property, `${within(size)}px`);
    const now = () => element(direction === "x" ? "side" : "bottom").getBoundingClientRect()[direction === "x" ? "width" : "height"];
    grip.addEventListener("pointerdown", (event) => {
      grip.setPointerCapture(event.pointerId);
      const move = (/** @type {PointerEvent} */ at) => set(whole() - (direction === "x" ? at.clientX : at.clientY));
      grip.addEventListener("pointermove", move);
      grip.addEventListener("pointerup", () => grip.removeEventListener("pointermove", move), { once: true });
    });
    grip.addEventListener("keydown", (event) => {
      const by = { ArrowLeft: STEP, ArrowUp: STEP, ArrowRight: -STEP, ArrowDown: -STEP }[event.key];
      if (!by)
        return;
      event.preventDefault();
      event.stopPropagation();
      set(now() + by);
    });
  }

  showKeys() {
    const dialog = /** @type {HTMLDialogElement} */ (element("keys"));
    const keys = document.body.dataset.view === "kernels" ? KERNEL_KEYS : KEYS;
    const lineHtml = (/** @type {string} */ key, /** @type {string} */ what) =>
      `<tr><td><kbd>${format.escapeHtml(key)}</kbd></td><td>${what}</td></tr>`;
    const lines = keys.map(([key, what]) => lineHtml(key, what)).join("");
    dialog.innerHTML = `<h2>Keys</h2><table>${lines}</table><form method="dialog"><button>Close</button></form>`;
    if (!dialog.open)
      dialog.showModal();
  }
}

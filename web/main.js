// Sonde's viewer: loads what the reports are, builds the rows, and ties the parts together.
import { Names, ServerError, asking, json } from "./api.js";
import { Bottom } from "./bottom.js";
import * as format from "./format.js";
import { KEYS, listenToKeys } from "./keys.js";
import { Overview } from "./overview.js";
import { Rows } from "./rows.js";
import { Search } from "./search.js";
import { Side } from "./side.js";
import { Tiles } from "./tiles.js";
import { Timeline } from "./timeline.js";
import { View } from "./view.js";

/** @typedef {{ report: number, row: number, lane: number, index: number }} Picked */
/** @typedef {{ report: number, row: number, lane: number, time: number }} LinkEnd */
/**
 * @typedef {object} Loaded one report
 * @property {number} number
 * @property {any} facts
 * @property {number} length
 * @property {number} offset what is added to its times on the common axis
 * @property {Tiles} tiles
 * @property {Names} names
 */

/** @param {string} id */
const element = (id) => /** @type {HTMLElement} */ (document.getElementById(id));

export class App {
  /** @param {any[]} reports */
  constructor(reports) {
    this.rows = new Rows();
    /** @type {Loaded[]} */
    this.loaded = reports.map((facts, number) => this.load(facts, number));
    this.view = new View(0, Math.max(...this.loaded.map((report) => report.length + report.offset), 1000));
    this.colourMode = localStorage.getItem("colour") || "class";
    /** @type {Record<string, string>} */
    this.ink = {};
    this.pickedName = 0;
    /** @type {any} what the server told of the event that is picked */
    this.details = null;
    /** @type {{ from: LinkEnd, to: LinkEnd } | null} */
    this.link = null;
    /** @type {import("./rows.js").Row | null} */
    this.row = null;
    this.started = false;
    this.takeTheme();
    this.overview = new Overview(this);
    this.search = new Search(this);
    this.side = new Side(this);
    this.timeline = new Timeline(this);
    this.bottom = new Bottom(this);
    this.view.listen(() => this.timeline.redraw());
  }

  /** @param {any} facts @param {number} number @returns {Loaded} */
  load(facts, number) {
    const redraw = () => this.timeline?.redraw();
    return {
      number, facts, length: facts.length, offset: 0, names: new Names(number, redraw),
      tiles: new Tiles(number, (id) => this.rows.find(number, id)?.draw === "plot", redraw, (error) => this.complain(error)),
    };
  }

  async start() {
    const several = this.loaded.length > 1;
    for (const loaded of this.loaded) {
      const answer = await json("/api/rows", { report: loaded.number });
      this.rows.add(loaded.number, answer.rows, several ? loaded.facts.name : undefined);
    }
    this.showHead();
    this.listen();
    this.view.restore(location.hash);
    if (this.view.picked)
      this.pick(this.view.picked, true);
    this.side.showFindings();
    this.bottom.open("events");
    this.timeline.draw();
    this.started = true;
  }

  showHead() {
    const facts = this.loaded.map((report) => report.facts);
    const sum = (/** @type {string} */ key) => facts.reduce((all, report) => all + (report[key] || 0), 0);
    const gpus = facts.flatMap((report) => report.gpus || []).map((gpu) => gpu.name);
    element("title").textContent = facts.map((report) => report.name).join(" + ");
    document.title = `${facts.map((report) => report.name).join(" + ")} - Sonde`;
    const said = [format.duration(this.view.last), ...new Set(gpus), ...["processes", "threads", "events"].map((what) => format.some(sum(what), what))];
    element("facts").textContent = said.join("  |  ");
    if (facts.some((report) => report.partial))
      this.complain(new ServerError("This recording is not finished: what was there when it was opened is shown. Reload for more."));
  }

  listen() {
    listenToKeys(this);
    window.addEventListener("popstate", () => this.view.restore(location.hash));
    const filter = /** @type {HTMLInputElement} */ (element("filter"));
    filter.addEventListener("input", () => {
      this.rows.filter = filter.value.trim().toLowerCase();
      this.rows.lay();
      this.timeline.redraw();
    });
    const colour = /** @type {HTMLSelectElement} */ (element("colour"));
    colour.value = this.colourMode;
    colour.addEventListener("change", () => {
      this.colourMode = colour.value;
      localStorage.setItem("colour", colour.value);
      this.timeline.redraw();
    });
    element("theme").addEventListener("click", () => this.turnTheme());
    element("help").addEventListener("click", () => this.showKeys());
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.takeTheme());
    for (const [grip, property, sign] of [["side-grip", "--side", "x"], ["bottom-grip", "--bottom", "y"]])
      this.listenToGrip(grip, property, sign);
  }

  /** @param {string} id @param {string} property @param {string} direction */
  listenToGrip(id, property, direction) {
    const grip = element(id);
    grip.addEventListener("pointerdown", (event) => {
      grip.setPointerCapture(event.pointerId);
      const move = (/** @type {PointerEvent} */ at) => {
        const size = direction === "x" ? window.innerWidth - at.clientX : window.innerHeight - at.clientY;
        document.documentElement.style.setProperty(property, `${Math.max(60, Math.min(size, 0.7 * (direction === "x" ? window.innerWidth : window.innerHeight)))}px`);
      };
      grip.addEventListener("pointermove", move);
      grip.addEventListener("pointerup", () => grip.removeEventListener("pointermove", move), { once: true });
    });
  }

  takeTheme() {
    const chosen = localStorage.getItem("theme");
    const dark = chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    document.documentElement.dataset.theme = dark ? "dark" : "light";
    const style = getComputedStyle(document.documentElement);
    for (const name of ["text", "faint", "strong", "line", "row", "groupRow", "span", "spanLine", "shade", "busy", "arrow", "like", "trouble", "plotArea", "plotLine"])
      this.ink[name] = style.getPropertyValue(`--${name}`).trim();
    this.timeline?.redraw();
  }

  turnTheme() {
    localStorage.setItem("theme", document.documentElement.dataset.theme === "dark" ? "light" : "dark");
    this.takeTheme();
  }

  /** @param {number} clientX */
  pointerTime(clientX) {
    const time = this.timeline.timeAt(clientX);
    return time >= this.view.from && time <= this.view.to ? time : (this.view.from + this.view.to) / 2;
  }

  /** Shows a span with some room around it. @param {number} from @param {number} to */
  fit(from, to) {
    const room = Math.max((to - from) * 0.4, 10);
    this.view.show(from - room, to + room, true);
  }

  fitChosen() {
    const { span } = this.view;
    if (this.details && this.view.picked) {
      const { offset } = this.loaded[this.view.picked.report];
      this.fit(this.details.start + offset, this.details.end + offset);
    } else if (span) {
      this.fit(span[0], span[1]);
    }
  }

  /** Picks an event: its details are fetched, the arrow to what belongs to it is drawn.
   * @param {Picked | null} picked @param {boolean} [quiet] */
  async pick(picked, quiet = false) {
    this.link = null;
    this.details = null;
    this.pickedName = 0;
    if (!quiet)
      this.view.pick(picked);
    if (!picked)
      return this.side.showEvent();
    const details = await this.attempt(() => json("/api/slice", { ...picked }));
    if (!details || this.view.picked?.index !== picked.index || this.view.picked?.row !== picked.row)
      return undefined;
    this.details = details;
    this.pickedName = details.name_id || 0;
    this.link = this.linkOf(picked, details);
    this.row = this.rows.find(picked.report, picked.row) || null;
    this.side.showEvent();
    this.timeline.redraw();
    return undefined;
  }

  /** @param {Picked} picked @param {any} details */
  linkOf(picked, details) {
    const other = details.linked && details.linked[0];
    if (!other)
      return null;
    const here = { report: picked.report, row: picked.row, lane: picked.lane, time: details.start };
    const there = { report: picked.report, row: other.row, lane: other.lane, time: other.start };
    return other.role === "caller" ? { from: there, to: here } : { from: here, to: there };
  }

  /** Goes to an event and picks it. @param {Picked & { start: number, end: number }} event */
  go(event) {
    const row = this.rows.find(event.report, event.row);
    if (!row)
      return;
    this.rows.reveal(row);
    const { offset } = this.loaded[event.report];
    const length = Math.max(event.end - event.start, 1);
    const wide = Math.min(this.view.to - this.view.from, Math.max(length * 30, 1000));
    const middle = (event.start + event.end) / 2 + offset;
    const inSight = middle > this.view.from && middle < this.view.to && length > (this.view.to - this.view.from) / 400;
    if (!inSight)
      this.view.show(middle - Math.max(wide, length * 1.5) / 2, middle + Math.max(wide, length * 1.5) / 2, true);
    this.bringRow(row);
    this.pick({ report: event.report, row: event.row, lane: event.lane, index: event.index });
  }

  /** @param {import("./rows.js").Row} row */
  bringRow(row) {
    const { scroll, height } = this.timeline;
    this.timeline.space.style.height = `${this.rows.height + 40}px`;
    if (row.top < scroll.scrollTop || row.top + row.height > scroll.scrollTop + height)
      scroll.scrollTop = Math.max(0, row.top - height / 3);
  }

  followArrow() {
    const other = this.details?.linked?.[0];
    if (other && this.view.picked)
      this.go({ ...other, report: this.view.picked.report });
  }

  /** @param {number} by */
  sibling(by) {
    const other = by > 0 ? this.details?.next : this.details?.previous;
    if (other && this.view.picked)
      this.go({ ...other, report: this.view.picked.report });
  }

  /** @param {import("./rows.js").Row} row */
  rowChosen(row) {
    this.row = row;
    this.bottom.rowChosen();
  }

  spanChosen() {
    this.side.showSpan();
    this.bottom.spanChosen();
  }

  pinChosen() {
    if (this.row)
      this.rows.pin(this.row);
    this.timeline.redraw();
  }

  /** @param {number} by */
  moveChosen(by) {
    if (this.row)
      this.rows.move(this.row, by);
    this.timeline.redraw();
  }

  clear() {
    this.view.select(null);
    this.pick(null);
    element("message").hidden = true;
    this.side.showFindings();
    this.bottom.spanChosen();
  }

  showKeys() {
    const dialog = /** @type {HTMLDialogElement} */ (element("keys"));
    dialog.innerHTML = `<h2>Keys</h2><table>${KEYS.map(([key, what]) => `<tr><td><kbd>${format.escapeHtml(key)}</kbd></td><td>${what}</td></tr>`).join("")}</table>` +
      `<form method="dialog"><button>Close</button></form>`;
    dialog.showModal();
  }

  /** @param {unknown} error */
  complain(error) {
    const box = element("message");
    box.textContent = error instanceof Error ? error.message : String(error);
    box.hidden = false;
    window.setTimeout(() => { box.hidden = true; }, 12000);
  }

  /** What the server refuses is shown, and is no reason to stop.
   * @template T @param {() => Promise<T>} ask @returns {Promise<T | undefined>} */
  async attempt(ask) {
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof DOMException && error.name === "AbortError"))
        this.complain(error);
      return undefined;
    }
  }

  /** Everything that was asked for has come and was drawn. */
  get settled() {
    return this.started && !this.timeline.frame && asking() === 0 && this.loaded.every((report) => report.tiles.settled && !report.names.timer && !report.names.wanted.size);
  }

  /** Resolves when nothing is on its way any more and all of it is drawn. @returns {Promise<void>} */
  idle() {
    return new Promise((resolve) => {
      let calm = 0;
      const look = () => {
        calm = this.settled ? calm + 1 : 0;
        if (calm >= 2)
          resolve();
        else
          requestAnimationFrame(look);
      };
      look();
    });
  }

  /** How long the last frames (at most 240) took to draw, in ms, the oldest first. */
  get frameTimes() {
    return this.timeline.times;
  }
}

async function begin() {
  try {
    const { reports } = await json("/api/reports");
    const app = new App(reports);
    Object.assign(window, { sonde: app });
    await app.start();
  } catch (error) {
    const box = element("message");
    box.textContent = error instanceof Error ? error.message : String(error);
    box.hidden = false;
    if (!(error instanceof ServerError))
      throw error;
  }
}

begin();

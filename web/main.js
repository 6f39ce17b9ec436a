// Sonde's viewer: loads what the reports are, builds the rows, and ties the parts together.
import { Address, readState, restoreState, stateOf } from "./address.js";
import { Alignment } from "./timeline/align.js";
import { Names, ServerError, asking, json } from "./api.js";
import { Bottom } from "./bottom.js";
import { Paint } from "./timeline/colours.js";
import * as format from "./format.js";
import { Kernels } from "./kernel/kernels.js";
import { listenToKeys } from "./keys.js";
import { Live } from "./live.js";
import { Overview } from "./timeline/overview.js";
import { Rows } from "./timeline/rows.js";
import { Search } from "./search.js";
import { Side } from "./side/side.js";
import { wholeName } from "./side/event.js";
import { Theme } from "./theme.js";
import { Tiles } from "./timeline/tiles.js";
import { Timeline } from "./timeline/timeline.js";
import { View } from "./view.js";

/** @typedef {{ report: number, row: number, lane: number, index: number }} Picked */
/**
 * @typedef {object} Loaded one report
 * @property {number} number
 * @property {any} facts
 * @property {number} first when its first event began
 * @property {number} length
 * @property {number} offset what is added to its times on the common axis
 * @property {Tiles} tiles
 * @property {Names} names
 * @property {Paint} paint
 */

/** Events that begin so late in their recording are looked at without what is before them. */
const LATE = 0.3;
/** So long, in ms, panels wait for the first picture. */
const PICTURE_FIRST = 3000;

/** @param {string} id */
const element = (id) => /** @type {HTMLElement} */ (document.getElementById(id));

/** Whether all that was asked for of a report has come. @param {Loaded} report */
const isComplete = ({ tiles, names }) => tiles.settled && !names.timer && !names.wanted.size;

export class App {
  /** @param {any[]} reports */
  constructor(reports) {
    this.rows = new Rows();
    /** @type {Loaded[]} */
    this.loaded = reports.filter((facts) => !facts.baseline).map((facts, number) => this.load(facts, number));
    this.view = new View(0, 1000);
    this.colourMode = localStorage.getItem("colour") || "class";
    /** @type {Record<string, string>} */
    this.ink = {};
    this.pickedName = 0;
    /** @type {any} what the server told of the event that is picked */
    this.details = null;
    /** @type {[number, number] | null} the place of the finding that was gone to */
    this.finding = null;
    /** @type {import("./timeline/rows.js").Row | null} */
    this.row = null;
    this.started = false;
    this.timelineStarted = false;
    this.theme = new Theme(this);
    this.overview = new Overview(this);
    this.search = new Search(this);
    this.side = new Side(this);
    this.timeline = new Timeline(this);
    this.bottom = new Bottom(this);
    this.alignment = new Alignment(this);
    this.live = new Live(this);
    this.address = new Address(this);
    this.kernels = new Kernels(this, reports);
    this.view.jumps.push(() => this.address.jump());
    this.view.listen(() => {
      this.timeline.tooltip.hide();
      this.timeline.redraw();
      this.address.change();
      this.side.viewChanged();
    });
  }

  /** @param {any} facts @param {number} number @returns {Loaded} */
  load(facts, number) {
    const redraw = () => this.timeline?.redraw();
    const names = new Names(number, redraw);
    return {
      number, facts, first: facts.first ?? 0, length: facts.length, offset: 0, names, paint: new Paint((id) => names.get(id)),
      tiles: new Tiles(number, (id) => this.rows.find(number, id)?.draw === "plot", redraw, (error) => this.tilesFailed(number, error)),
    };
  }

  /** While a recording grows its rows may be others by the time they are asked for. @param {number} number @param {unknown} error */
  tilesFailed(number, error) {
    if (!this.loaded[number].facts.partial)
      this.complain(error);
  }

  /** The kernels where all reports have some, unless the address says otherwise. */
  async start() {
    const views = element("views");
    const named = new URLSearchParams(location.hash.replace(/^#/, "")).get("view");
    const ofKernels = this.loaded.every((report) => report.facts.kernels > 0);
    views.hidden = !this.kernels.has || !this.hasTimeline;
    views.addEventListener("click", (event) => {
      const name = /** @type {HTMLElement} */ (event.target).dataset.view;
      if (name)
        this.showView(name);
    });
    this.showHead();
    const isWanted = named ? named === "kernels" : ofKernels && !location.hash.includes("from=");
    const onKernels = this.kernels.has && (!this.hasTimeline || isWanted);
    await this.showView(onKernels ? "kernels" : "timeline");
    this.started = true;
  }

  /** There is something to be seen in it: counters of kernels alone have no times. */
  get hasTimeline() {
    return !this.kernels.has || this.loaded.some((report) => report.facts.events > 0 || report.facts.partial);
  }

  /** @param {string} name @param {boolean} [isJump] the back button undoes it */
  async showView(name, isJump = this.started) {
    if (name === "kernels" ? !this.kernels.has : !this.hasTimeline)
      return;
    document.body.dataset.view = name;
    for (const button of element("views").querySelectorAll("button"))
      button.setAttribute("aria-selected", String(button.dataset.view === name));
    // The address is that of what is seen.
    if (name === "kernels" || this.timelineStarted)
      this.address.restoring = name === "kernels";
    if (name === "timeline" && isJump && location.hash.includes("view=kernels"))
      history.pushState(null, "", "#view=timeline");
    if (name === "kernels" && !this.kernels.started)
      await this.kernels.start();
    else if (name === "timeline" && !this.timelineStarted)
      await this.startTimeline();
    else if (name === "timeline")
      this.timelineShown();
    if (name === "kernels" && isJump)
      this.kernels.writeAddress(true);
  }

  /** It had no size while it was hidden. */
  timelineShown() {
    this.timeline.resize();
    this.overview.repaint();
    this.address.change();
  }

  async startTimeline() {
    this.timelineStarted = true;
    const several = this.loaded.length > 1;
    const answers = await Promise.all(this.loaded.map((loaded) => json("/api/rows", { report: loaded.number })));
    answers.forEach((answer, i) => this.rows.add(i, answer.rows, several ? this.loaded[i].facts.name : undefined));
    this.rows.openAsFits(1.3 * this.timeline.height);
    const state = readState(location.hash);
    if (several && !state.offsets)
      await this.alignment.apply();
    this.findEnds();
    this.view.show(this.view.first, this.view.last);
    this.showHead();
    this.listen();
    this.restore(state);
    this.timeline.draw();
    await this.firstPicture();
    this.bottom.open(state.panel || "events");
    this.side.showFindings();
    this.live.start();
    answers.forEach((answer, i) => answer.pending && this.live.await(this.loaded[i]));
  }

  /** Panels ask for much: they come after what is seen first. */
  async firstPicture() {
    const end = performance.now() + PICTURE_FIRST;
    while (performance.now() < end && !this.loaded.every(isComplete))
      await new Promise((resolve) => { window.setTimeout(resolve, 10); });
    performance.mark("first-picture");
  }

  /** Where the common axis begins and ends. */
  findEnds() {
    const skipped = (/** @type {Loaded} */ { first, length }) => (first > LATE * length ? first - 0.01 * (length - first) : 0);
    const firsts = this.loaded.map((report) => report.offset + skipped(report));
    const last = Math.max(...this.loaded.map((report) => report.length + report.offset), Math.min(...firsts) + 1000);
    this.view.stretch(Math.min(...firsts), last);
  }

  offsetsChanged() {
    this.findEnds();
    this.timeline.redraw();
    this.address.change();
    this.bottom.spanChosen();
  }

  /** What the reports hold, in a few words. @returns {string[]} */
  summary() {
    const facts = this.loaded.map((report) => report.facts);
    const sum = (/** @type {string} */ key) => facts.reduce((all, report) => all + (report[key] || 0), 0);
    const gpus = facts.flatMap((report) => report.gpus || []).map((gpu) => gpu.name);
    const countOf = (/** @type {string} */ name) => gpus.filter((other) => other === name).length;
    const counted = [...new Set(gpus)].map((name) => (countOf(name) === 1 ? name : `${countOf(name)} x ${name}`));
    if (sum("events") === 0 && sum("kernels") > 0)
      return [...counted, format.some(sum("kernels"), "kernels")];
    const length = format.duration(Math.max(...facts.map((report) => report.length)));
    return [length, ...counted, ...["processes", "threads", "events"].map((what) => format.some(sum(what), what))];
  }

  showHead() {
    const facts = this.loaded.map((report) => report.facts);
    const title = facts.map((report) => report.name).join(" + ");
    element("title").textContent = title;
    const placeOf = (/** @type {any} */ report) => [report.path, format.commandLine(report.command)].filter(Boolean).join("\n");
    element("title").title = facts.map(placeOf).join("\n\n");
    document.title = `${title} - Sonde`;
    const said = this.summary();
    element("facts").textContent = said.join("  |  ");
    element("facts").title = said.join("\n");
  }

  listen() {
    listenToKeys(this);
    const filter = /** @type {HTMLInputElement} */ (element("filter"));
    filter.addEventListener("input", () => this.setFilter(filter.value));
    const colour = /** @type {HTMLSelectElement} */ (element("colour"));
    colour.addEventListener("change", () => this.setColour(colour.value));
  }

  /** @param {string} text */
  setFilter(text) {
    this.rows.filter = text.trim().toLowerCase();
    /** @type {HTMLInputElement} */ (element("filter")).value = text;
    this.rows.lay();
    this.rowsChanged();
  }

  /** @param {string} mode */
  setColour(mode) {
    this.colourMode = ["class", "name", "row"].includes(mode) ? mode : "class";
    /** @type {HTMLSelectElement} */ (element("colour")).value = this.colourMode;
    localStorage.setItem("colour", this.colourMode);
    this.timeline.redraw();
    this.address.change();
  }

  state() {
    return stateOf(this);
  }

  /** Shows what an address says. @param {import("./address.js").State} state */
  restore(state) {
    const isKernels = this.kernels.has && (location.hash.includes("view=kernels") || !this.hasTimeline);
    if (isKernels !== (document.body.dataset.view === "kernels"))
      this.showView(isKernels ? "kernels" : "timeline", false);
    if (isKernels)
      this.kernels.restore();
    else if (this.timelineStarted)
      restoreState(this, state);
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
    if (this.details && this.view.picked) {
      const { offset } = this.loaded[this.view.picked.report];
      this.fit(this.details.start + offset, this.details.end + offset);
    } else {
      this.zoomToSpan();
    }
  }

  zoomToSpan() {
    const { span } = this.view;
    if (span)
      this.view.show(span[0] - 0.01 * (span[1] - span[0]), span[1] + 0.01 * (span[1] - span[0]), true);
  }

  showAll() {
    this.view.show(this.view.first, this.view.last, true);
  }

  /** Picks an event: its details are fetched, the arrow to what belongs to it is drawn.
   * @param {Picked | null} picked @param {boolean} [quiet] */
  async pick(picked, quiet = false) {
    const had = Boolean(this.details);
    this.details = null;
    this.pickedName = 0;
    if (!quiet)
      this.view.pick(picked);
    this.side.spanFirst = false;
    if (!picked) {
      if (had || quiet)
        this.side.show();
      return;
    }
    const isStill = () => JSON.stringify(this.view.picked) === JSON.stringify(picked);
    const details = await this.attempt(() => json("/api/slice", { ...picked }));
    if (!details || !isStill())
      return;
    this.details = details;
    this.pickedName = details.name_id || 0;
    this.row = this.rows.find(picked.report, picked.row) || null;
    this.side.show();
    this.timeline.redraw();
    if (!details.statistics)
      await this.pickAlike(picked, isStill);
    if (details.command && (this.loaded.length > 1 || this.kernels.has) && isStill())
      await this.pickCounters(isStill);
  }

  /** What reports of `sonde kernel` that are open, too, have of the kernel that is picked. @param {() => boolean} isStill */
  async pickCounters(isStill) {
    const details = this.details;
    const name = wholeName(details);
    const found = await Promise.all(this.loaded.map((_, report) => json("/api/counters", { report, name }).catch(() => ({ kernels: [] }))));
    if (!isStill() || this.details !== details)
      return;
    details.counters = found.map((answer, report) => ({ ...answer, report })).filter((answer) => answer.kernels.length);
    if (details.counters.length)
      this.side.show();
  }

  /** The statistics of its name, where they take long. @param {Picked} picked @param {() => boolean} isStill */
  async pickAlike(picked, isStill) {
    const alike = await this.attempt(() => json("/api/alike", { ...picked }));
    if (!alike || !isStill() || !this.details)
      return;
    Object.assign(this.details, alike);
    this.side.show();
  }

  /** Goes to an event and picks it. @param {Picked & { start: number, end: number }} event */
  go(event) {
    const row = this.rows.find(event.report, event.row);
    if (!row)
      return;
    this.rows.reveal(row);
    /** @type {HTMLInputElement} */ (element("filter")).value = this.rows.filter;
    const { offset } = this.loaded[event.report];
    const length = Math.max(event.end - event.start, 1);
    const seen = this.view.to - this.view.from;
    const middle = (event.start + event.end) / 2 + offset;
    const inSight = event.start + offset > this.view.from && event.end + offset < this.view.to && length > seen / 400;
    const wide = Math.max(length * 1.5, Math.min(seen, Math.max(length * 30, 1000)));
    if (inSight)
      this.address.jump();
    else
      this.view.show(middle - wide / 2, middle + wide / 2, true);
    this.bringRow(row);
    this.pick({ report: event.report, row: event.row, lane: event.lane, index: event.index });
  }

  /** @param {import("./timeline/rows.js").Row} row */
  bringRow(row) {
    const { scroll, height } = this.timeline;
    const { pinsHeight } = this.rows;
    this.timeline.space.style.height = `${this.rows.height + pinsHeight + 40}px`;
    if (!row.pinned && (row.top < scroll.scrollTop || row.top + row.height > scroll.scrollTop + height - pinsHeight))
      scroll.scrollTop = Math.max(0, row.top - (height - pinsHeight) / 3);
    this.timeline.redraw();
  }

  /** Where the arrow leads. */
  followArrow() {
    this.goFrom(this.details?.linked?.[0]);
  }

  /** The next or previous event of the same name. @param {number} by */
  sibling(by) {
    this.goFrom(by > 0 ? this.details?.next : this.details?.previous);
  }

  /** @param {any} event of the report that the picked one is in */
  goFrom(event) {
    if (event && this.view.picked)
      this.go({ ...event, report: this.view.picked.report });
  }

  /** Shows where a finding is. @param {[number, number]} span @param {import("./timeline/rows.js").Row | undefined} row */
  goFinding(span, row) {
    this.finding = span;
    if (row) {
      this.rows.reveal(row);
      this.bringRow(row);
    }
    this.fit(span[0], span[1]);
  }

  /** @param {import("./timeline/rows.js").Row} row */
  rowChosen(row) {
    this.row = row;
    this.bottom.rowChosen();
    this.timeline.redraw();
  }

  /** Rows were opened, closed, pinned or moved. */
  rowsChanged() {
    this.timeline.redraw();
    this.address.change();
  }

  spanChosen() {
    this.side.spanFirst = true;
    this.side.show();
    this.bottom.spanChosen();
  }

  pinChosen() {
    if (this.row)
      this.rows.pin(this.row);
    this.rowsChanged();
  }

  /** @param {number} by */
  moveChosen(by) {
    if (this.row)
      this.rows.move(this.row, by);
    this.rowsChanged();
  }

  clear() {
    this.finding = null;
    this.view.span = null;
    this.search.clear();
    this.pick(null);
    element("message").hidden = true;
    this.side.show();
    this.bottom.spanChosen();
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
    if (document.body.dataset.view === "kernels")
      return this.started && this.kernels.settled && asking() === 0;
    const { timeline, search, side, live } = this;
    const isWaiting = timeline.tooltip.timer || search.timer || timeline.labels.timer || side.timer || live.waiting || asking() > 0;
    return this.started && !timeline.frame && !isWaiting && this.loaded.every(isComplete);
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

export async function begin() {
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

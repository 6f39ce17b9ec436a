// Kernels and their counters: the list, and the pages of the one that is chosen.
import { json } from "../api.js";
import { duration } from "../format.js";
import { shortName } from "../names.js";
import { copyText } from "../panels/panel.js";
import { SessionPanel } from "../panels/session.js";
import { cardHtml, cardsOf, missingHtml, otherRulesHtml } from "./cards.js";
import { Explainer } from "./explain.js";
import { nextOrder } from "./groups.js";
import { sentence } from "./light.js";
import { TimelineReader } from "./lines.js";
import { Lists } from "./lists.js";
import { attributesHtml, blocksOf, changeText, escape, optionHtml, percent, short } from "./parts.js";
import { RawPage } from "./raw.js";
import { SourcePage } from "./source.js";
import { TABS, readKernelState, writeKernelState } from "./state.js";
import { gpuText, isKernel, isUnusual, reportName, unusualText } from "./summary.js";
import { VariationPage } from "./variation.js";

/** @typedef {import("../main.js").App} App */
/** @typedef {import("./types.js").List} List */
/** @typedef {import("./types.js").Kernel} Kernel */
/** @typedef {import("./state.js").KernelState} KernelState */

/** @type {Array<[string, string]>} what the help shows */
export const KERNEL_KEYS = [
  ["↑ ↓, k j", "previous, next kernel"], ["Home End", "first, last kernel"], ["1 2 3 4 5", "details, source, raw, variation, session"],
  ["Tab, ← →", "a card, and what its values are; in charts over time sample by sample"],
  ["b", "this kernel as the baseline; again: none"], ["/", "filter the kernels"], ["t", "the timeline, where there is one"],
  ["browser back", "undo a choice"], ["?", "this"],
];

/** What is known of a kernel in a line. @param {Kernel} kernel */
function titleFacts(kernel) {
  const unusual = isUnusual(kernel) && `<button class="link unusual" data-tab="variation">${escape(unusualText(kernel))}</button>`;
  return [
    kernel.duration !== null && `<b>${escape(duration(kernel.duration))}</b>`, unusual,
    kernel.gain !== null && `est. speed-up <b>${percent(kernel.gain)}</b>`,
    isKernel(kernel) && `grid ${kernel.grid.join(" × ")}`, isKernel(kernel) && `block ${kernel.block.join(" × ")}`,
    kernel.registers !== null && `${short(kernel.registers)} registers`, kernel.process && `${escape(kernel.process)} (${kernel.pid})`,
  ].filter(Boolean);
}

/** How much its time differs from the baseline's. @param {Kernel} kernel */
function changeHtml(kernel) {
  const before = kernel.before?.duration;
  if (!before || kernel.duration === null)
    return "";
  const change = changeText(((kernel.duration - before) / before) * 100);
  return ` <span class="change" data-change="duration">${change} in time</span>`;
}

/** @param {Kernel} kernel */
function titleHtml(kernel) {
  const said = attributesHtml({ class: "verdict", "data-verdict": kernel.verdict, title: sentence(kernel) });
  const verdict = kernel.verdict ? `<span ${said}>${escape(kernel.verdict)}</span>` : "";
  const name = `<h2 title="${escape(kernel.name.slice(0, 4000))}">${escape(shortName(kernel.name))}</h2>`;
  return `${name}${verdict}<span class="facts">${titleFacts(kernel).join("  ·  ")}${changeHtml(kernel)}</span>`;
}

/** Buttons that lead to the cards. @param {ReturnType<typeof cardsOf>} cards */
function navHtml({ shown, missing }) {
  const there = shown.map((card) => `<button data-card="${escape(card.id)}">${escape(card.title)}</button>`);
  const absent = missing.map(({ title }) => `<button data-card="missing" class="absent" title="not recorded">${escape(title)}</button>`);
  return `<nav class="card-nav" aria-label="Sections">${[...there, ...absent].join("")}</nav>`;
}

/** @param {string} error */
function errorHtml(error) {
  const said = `The counters of this kernel could not be read: ${escape(error)}`;
  return `<article class="card" id="card-error"><ul class="kernel-rules"><li class="rule-WRN">${said}</li></ul></article>`;
}

const NO_CARDS = `<article class="card"><p class="kernel-note">No section was recorded as a whole; the single values are on the page ` +
  `<button class="link" data-tab="raw">Raw</button>.</p></article>`;

/** @param {string} id */
const element = (id) => /** @type {HTMLElement} */ (document.getElementById(id));

export class Kernels {
  /** @param {App} app @param {any[]} reports the baseline of the command line is the last */
  constructor(app, reports) {
    this.app = app;
    this.facts = reports;
    /** @type {number[]} reports that have kernels and are no baseline */
    this.reports = this.facts.flatMap((facts, i) => (facts.kernels > 0 && !facts.baseline ? [i] : []));
    const baseline = this.facts.findIndex((facts) => facts.baseline);
    /** @type {KernelState} */
    this.first = {
      report: this.reports[0] ?? 0, kernel: 0, tab: "details", baseline: baseline >= 0 ? [baseline, -1] : null, sort: 0, filter: "",
      raw: "", by: "", group: "", order: 0, metric: "", choices: {},
    };
    this.state = this.first;
    /** @type {List | null} */
    this.list = null;
    /** @type {Kernel | null} */
    this.kernel = null;
    this.version = 0;
    this.started = false;
    this.busy = 0;
  }

  get has() {
    return this.reports.length > 0;
  }

  get settled() {
    return this.started && this.busy === 0;
  }

  async start() {
    this.lists = new Lists(this);
    this.details = element("kernel-details");
    new TimelineReader(this.details, () => (this.kernel?.sections || []).flatMap((section) => blocksOf(section, "timeline")));
    this.raw = new RawPage(element("kernel-raw"), () => this.change({ raw: this.raw?.filter || "" }, false));
    this.variation = new VariationPage(element("kernel-variation"), (metric) => this.change({ metric }, false));
    this.source = new SourcePage(element("kernel-source"));
    this.explainer = new Explainer(element("kernels"), element("kernel-explained"));
    this.listen();
    this.state = readKernelState(location.hash, this.first);
    await this.apply(true);
    this.started = true;
    performance.mark("first-picture");
  }

  listen() {
    const root = element("kernels");
    root.addEventListener("click", (event) => this.click(/** @type {HTMLElement} */ (event.target)));
    root.addEventListener("change", (event) => this.choice(/** @type {HTMLSelectElement} */ (event.target)));
    const filter = /** @type {HTMLInputElement} */ (element("kernel-filter"));
    filter.addEventListener("input", () => this.change({ filter: filter.value }, false));
    window.addEventListener("keydown", (event) => this.key(event));
  }

  /** @param {HTMLElement} target */
  click(target) {
    const at = (/** @type {string} */ name) => /** @type {HTMLElement | null} */ (target.closest(`[data-${name}]`))?.dataset[name];
    const place = at("place");
    if (place !== undefined && !target.closest("button"))
      this.change({ kernel: Number(place) }, true);
    else if (at("order"))
      this.change({ order: nextOrder(this.lists?.order ?? 0, Number(at("order"))) }, false);
    else if (at("group") !== undefined)
      this.change({ group: String(at("group")) }, true);
    else if (at("way") !== undefined)
      this.change({ by: String(at("way")), group: "" }, true);
    else if (target.closest("#kernel-group"))
      this.change({ group: "", by: "" }, true);
    else if (at("sort"))
      this.sortBy(Number(at("sort")));
    else if (at("tab"))
      this.change({ tab: String(at("tab")) }, true);
    else if (at("card"))
      document.getElementById(`card-${at("card")}`)?.scrollIntoView({ block: "start" });
    else if (target.closest("[data-zeros]"))
      this.turnZeros(/** @type {HTMLElement} */ (target.closest("[data-zeros]")));
    else if (target.closest("#kernel-copy"))
      copyText(this.lists?.tsv() || "", element("kernel-copy"));
    else if (target.closest("#kernel-pin"))
      this.pin();
  }

  /** Rows of a table without anything in them. @param {HTMLElement} button */
  turnZeros(button) {
    const isShown = button.getAttribute("aria-expanded") !== "true";
    button.setAttribute("aria-expanded", String(isShown));
    button.parentElement?.classList.toggle("with-zeros", isShown);
  }

  /** @param {number} column */
  sortBy(column) {
    const isText = [3, 4, 13].includes(column);
    const next = Math.abs(this.state.sort) === column ? -this.state.sort : isText || column === 1 ? column : -column;
    this.change({ sort: next }, false);
  }

  /** @param {HTMLSelectElement} select */
  choice(select) {
    const name = select.dataset.choice;
    if (select.id === "kernel-report")
      this.change({ report: Number(select.value), kernel: 0 }, true);
    else if (select.id === "kernel-baseline")
      this.change({ baseline: select.value ? /** @type {[number, number]} */ (select.value.split(".").map(Number)) : null }, true);
    else if (name)
      this.change({ choices: { ...this.state.choices, [name]: select.value } }, false);
  }

  /** This kernel becomes what others are compared with; a second time ends it. */
  pin() {
    const { baseline, report, kernel } = this.state;
    const isPinned = baseline && baseline[0] === report && baseline[1] === kernel;
    this.change({ baseline: isPinned ? null : [report, kernel] }, true);
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const target = /** @type {HTMLElement} */ (event.target);
    if (document.body.dataset.view !== "kernels" || event.ctrlKey || event.metaKey || event.altKey)
      return;
    if (target instanceof HTMLInputElement || target instanceof HTMLSelectElement) {
      if (event.key === "Escape")
        target.blur();
      return;
    }
    // What has lines of its own is scrolled by them.
    if (target.id === "source-scroll" && /^(Arrow|Home$|End$)/.test(event.key))
      return;
    const step = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1, Home: -Infinity, End: Infinity }[event.key];
    const tab = TABS[Number(event.key) - 1];
    if (step !== undefined)
      this.step(step);
    else if (tab)
      this.change({ tab: tab[0] }, true);
    else if (event.key === "b")
      this.pin();
    else if (event.key === "/")
      element("kernel-filter").focus();
    else if (event.key === "t")
      this.app.showView("timeline");
    else if (event.key === "?")
      this.app.theme.showKeys();
    else
      return;
    event.preventDefault();
  }

  /** @param {number} by */
  step(by) {
    const order = this.lists?.arranged() || [];
    const at = order.findIndex((kernel) => kernel.place === this.state.kernel);
    const next = order[Math.max(0, Math.min(order.length - 1, at + by))];
    if (next)
      this.change({ kernel: next.place }, true);
  }

  /** @param {boolean} isJump */
  writeAddress(isJump) {
    const address = `#${writeKernelState(this.state, this.first)}`;
    if (isJump && location.hash !== address)
      history.pushState(null, "", address);
    else
      history.replaceState(null, "", address);
  }

  /** @param {Partial<KernelState>} what @param {boolean} isJump the back button undoes it */
  change(what, isJump) {
    const before = this.state;
    this.state = { ...this.state, ...what };
    this.writeAddress(isJump);
    if (what.filter !== undefined || what.sort !== undefined || what.order !== undefined)
      this.lists?.showNow();
    else if (what.by !== undefined || what.group !== undefined)
      this.busily(() => this.showLists(this.version));
    else if (what.choices)
      this.showDetails();
    else if (what.raw === undefined)
      this.apply(before.report !== this.state.report || String(before.baseline) !== String(this.state.baseline));
  }

  /** From the timeline to a kernel, by the number it has in the report. @param {number} report @param {number} id */
  async goTo(report, id) {
    await this.app.showView("kernels");
    if (this.state.report !== report) {
      this.state = { ...this.state, report, kernel: 0 };
      await this.apply(true);
    }
    const found = this.list?.kernels.find((kernel) => kernel.id === id);
    if (found)
      this.change({ kernel: found.place, tab: "details" }, true);
  }

  /** What an address says. */
  restore() {
    this.state = readKernelState(location.hash, this.first);
    return this.apply(true);
  }

  /** Asks for what is to be shown; what was asked for later goes first. @param {boolean} withList */
  async apply(withList) {
    const version = ++this.version;
    this.busy++;
    try {
      const { baseline } = this.state;
      if (!this.reports.includes(this.state.report))
        this.state.report = this.first.report;
      if (baseline && !(this.facts[baseline[0]]?.kernels > baseline[1]))
        this.state.baseline = null;
      if (withList) {
        const list = await this.app.attempt(() => json("/api/kernels", { ...this.where(), kernel: undefined }));
        if (!list || version !== this.version)
          return;
        this.list = list;
      }
      if (!this.list || !(this.state.kernel >= 0 && this.state.kernel < this.list.total))
        this.state.kernel = this.list?.kernels[0]?.place ?? 0;
      this.showHead();
      await this.showLists(version);
      await this.showKernel(version);
    } finally {
      this.busy--;
    }
  }

  /** @param {() => Promise<void>} work */
  async busily(work) {
    this.busy++;
    try {
      await work();
    } finally {
      this.busy--;
    }
  }

  /** @param {number} version */
  async showLists(version) {
    await this.lists?.show(() => version === this.version);
  }

  where() {
    const { report, kernel, baseline } = this.state;
    return { report, kernel, baseline: baseline?.[0], against: baseline && baseline[1] >= 0 ? baseline[1] : undefined };
  }

  /** @param {number} version */
  async showKernel(version) {
    const kernel = await this.app.attempt(() => json("/api/kernel", this.where()));
    if (!kernel || version !== this.version)
      return;
    this.kernel = kernel;
    for (const [name] of TABS)
      element(`kernel-${name}`).hidden = name !== this.state.tab;
    this.showTitle();
    this.showTabs();
    await this.showTab(version);
  }

  /** @param {number} version */
  async showTab(version) {
    const { tab } = this.state;
    if (tab === "details") {
      this.showDetails();
    } else if (tab === "raw" && this.raw) {
      this.raw.filter = this.state.raw;
      const answer = await this.app.attempt(() => json("/api/values", this.where()));
      if (answer && version === this.version)
        this.raw.show(answer.values);
    } else if (tab === "variation") {
      const answer = await this.app.attempt(() => json("/api/variation", { ...this.where(), metric: this.state.metric || undefined }));
      if (answer && version === this.version)
        this.variation?.show(answer, this.state.kernel);
    } else if (tab === "source") {
      await this.source?.show(/** @type {Kernel} */ (this.kernel), this.where());
    } else {
      await new SessionPanel(this.app, element("kernel-session")).show();
    }
  }

  showHead() {
    const list = /** @type {List} */ (this.list);
    element("kernel-gpus").textContent = list.gpus.map(gpuText).join("  |  ");
    const select = element("kernel-report");
    select.hidden = this.reports.length < 2;
    const option = (/** @type {number} */ number) => optionHtml(number, reportName(this.facts, number), number === this.state.report);
    select.innerHTML = this.reports.map(option).join("");
    /** @type {HTMLInputElement} */ (element("kernel-filter")).value = this.state.filter;
  }

  showTitle() {
    element("kernel-title").innerHTML = titleHtml(/** @type {Kernel} */ (this.kernel));
    this.showBaselines();
  }

  /** What kernels can be compared with, by the value of its option. */
  baselineOptions() {
    const { baseline, report } = this.state;
    const sameOf = (/** @type {number} */ i) => `same kernels of ${reportName(this.facts, i)}`;
    const isOther = (/** @type {any} */ facts, /** @type {number} */ i) => facts.kernels > 0 && (i !== report || facts.baseline);
    const options = this.facts.flatMap((facts, i) => (isOther(facts, i) ? [[`${i}.-1`, sameOf(i)]] : []));
    const key = baseline ? baseline.join(".") : "";
    if (baseline && !options.some(([value]) => value === key))
      options.push([key, baseline[1] < 0 ? sameOf(baseline[0]) : `kernel ${baseline[1]} of ${reportName(this.facts, baseline[0])}`]);
    return [["", "none"], ...options];
  }

  showBaselines() {
    const { baseline, report, kernel } = this.state;
    const key = baseline ? baseline.join(".") : "";
    const options = this.baselineOptions().map(([value, text]) => optionHtml(value, text, value === key));
    element("kernel-baseline").innerHTML = options.join("");
    element("kernel-pin").setAttribute("aria-pressed", String(Boolean(baseline && baseline[0] === report && baseline[1] === kernel)));
    const isAlone = baseline && this.kernel?.matches === 0;
    element("kernel-unmatched").textContent = isAlone ? "This kernel is not in the baseline." : "";
  }

  showTabs() {
    const tabHtml = (/** @type {string} */ name, /** @type {string} */ title) =>
      `<button role="tab" data-tab="${name}" aria-selected="${name === this.state.tab}">${title}</button>`;
    element("kernel-tabs").innerHTML = TABS.map(([name, title]) => tabHtml(name, title)).join("");
  }

  /** Words that stand in the page itself. */
  fillWords() {
    const oneLine = (/** @type {string} */ text) => text.trim().replace(/\s*\n\s*/g, " ");
    for (const place of /** @type {NodeListOf<HTMLElement>} */ (this.details?.querySelectorAll("[data-words]")))
      this.explainer?.ask(place.dataset.words || "").then((answer) => { place.textContent = answer.known ? oneLine(answer.text) : ""; });
  }

  showDetails() {
    const kernel = /** @type {Kernel} */ (this.kernel);
    if (!this.details || this.state.tab !== "details")
      return;
    const scroll = this.details.scrollTop;
    const shown = { kernel, sections: new Map(kernel.sections.map((section) => [section.id, section])), choices: this.state.choices };
    const all = cardsOf(kernel);
    const error = kernel.error ? errorHtml(kernel.error) : "";
    const empty = all.shown.length || error ? "" : NO_CARDS;
    const cards = otherRulesHtml(kernel, all.shown) + all.shown.map((card) => cardHtml(card, shown)).join("");
    this.details.innerHTML = `${navHtml(all)}<div class="cards">${error}${empty}${cards}${missingHtml(kernel, all.missing)}</div>`;
    this.details.scrollTop = scroll;
    this.fillWords();
  }
}

// The panels below the timeline.
import { DiagnosticsPanel } from "./panels/diagnostics.js";
import { EventsPanel } from "./panels/events.js";
import { FindingsPanel } from "./panels/findings.js";
import { FlamePanel } from "./panels/flame.js";
import { SessionPanel } from "./panels/session.js";
import { StatisticsPanel } from "./panels/statistics.js";

/** @typedef {import("./main.js").App} App */
/** @typedef {{ show: () => void | Promise<void>, spanChosen?: () => void, rowChosen?: () => void }} Panel */

export class Bottom {
  /** @param {App} app */
  constructor(app) {
    this.app = app;
    this.tabs = /** @type {HTMLElement} */ (document.getElementById("tabs"));
    this.place = /** @type {HTMLElement} */ (document.getElementById("panel"));
    /** @type {Record<string, [string, Panel]>} */
    this.panels = {
      events: ["Events", new EventsPanel(app, this.place)],
      statistics: ["Statistics", new StatisticsPanel(app, this.place)],
      flame: ["Flame graph", new FlamePanel(app, this.place, "/api/flame")],
      tree: ["GPU time", new FlamePanel(app, this.place, "/api/tree")],
      findings: ["Findings", new FindingsPanel(app, this.place)],
      diagnostics: ["Diagnostics", new DiagnosticsPanel(app, this.place)],
      session: ["Session", new SessionPanel(app, this.place)],
    };
    this.current = "";
    const tabHtml = (/** @type {string} */ key, /** @type {string} */ title) => `<button role="tab" data-tab="${key}">${title}</button>`;
    this.tabs.innerHTML = Object.entries(this.panels).map(([key, [title]]) => tabHtml(key, title)).join("");
    this.tabs.addEventListener("click", (event) => {
      const key = /** @type {HTMLElement} */ (event.target).dataset.tab;
      if (key)
        this.open(key);
    });
    this.tabs.addEventListener("keydown", (event) => this.step(event));
  }

  /** @param {KeyboardEvent} event */
  step(event) {
    const keys = Object.keys(this.panels);
    const by = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    if (!by)
      return;
    this.open(keys[(keys.indexOf(this.current) + by + keys.length) % keys.length]);
    /** @type {HTMLElement} */ (this.tabs.querySelector("[aria-selected=true]")).focus();
  }

  /** @param {string} key */
  open(key) {
    if (!Object.hasOwn(this.panels, key))
      key = "events";
    this.current = key;
    for (const tab of this.tabs.querySelectorAll("button")) {
      tab.setAttribute("aria-selected", String(tab.dataset.tab === key));
      tab.tabIndex = tab.dataset.tab === key ? 0 : -1;
    }
    this.place.replaceChildren();
    this.place.onclick = null;
    this.place.setAttribute("aria-label", this.panels[key][0]);
    this.panels[key][1].show();
    this.app.address?.change();
  }

  spanChosen() {
    this.panels[this.current]?.[1].spanChosen?.();
  }

  rowChosen() {
    this.panels[this.current]?.[1].rowChosen?.();
  }
}

// A recording that is still being made: what it has grown by is shown while it grows.
import { json } from "./api.js";

/** @typedef {import("./main.js").App} App */

const EVERY = 1500;
const ROWS_EVERY = 700;

export class Live {
  /** @param {App} app */
  constructor(app) {
    this.app = app;
    this.timer = 0;
    this.mark = /** @type {HTMLElement} */ (document.getElementById("live"));
  }

  /** More rows are being made by the server: they appear when they are there. @param {import("./main.js").Loaded} loaded */
  async await(loaded) {
    for (let pending = true; pending;) {
      await new Promise((resolve) => { window.setTimeout(resolve, ROWS_EVERY); });
      const answer = await json("/api/rows", { report: loaded.number }).catch(() => null);
      pending = Boolean(answer?.pending);
      if (answer && !pending) {
        this.app.rows.renew(loaded.number, answer.rows);
        this.app.timeline.redraw();
      }
    }
  }

  start() {
    const growing = this.app.loaded.filter((report) => report.facts.partial);
    this.mark.hidden = !growing.length;
    if (growing.length)
      this.timer = window.setTimeout(() => this.look(), EVERY);
  }

  async look() {
    const answer = document.hidden ? null : await json("/api/reports").catch(() => null);
    for (const loaded of answer ? this.app.loaded : []) {
      const facts = answer.reports[loaded.number];
      if (facts && (facts.events !== loaded.facts.events || facts.length !== loaded.facts.length || facts.partial !== loaded.facts.partial))
        await this.grow(loaded, facts);
    }
    this.start();
  }

  /** @param {import("./main.js").Loaded} loaded @param {any} facts */
  async grow(loaded, facts) {
    const rows = await json("/api/rows", { report: loaded.number }).catch(() => null);
    if (!rows)
      return;
    const { app } = this;
    const before = loaded.length;
    loaded.facts = facts;
    loaded.length = facts.length;
    loaded.first = facts.first ?? 0;
    const fresh = app.rows.shown.length === 0;
    app.rows.renew(loaded.number, rows.rows);
    if (fresh)
      app.rows.openAsFits(1.3 * app.timeline.height);
    /* Events may have come late: what lies shortly before the old end is asked for again as well. */
    loaded.tiles.outdate(before - 2e9);
    app.findEnds();
    app.showHead();
    app.overview.repaint();
    app.timeline.redraw();
  }
}

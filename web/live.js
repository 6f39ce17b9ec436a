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
    /** Reports whose rows are not all made yet. */
    this.waiting = 0;
    this.mark = /** @type {HTMLElement} */ (document.getElementById("live"));
  }

  /** The rows when the server has made all of them. @param {import("./main.js").Loaded} loaded @returns {Promise<any>} */
  async whole(loaded) {
    for (;;) {
      const answer = await json("/api/rows", { report: loaded.number }).catch(() => null);
      if (!answer?.pending)
        return answer;
      await new Promise((resolve) => { window.setTimeout(resolve, ROWS_EVERY); });
    }
  }

  /** More rows are being made by the server: they appear when they are there. @param {import("./main.js").Loaded} loaded */
  async await(loaded) {
    this.waiting++;
    const answer = await this.whole(loaded);
    if (answer)
      this.take(loaded, answer.rows);
    this.waiting--;
  }

  /** Other rows than before; what was chosen stays so. @param {import("./main.js").Loaded} loaded @param {any[]} list */
  take(loaded, list) {
    const { app } = this;
    const lanes = new Map([...app.rows.byKey.values()].filter((row) => row.report === loaded.number).map((row) => [row.id, row.lanes]));
    const numbers = app.rows.renew(loaded.number, list);
    const lanesOf = (/** @type {number} */ row) => app.rows.find(loaded.number, row)?.lanes;
    if ([...numbers].some(([before, now]) => before >= 0 && (before !== now || lanes.get(before) !== lanesOf(now))))
      loaded.tiles.clear();
    const { picked } = app.view;
    if (picked?.report === loaded.number)
      app.view.picked = { ...picked, row: numbers.get(picked.row) ?? picked.row };
    if (app.row?.report === loaded.number)
      app.row = app.rows.find(loaded.number, numbers.get(app.row.id) ?? -1) || null;
    app.timeline.redraw();
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
    const rows = await this.whole(loaded);
    if (!rows)
      return;
    const { app } = this;
    const before = loaded.length;
    loaded.facts = facts;
    loaded.length = facts.length;
    loaded.first = facts.first ?? 0;
    const fresh = app.rows.shown.length === 0;
    this.take(loaded, rows.rows);
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

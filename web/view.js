// What is looked at: the span of time, the selection, and how one came there.

const SHORTEST = 20;

/** Listens and tells. */
export class View {
  /** @param {number} from @param {number} to */
  constructor(from, to) {
    /** The whole. */
    this.first = from;
    this.last = to;
    this.from = from;
    this.to = to;
    /** @type {[number, number] | null} a measured span */
    this.span = null;
    /** @type {import("./main.js").Picked | null} the event that was clicked */
    this.picked = null;
    /** @type {Array<() => void>} */
    this.listeners = [];
    this.restoring = false;
    this.timer = 0;
  }

  /** @param {() => void} listener */
  listen(listener) {
    this.listeners.push(listener);
  }

  tell() {
    for (const listener of this.listeners)
      listener();
    this.remember(false);
  }

  /** Shows a span, kept within what there is and wide enough to be drawn.
   * @param {number} from @param {number} to @param {boolean} [jump] one that the back button undoes */
  show(from, to, jump = false) {
    const whole = this.last - this.first;
    const margin = whole * 0.02;
    let length = Math.min(Math.max(to - from, SHORTEST), whole + 2 * margin);
    let begin = (from + to) / 2 - length / 2;
    begin = Math.max(this.first - margin, Math.min(begin, this.last + margin - length));
    if (jump)
      this.remember(true);
    this.from = begin;
    this.to = begin + length;
    this.tell();
  }

  /** @param {number} factor above 1 shows more @param {number} around */
  zoom(factor, around) {
    this.show(around - (around - this.from) * factor, around + (this.to - around) * factor);
  }

  /** @param {number} ns */
  pan(ns) {
    this.show(this.from + ns, this.to + ns);
  }

  /** @param {[number, number] | null} span */
  select(span) {
    this.span = span && (span[0] <= span[1] ? span : [span[1], span[0]]);
    this.tell();
  }

  /** @param {import("./main.js").Picked | null} picked */
  pick(picked) {
    this.picked = picked;
    this.tell();
  }

  /** The address says what is looked at, so that it can be sent to somebody.
   * @param {boolean} push */
  remember(push) {
    if (this.restoring)
      return;
    const write = () => {
      this.timer = 0;
      const address = `#${this.address()}`;
      if (push)
        history.pushState(null, "", address);
      else if (location.hash !== address)
        history.replaceState(null, "", address);
    };
    window.clearTimeout(this.timer);
    if (push)
      write();
    else
      this.timer = window.setTimeout(write, 200);
  }

  address() {
    const parts = [`from=${Math.round(this.from)}`, `to=${Math.round(this.to)}`];
    if (this.span)
      parts.push(`span=${Math.round(this.span[0])}-${Math.round(this.span[1])}`);
    if (this.picked)
      parts.push(`event=${this.picked.report}.${this.picked.row}.${this.picked.lane}.${this.picked.index}`);
    return parts.join("&");
  }

  /** @param {string} hash */
  restore(hash) {
    const values = new URLSearchParams(hash.replace(/^#/, ""));
    const from = Number(values.get("from") ?? NaN);
    const to = Number(values.get("to") ?? NaN);
    const span = (values.get("span") || "").split("-").map(Number);
    const event = (values.get("event") || "").split(".").map(Number);
    this.restoring = true;
    this.span = span.length === 2 && span.every(Number.isFinite) ? [span[0], span[1]] : null;
    this.picked = event.length === 4 && event.every(Number.isInteger) ?
      { report: event[0], row: event[1], lane: event[2], index: event[3] } : null;
    if (Number.isFinite(from) && Number.isFinite(to) && to > from)
      this.show(from, to);
    else
      this.show(this.first, this.last);
    this.restoring = false;
  }
}

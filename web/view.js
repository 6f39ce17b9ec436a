// What is looked at: the span of time, the selection, the event that was picked.

const SHORTEST = 20;
/** Beyond the ends one may look by so much of the window. */
const MARGIN = 0.02;

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
    /** @type {Array<() => void>} told before a jump */
    this.jumps = [];
  }

  /** @param {() => void} listener */
  listen(listener) {
    this.listeners.push(listener);
  }

  tell() {
    for (const listener of this.listeners)
      listener();
  }

  /** Shows a span, kept within what there is and wide enough to be drawn.
   * @param {number} from @param {number} to @param {boolean} [jump] one that the back button undoes */
  show(from, to, jump = false) {
    const whole = this.last - this.first;
    const length = Math.min(Math.max(to - from, SHORTEST), whole * (1 + 2 * MARGIN));
    const margin = length * MARGIN;
    const begin = Math.max(this.first - margin, Math.min((from + to) / 2 - length / 2, this.last + margin - length));
    if (jump)
      for (const before of this.jumps)
        before();
    this.from = begin;
    this.to = begin + length;
    this.tell();
  }

  /** @param {number} factor above 1 shows more @param {number} around */
  zoom(factor, around) {
    const length = Math.min(Math.max((this.to - this.from) * factor, SHORTEST), (this.last - this.first) * (1 + 2 * MARGIN));
    const real = length / (this.to - this.from);
    this.show(around - (around - this.from) * real, around + (this.to - around) * real);
  }

  /** @param {number} ns */
  pan(ns) {
    this.show(this.from + ns, this.to + ns);
  }

  /** Other ends of the whole; the window stays, or follows the end where it was there. @param {number} first @param {number} last */
  stretch(first, last) {
    const atEnd = this.to >= this.last;
    const whole = atEnd && this.from <= this.first;
    const length = this.to - this.from;
    this.first = first;
    this.last = last;
    if (whole)
      this.show(first, last);
    else if (atEnd)
      this.show(last - length, last);
    else
      this.tell();
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
}

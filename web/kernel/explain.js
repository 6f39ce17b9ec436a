// What a metric, a unit, a pipe or a stall is: the words of `sonde kernel --explain` (data-explain), where the pointer rests or the focus
// is; above them what a picture says there (data-said).
import { json } from "../api.js";
import { escape, originOf } from "./parts.js";

const DELAY = 350;

/** The words are those of one counter: of a formula they say a part. @param {string} name @param {string} first what is said before */
function computedText(name, first) {
  return first ? "Computed, of this and other counters:" : `${name}: computed, of this and other counters:`;
}

/** @param {string} text @param {string} kind of its first line @param {string} origin */
function wordsHtml(text, kind, origin) {
  const [title, ...rest] = text.trimEnd().split("\n");
  const head = title ? `<div class="${kind}">${escape(title)}</div>` : "";
  const lines = rest.map((line) => `<div>${escape(line.trim())}</div>`).join("");
  return `${head}${lines}${origin ? `<div class="faint">A value ${escape(origin)}.</div>` : ""}`;
}

export class Explainer {
  /** @param {HTMLElement} place whose parts are explained @param {HTMLElement} box where it is said */
  constructor(place, box) {
    this.box = box;
    this.timer = 0;
    /** @type {[number, number] | null} where the pointer is; null: outside, or the keyboard is used */
    this.pointer = null;
    /** @type {[number, number]} where it was last */
    this.last = [-1, -1];
    /** @type {Map<string, Promise<{ text: string, known: boolean }>>} */
    this.known = new Map();
    place.addEventListener("pointerover", (event) => this.over(event));
    place.addEventListener("focusin", (event) => this.focus(/** @type {HTMLElement} */ (event.target)));
    place.addEventListener("keydown", (event) => this.key(event));
    place.addEventListener("pointermove", (event) => {
      if (this.isMoved(event))
        this.pointer = this.last = [event.clientX, event.clientY];
    });
    place.addEventListener("pointerleave", () => {
      this.pointer = null;
      this.hide();
    });
    place.addEventListener("scroll", () => this.scrolled(), true);
  }

  /** Browsers tell of a pointer also where the page moved below it: with the keyboard that is nothing. @param {PointerEvent} event */
  isMoved(event) {
    return this.pointer !== null || event.clientX !== this.last[0] || event.clientY !== this.last[1];
  }

  /** @param {PointerEvent} event */
  over(event) {
    if (!this.isMoved(event))
      return;
    const target = /** @type {HTMLElement | null} */ (/** @type {HTMLElement} */ (event.target).closest("[data-explain]"));
    window.clearTimeout(this.timer);
    this.timer = 0;
    if (!target) {
      this.hide();
      return;
    }
    this.timer = window.setTimeout(() => this.show(target, event.clientX, event.clientY), DELAY);
  }

  /** Something else lies below the pointer, which has not moved; what has the focus is elsewhere. */
  scrolled() {
    this.hide();
    const { pointer } = this;
    const focused = /** @type {HTMLElement | null} */ (document.activeElement);
    if (!pointer && focused?.dataset.explain !== undefined)
      this.focus(focused);
    else if (pointer)
      this.timer = window.setTimeout(() => {
        const target = /** @type {HTMLElement | null | undefined} */ (document.elementFromPoint(...pointer)?.closest("[data-explain]"));
        if (target)
          this.show(target, ...pointer);
      }, DELAY);
  }

  /** By the keyboard the same. @param {HTMLElement} target */
  focus(target) {
    if (!target.matches(":focus-visible"))
      return;
    if (target.dataset.explain === undefined) {
      this.hide();
      return;
    }
    this.pointer = null;
    const box = target.getBoundingClientRect();
    window.clearTimeout(this.timer);
    this.timer = window.setTimeout(() => this.show(target, box.left, box.bottom), DELAY);
  }

  /** From one thing of a card to the next; charts that read their samples so are left by Tab. @param {KeyboardEvent} event */
  key(event) {
    const target = /** @type {HTMLElement} */ (event.target);
    const card = target.closest(".card");
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (event.key === "Escape" && card && target !== card)
      /** @type {HTMLElement} */ (card).focus({ preventScroll: true });
    if (!by || event.defaultPrevented || !card || (target !== card && target.dataset.explain === undefined))
      return;
    const all = /** @type {HTMLElement[]} */ ([...card.querySelectorAll("[data-explain]")].filter((one) => one.getClientRects().length));
    const next = all[target === card ? (by > 0 ? 0 : all.length - 1) : all.indexOf(target) + by];
    if (!next)
      return;
    if (next.tabIndex < 0)
      next.setAttribute("tabindex", "-1");
    next.focus();
    event.preventDefault();
  }

  /** @param {string} name */
  ask(name) {
    const asked = this.known.get(name) || json("/api/explain", { name }).catch(() => ({ text: "", known: false }));
    this.known.set(name, asked);
    return asked;
  }

  /** @param {HTMLElement} target @param {number} x @param {number} y */
  async show(target, x, y) {
    const { explain: name = "", said: first = "", computed } = target.dataset;
    const timer = this.timer;
    const answer = name ? await this.ask(name) : { text: "", known: false };
    const said = [first, computed && answer.known ? computedText(computed, first) : ""].filter(Boolean);
    if (this.timer !== timer || (!answer.known && !said.length))
      return;
    const origin = computed ? "computed from counters" : originOf(target.dataset.metric || name);
    this.box.innerHTML = said.map((line) => `<div class="strong said">${escape(line)}</div>`).join("") +
      (answer.known ? wordsHtml(answer.text, said.length ? "" : "strong", origin) : "");
    this.box.hidden = false;
    const { width, height } = this.box.getBoundingClientRect();
    this.box.style.left = `${Math.max(4, Math.min(x + 14, window.innerWidth - width - 8))}px`;
    this.box.style.top = `${y + 18 + height > window.innerHeight ? Math.max(4, y - height - 12) : y + 18}px`;
  }

  hide() {
    window.clearTimeout(this.timer);
    this.timer = 0;
    this.box.hidden = true;
  }
}

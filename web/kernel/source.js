// Instructions and source lines with what was counted and sampled of each.
import { absent } from "./parts.js";

/** @typedef {import("./types.js").Kernel} Kernel */

export class SourcePage {
  /** @param {HTMLElement} place */
  constructor(place) {
    this.place = place;
  }

  /** @param {Kernel} _kernel @param {Record<string, number | undefined>} _where */
  async show(_kernel, _where) {
    this.place.innerHTML = absent("Instructions and source lines are not in this report.", ["SourceCounters"]);
  }
}

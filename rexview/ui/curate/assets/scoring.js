// The person's scores of the candidate in focus: criterion after criterion, the risk, or none of it.

import { tr } from "../../web/components/words.js";
import { latestOf, rated, sumOf } from "./values.js";

/** @import { Candidate, Rate } from "./types.d.ts" */
/** @import { Desk } from "./desk.js" */

export class Scoring {
  constructor(/** @type {Desk} */ desk) {
    this.desk = desk;
    this.criterion = null; // the one in focus
  }

  get #names() {
    return Object.keys(this.desk.data.words.criteria);
  }

  /** @returns {Rate | null} */
  get #rate() {
    const { candidate } = this.desk;
    return latestOf(candidate, "rate", this.desk.rowsOf(candidate));
  }

  /** Another candidate. */
  begin() {
    [this.criterion] = this.#names;
  }

  #change(changes) {
    const value = rated(this.#names, this.#rate, changes);
    const isEmpty = [...this.#names, "risk", "comment"].every((name) => value[name] === null);
    this.desk.give("rate", isEmpty ? null : value);
  }

  /** Withdraw scores with the model's visible; new ones are marked as given after seeing them. */
  marked(/** @type {Rate | null} */ rate, /** @type {Candidate} */ candidate) {
    const isSeen = this.desk.cards.get(candidate.id)?.candidate.model;
    const isWhole = sumOf(this.#names, rate) !== null;
    return isSeen && !isWhole ? rated(this.#names, rate, { after_model: true }) : rate;
  }

  score(name, level) {
    const { candidate } = this.desk;
    if (!candidate) return;
    // scores given with the model's visible do not measure agreement, and are left out of it
    this.#change(candidate.model ? { [name]: level, after_model: true } : { [name]: level });
    const next = this.#names[this.#names.indexOf(name) + 1];
    this.to(level !== null && next ? next : name);
  }

  skip() {
    const { candidate } = this.desk;
    if (candidate?.hidden && !this.#rate)
      this.desk.give("rate", rated(this.#names, null, {})); // nothing in it
    else if (candidate?.hidden) this.desk.say(tr("Score all four, or take yours back first"));
  }

  toggleRisk() {
    if (!this.desk.candidate) return;
    this.#change({ risk: this.#rate?.risk === true ? null : true });
  }

  /** Go to a criterion. */
  to(name) {
    this.criterion = name;
    if (this.desk.card) this.desk.card.drawn = null;
    this.desk.refresh();
  }

  beside(by) {
    const place = this.#names.indexOf(this.criterion) + by;
    this.to(this.#names[Math.min(Math.max(place, 0), this.#names.length - 1)]);
  }
}

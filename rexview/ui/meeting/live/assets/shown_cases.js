// The revealed parts of cases, fetched once for each step.

/** @import { Shown } from "./types.d.ts" */

const MOST_KEPT = 50;

export class ShownCases {
  /** @param {(id: string) => Promise<Shown>} get */
  constructor(get) {
    this.get = get;
    /** @type {Map<string, Promise<Shown>>} */
    this.held = new Map();
  }

  /** Forget all: links to images expire. */
  clear() {
    this.held.clear();
  }

  /** @returns {Promise<Shown>} a case of which this step is known to be revealed */
  fetch(/** @type {string} */ id, /** @type {number} */ step) {
    const key = `${id}\n${step}`;
    const held = this.held.get(key);
    if (held) return held;
    const fetching = this.get(id);
    this.held.set(key, fetching);
    fetching.catch(() => this.held.delete(key));
    if (this.held.size > MOST_KEPT) this.held.delete(this.held.keys().next().value ?? "");
    return fetching;
  }
}

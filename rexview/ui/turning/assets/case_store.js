// The cases around the shown one, as the page would show them: fetched some at a time, nearest
// first. They
// are dropped when they are far away, or when the page reports that their content has changed.

/** @import { CaseRecord, Step, TurningData } from "./types.d.ts" */

const LEAST_AHEAD = 16; // with fewer in the reader's direction: fetch more
const LEAST_BEHIND = 4;
const MOST_KEPT = 64; // cases; one is a few tens of kilobytes
const AGAIN_MS = 3000; // after a failure

export class CaseStore {
  constructor(/** @type {() => void} */ arrived) {
    this.arrived = arrived;
    /** @type {Map<string, CaseRecord>} */
    this.cases = new Map(); // the longest unused first
    this.address = null;
    this.version = null;
    /** @type {Map<string, Promise<boolean>>} */
    this.pending = new Map();
    this.failedAt = -Infinity;
    this.around = null;
    this.abort = new AbortController();
  }

  configure(/** @type {TurningData} */ { address, version }) {
    // with another address the links to images may have expired, too
    if (version !== this.version || address !== this.address) this.clear();
    this.address = address;
    this.version = version;
  }

  clear() {
    this.abort.abort(); // requests under way are outdated
    this.abort = new AbortController();
    this.cases.clear();
    this.pending.clear();
    this.failedAt = -Infinity;
    this.address = null;
    this.version = null;
  }

  /** @returns {CaseRecord | undefined} */
  get(caseId) {
    return this.cases.get(caseId);
  }

  /** Merge new data of a case into the known data. */
  add(/** @type {CaseRecord} */ one) {
    const before = this.cases.get(one.case);
    this.cases.delete(one.case);
    this.cases.set(one.case, { ...before, ...one });
    for (const oldest of this.cases.keys()) {
      if (this.cases.size <= MOST_KEPT) break;
      this.cases.delete(oldest);
    }
  }

  /** Whether all of the page's data of a case are here. */
  #isWhole(caseId) {
    const one = this.cases.get(caseId);
    return Boolean(one && (one.texts || one.pad));
  }

  /**
   * Loaded cases from one on (itself left out), nearest first.
   *
   * @returns {CaseRecord[]}
   */
  from(caseId, /** @type {Step} */ by, most = MOST_KEPT) {
    const found = [];
    const side = by > 0 ? "next" : "previous";
    let at = this.cases.get(caseId)?.viewer?.neighbours[side];
    while (at && found.length < most && this.cases.get(at)?.viewer) {
      found.push(this.cases.get(at));
      at = this.cases.get(at).viewer.neighbours[side];
    }
    return found;
  }

  /** Load enough cases around one: those that are likely to be needed first. */
  async fill(caseId, /** @type {Step} */ by) {
    this.around = caseId; // the reader's position
    const back = /** @type {Step} */ (-by);
    while (this.around === caseId && performance.now() - this.failedAt > AGAIN_MS) {
      const side = this.#lacks(caseId, by, LEAST_AHEAD) ? by : back;
      if (side === back && !this.#lacks(caseId, back, LEAST_BEHIND)) return;
      const last = this.#lastWhole(caseId, side);
      await this.fetch(last, side);
      if (this.#lastWhole(caseId, side) === last) return; // nothing came that goes on from there
    }
  }

  #whole(caseId, by) {
    const found = this.from(caseId, by);
    const end = found.findIndex((one) => !this.#isWhole(one.case));
    return end < 0 ? found : found.slice(0, end);
  }

  #lastWhole(caseId, by) {
    return this.#whole(caseId, by).at(-1)?.case ?? caseId;
  }

  #lacks(caseId, by, least) {
    const last = this.#lastWhole(caseId, by);
    const isEnd = this.cases.get(last)?.viewer?.neighbours[by > 0 ? "next" : "previous"] === null;
    return !isEnd && this.#whole(caseId, by).length < least;
  }

  /** Fetch the cases after or before one; return whether any came. Callers share one request. */
  fetch(caseId, /** @type {Step} */ by) {
    if (!this.address) return Promise.resolve(false);
    const key = `${by} ${caseId}`;
    if (!this.pending.has(key)) {
      const request = this.#fetch(caseId, by, this.abort.signal);
      this.pending.set(key, request);
      request.finally(() => this.pending.delete(key));
    }
    return this.pending.get(key);
  }

  async #fetch(caseId, by, signal) {
    const query = new URLSearchParams({ beside: caseId, direction: by > 0 ? "next" : "previous" });
    let cases;
    try {
      const answer = await fetch(new URL(`${this.address}?${query}`, document.baseURI), { signal });
      if (!answer.ok) throw new Error(`The server answered ${answer.status}.`);
      ({ cases } = await answer.json());
    } catch {
      if (!signal.aborted) this.failedAt = performance.now();
      return false; // the page sends the case, as it does without prefetching
    }
    if (signal.aborted) return false;
    for (const one of cases) this.add(one);
    this.arrived();
    return cases.length > 0;
  }
}

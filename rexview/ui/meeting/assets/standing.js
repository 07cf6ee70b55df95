// The current values of a meeting's cases (agenda, own notes): the page's values, overlaid by the
// ones
// that were entered here since and that the page does not know yet.

import { outbox } from "../../web/saving/assets/outbox.js";

export const MEETING_PAGE = "meeting page"; // as in ui/web/saving/entries.py

/** @typedef {Record<string, any> | null} Value */

export class Standing {
  /** @param {"agenda" | "presenter_note"} kind */
  constructor(kind) {
    this.kind = kind;
    this.meeting = null;
    /** @type {Record<string, Value>} */
    this.said = {};
    this.revision = 0;
    /** @type {Map<string, { value: Value, token: string, revision: number | null }>} */
    this.own = new Map();
    /** @type {string | null} */
    this.problem = null;
  }

  /**
   * Set the page's values of a meeting, as of a revision of the reviews.
   *
   * @param {string | null} meeting
   * @param {Record<string, Value>} said by case
   */
  update(meeting, said, /** @type {number} */ revision) {
    if (meeting !== this.meeting) this.own.clear();
    Object.assign(this, { meeting, said, revision });
    for (const [name, { revision: saved }] of this.own) {
      if (saved !== null && saved <= revision) this.own.delete(name);
    }
  }

  /** The value of a case; null if there is none. */
  value(/** @type {string} */ name) {
    const own = this.own.get(name);
    if (own) return own.value;
    const waiting = this.#waiting().findLast((one) => one.case === name);
    return waiting ? waiting.value : (this.said[name] ?? null);
  }

  /** Every case that has a value, with it; unordered. */
  all() {
    const given = [...this.own.keys(), ...this.#waiting().map((one) => one.case)];
    const names = new Set([...Object.keys(this.said), ...given]);
    return [...names]
      .map((name) => /** @type {[string, Value]} */ ([name, this.value(name)]))
      .filter(([, value]) => value !== null);
  }

  /** Whether a case's entry is in the database. */
  isSaved(/** @type {string} */ name) {
    return !this.#waiting().some((one) => one.case === name);
  }

  /** Set a value; null removes it. */
  put(/** @type {string} */ name, /** @type {Value} */ value) {
    const was = this.value(name);
    if (JSON.stringify(was) === JSON.stringify(value)) return;
    this.putAway(name);
    this.problem = null;
    const seen = Math.max(this.revision, this.own.get(name)?.revision ?? 0);
    const about = { page: MEETING_PAGE, kind: this.kind, subject: this.meeting, case: name };
    // it is drawn with the stored value, so it is set before the outbox reports its entry
    const own = { value, token: "", revision: null };
    this.own.set(name, own);
    own.token = outbox.add({ ...about, value, was, seen }).token;
  }

  /** The server has replied to a batch. */
  heard(reply, batch) {
    for (const { token, case: name } of batch) {
      const own = this.own.get(name);
      if (own?.token !== token) continue;
      if (reply.saved.includes(token)) own.revision = reply.revision ?? null;
      else {
        this.own.delete(name);
        this.problem = reply.reasons[token] ?? null;
      }
    }
  }

  /** Refused entries: [key, entry with its reason]. */
  returned() {
    return outbox.returned.all(outbox.owner).filter(([, one]) => this.#isOf(one));
  }

  /** Forget refused entries, of one case or all. */
  putAway(/** @type {string | null} */ name = null) {
    this.problem = null;
    const some = this.returned().filter(([, one]) => name === null || one.case === name);
    if (some.length > 0) outbox.putAway(some.map(([key]) => key));
  }

  #waiting() {
    return outbox.pendingOf(MEETING_PAGE, this.kind).filter((one) => this.#isOf(one));
  }

  #isOf(one) {
    return one.page === MEETING_PAGE && one.kind === this.kind && one.subject === this.meeting;
  }
}

// What this device has voted: kept in this browser until the server has it, and told again to a
// server that was started anew. The server knows it by a cookie that came with the meeting's stream.
//
// The server takes what arrives last. So one vote is on its way at a time, and always the newest.

/** @import { Kept } from "../../../web/saving/assets/kept.js" */
/** @import { Cases, Vote } from "./types.d.ts" */

/** @typedef {Vote & { epoch: string | null }} Given `epoch`: of the server that has it; null: none */

export class Ballots {
  /**
   * @param {Kept} kept
   * @param {string} room
   * @param {(vote: any) => Promise<{ok: boolean, status: number, error?: string, epoch?: string}>} tell
   */
  constructor(kept, room, tell) {
    this.kept = kept;
    this.room = room;
    this.tell = tell;
    this.busy = false;
    /** @type {Promise<unknown>} */
    this.sent = Promise.resolve(); // what is on its way
    /** @type {Map<string, Given>} */
    this.taken = new Map(); // what the server had of a case before a vote that is on its way
  }

  /** @returns {Record<string, Given>} */
  #read() {
    return this.kept.get(this.room, "votes") ?? {};
  }

  /** @returns {Vote | null} */
  of(/** @type {string} */ id) {
    const given = this.#read()[id];
    return given ? { right: given.right, harm: given.harm } : null;
  }

  /**
   * Vote, or vote otherwise. It is kept at once; what is left out stays as it was.
   *
   * @param {string} id
   * @param {Partial<Vote>} vote
   * @param {string | undefined} epoch
   * @returns {Promise<string | null>} why it was not taken; null: it was, or will be sent
   */
  give(id, vote, epoch) {
    const before = this.#read()[id];
    if (before && before.epoch !== null) this.taken.set(id, before);
    const { right, harm } = { right: null, harm: null, ...before, ...vote };
    this.#put(id, { right, harm, epoch: null });
    return this.#inTurn(() => this.#sendNewest(id, epoch ?? null));
  }

  async #sendNewest(/** @type {string} */ id, /** @type {string | null} */ epoch) {
    const given = this.#read()[id];
    if (!given || given.epoch !== null) return null; // it went with the one before
    const said = await this.#send(id, given, false);
    if (said.ok) {
      const taken = { ...given, epoch: said.epoch ?? epoch };
      this.taken.set(id, taken);
      this.#settle(id, given, taken);
    } else if (said.status === 422) this.#put(id, this.taken.get(id) ?? null);
    else return null;
    return said.ok ? null : (said.error ?? "");
  }

  /** Tell a server what it does not know of this device; of a case that was not shown there, later. */
  async send(/** @type {Cases | null} */ cases) {
    if (!cases || this.busy) return;
    this.busy = true;
    const { epoch, reached } = cases;
    try {
      for (const id of Object.keys(this.#read())) {
        if (!reached.some(([, one]) => one === id)) continue;
        await this.#inTurn(async () => {
          const given = this.#read()[id];
          if (!given || given.epoch === epoch) return;
          const said = await this.#send(id, given, given.epoch !== null);
          // 409: its answers were not revealed there yet; it is told again with the next event
          if (said.ok || said.status === 422) this.#settle(id, given, { ...given, epoch });
        });
      }
    } finally {
      this.busy = false;
    }
  }

  /**
   * @template T
   * @param {() => Promise<T>} act
   * @returns {Promise<T>}
   */
  #inTurn(act) {
    const done = this.sent.then(act);
    this.sent = done.catch(() => {});
    return done;
  }

  #send(
    /** @type {string} */ id,
    /** @type {Given} */ { right, harm },
    /** @type {boolean} */ again,
  ) {
    return this.tell({ case: id, right, harm, again });
  }

  /** Note that a server has a vote, unless another was given while it was on its way. */
  #settle(/** @type {string} */ id, /** @type {Given} */ sent, /** @type {Given} */ taken) {
    const now = this.#read()[id];
    if (now?.right === sent.right && now.harm === sent.harm) this.#put(id, taken);
  }

  #put(/** @type {string} */ id, /** @type {Given | null} */ given) {
    const votes = this.#read();
    if (given === null) delete votes[id];
    else votes[id] = given;
    this.kept.put(this.room, "votes", votes);
  }
}

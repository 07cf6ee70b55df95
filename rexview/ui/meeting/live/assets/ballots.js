// The votes of this device: stored in this browser until the server has them, and sent again to a
// server that restarted. The server identifies the device by a cookie from the meeting's stream.
//
// The server keeps the vote that arrives last. So one vote is sent at a time, always the newest.

/** @import { Kept } from "../../../web/saving/assets/kept.js" */
/** @import { Cases, Vote } from "./types.d.ts" */

/** @typedef {Vote & { epoch: string | null }} Given `epoch`: of the server that has it, if any */

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
    this.sent = Promise.resolve(); // the request under way
    /** @type {Map<string, Given>} */
    this.taken = new Map(); // the server's vote on a case before the one that is being sent
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
   * Vote, or change the vote. It is stored at once; omitted parts stay unchanged.
   *
   * @param {string} id
   * @param {Partial<Vote>} vote
   * @param {string | undefined} epoch
   * @returns {Promise<string | null>} why it was refused; null: it was accepted, or will be sent
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
    if (!given || given.epoch !== null) return null; // it was sent with the previous one
    const said = await this.#send(id, given, false);
    if (said.ok) {
      const taken = { ...given, epoch: said.epoch ?? epoch };
      this.taken.set(id, taken);
      this.#settle(id, given, taken);
    } else if (said.status === 422) this.#put(id, this.taken.get(id) ?? null);
    else return null;
    return said.ok ? null : (said.error ?? "");
  }

  /** Send a server the votes it lacks; for a case not yet shown there, later. */
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
          // 409: its answers were not revealed there yet; the next event repeats it
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

  /** Record that a server has a vote, unless another was given meanwhile. */
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

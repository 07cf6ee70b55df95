// What this device has voted: kept in this browser until the server has it, and told again to a
// server that was started anew. The device has a random name, made here; it says nothing of a person.

import { randomName } from "./memory.js";

/** @import { Kept } from "../../../saving/assets/kept.js" */
/** @import { Cases, Vote } from "./types.d.ts" */

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
  }

  #read() {
    return this.kept.get(this.room, "votes") ?? {};
  }

  #device() {
    const name = this.kept.get(this.room, "device")?.name ?? randomName();
    this.kept.put(this.room, "device", { name });
    return name;
  }

  /** @returns {Vote | null} */
  of(/** @type {string} */ id) {
    const given = this.#read()[id];
    return given ? { right: given.right, harm: given.harm } : null;
  }

  /**
   * @param {string} id
   * @param {Vote} vote
   * @param {string | undefined} epoch
   * @returns {Promise<string | null>} why it was not taken; null: it was, or will be sent
   */
  async give(id, { right, harm }, epoch) {
    const before = this.#read()[id] ?? null;
    this.#put(id, { right, harm, epoch: null });
    const said = await this.#send(id, false);
    if (said.ok) this.#put(id, { right, harm, epoch: said.epoch ?? epoch });
    else if (said.status === 422) this.#put(id, before);
    else return null;
    return said.ok ? null : (said.error ?? "");
  }

  /** Tell a server what it does not know of this device; of a case that was not shown there, later. */
  async send(/** @type {Cases | null} */ cases) {
    if (!cases || this.busy) return;
    this.busy = true;
    const { epoch, reached } = cases;
    try {
      for (const [id, given] of Object.entries(this.#read())) {
        if (given.epoch === epoch || !reached.some(([, one]) => one === id)) continue;
        const said = await this.#send(id, given.epoch !== null);
        // 409: its answers were not revealed there yet; it is told again with the next event
        if (said.ok || said.status === 422) this.#put(id, { ...given, epoch });
      }
    } finally {
      this.busy = false;
    }
  }

  #send(id, again) {
    const { right, harm } = this.#read()[id];
    return this.tell({ case: id, device: this.#device(), right, harm, again });
  }

  #put(id, given) {
    const votes = this.#read();
    if (given === null) delete votes[id];
    else votes[id] = given;
    this.kept.put(this.room, "votes", votes);
  }
}

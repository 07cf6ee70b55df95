// What people entered and the server has not yet confirmed: scores, verdicts, comments, consensus.
//
// Every entry goes into this browser's storage before anything else happens with it; it leaves the
// storage when the server says that it is in the database. Until then it is sent again and again,
// whichever page is open, in the order in which entries were given: a counter that all tabs share
// says which, as the clock of a computer can be set back. Entries carry a token: one that arrives
// twice counts once. One that the server does not take is given back: it is kept until its writer
// puts it away, and holds up nothing that comes after it.

import { clock } from "../../components/clock.js";
import { tr } from "../../components/words.js";
import { Kept } from "./kept.js";
import { whyOvertaken } from "./overtaken.js";
import { Renewal } from "./renewal.js";
import { keepName } from "./scorer.js";

const MOST_AT_ONCE = 50;
const FIRST_WAIT_MS = 400;
const LONGEST_WAIT_MS = 10_000;
const PATIENCE_MS = 20_000;
const KEPT = tr("Not saved yet: kept on this computer, will be sent.");
const NOT_KEPT = tr("Not saved yet, and this browser keeps nothing: leave this page open.");
const TYPED = tr("Typed, not saved yet: kept on this computer.");
const TYPED_NOT_KEPT = tr("Typed, not saved yet, and this browser keeps nothing: leave the field.");
const SAME = ["page", "case", "kind", "slot", "shown", "subject", "picture", "field"];

/**
 * What a component of a page hears of, and is asked.
 * @typedef {object} Listener
 * @property {() => void} changed there is something else to show
 * @property {(reply: any, batch: any[]) => void} [heard] the server answered to a batch
 * @property {() => void} refresh the page is to hand out new data
 * @property {() => boolean} [busy] whether a reload would be in the way of whoever types
 * @property {() => void} [leave] the page is about to be loaded anew
 */

class Outbox {
  constructor() {
    /** @type {Set<Listener>} */
    this.listeners = new Set();
    this.unsent = new Kept("rexview:unsent:");
    this.returned = new Kept("rexview:returned:");
    this.drafts = new Kept("rexview:draft:");
    this.counter = new Kept("rexview:order:");
    /** @type {Set<string>} */
    this.typing = new Set(); // names of drafts in fields that are on the page
    this.owner = null; // whose entries these are, of which set
    this.unowned = null; // under which name they lie before that is known
    this.ticket = null;
    this.scorer = null; // whose name is shown, see scorer.js
    this.address = "";
    this.page = "";
    this.last = 0; // number of the newest entry
    this.sending = false;
    this.failures = 0;
    this.reason = null;
    this.savedAt = new Map(); // when something of a kind was saved last
    this.answered = -1; // the newest revision of the reviews that the server has told of
    this.asked = null; // the case whose state is wanted
    this.askedPage = null; // of which page, where that is not the one for scores
    this.askedMeeting = null; // in which meeting, where it is shown in one
    this.wanted = false; // a state is to be fetched even when nothing is to be sent
    this.renewal = new Renewal(this);
    window.addEventListener("online", () => this.hurry());
    window.addEventListener("focus", () => this.ask());
    document.addEventListener("visibilitychange", () => document.hidden || this.ask());
    window.addEventListener("storage", (event) => {
      const isOf = (kept) => event.key?.startsWith(`${kept.prefix}${this.owner}:`);
      if (isOf(this.unsent) || isOf(this.returned)) this.#changed();
      if (isOf(this.unsent) && event.newValue === null) this.ask();
    });
    window.addEventListener("beforeunload", (event) => this.fleeting && event.preventDefault());
  }

  /** Whether something would be lost with the page: the browser keeps nothing. */
  get fleeting() {
    return [this.unsent, this.returned, this.drafts].some(({ memory }) => memory.size > 0);
  }

  /** @param {Listener} listener */
  listen(listener) {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  #changed() {
    this.#tellEach(({ changed }) => changed());
  }

  /** One part of a page that fails must not keep others' entries from being sent. */
  #tellEach(/** @type {(listener: Listener) => void} */ tell) {
    for (const listener of this.listeners) {
      try {
        tell(listener);
      } catch (error) {
        console.error(error);
      }
    }
  }

  /** Take over from the page who enters, where, and with which ticket. */
  configure({ owner, unowned, ticket, address, page, scorer = null }) {
    this.page = page;
    if (!ticket && this.ticket && unowned === this.unowned) return; // of before the name was given
    this.scorer = scorer;
    keepName(scorer);
    const fresh = ticket !== this.ticket || owner !== this.owner;
    if (unowned !== this.unowned) this.answered = -1; // another review set
    Object.assign(this, { owner: owner ?? unowned, unowned, ticket, address });
    if (owner)
      for (const kept of [this.unsent, this.returned, this.drafts]) kept.move(unowned, owner);
    if (fresh) this.hurry();
  }

  // --- what is kept ------------------------------------------------------------------------------

  /** Keep an entry and send it: what `SentEntry` in entries.py says, without token; of this page. */
  add(entry) {
    const order = this.#next();
    const kept = { page: this.page, ...entry, token: newToken(), order };
    this.unsent.put(this.owner, `${order}-${kept.token}`, kept);
    this.#changed();
    this.hurry();
    return kept;
  }

  // Also after what waits: entries of an older version of this page are numbered by the clock.
  #next() {
    const stored = Number(this.counter.get(this.owner, "")?.last) || 0;
    const waiting = this.pending().map(({ order }) => Number.parseInt(order, 10) || 0);
    this.last = Math.max(this.last, stored, ...waiting) + 1;
    this.counter.put(this.owner, "", { last: this.last });
    return String(this.last).padStart(15, "0");
  }

  /** Entries that are not confirmed, in order. */
  pending() {
    return this.unsent.all(this.owner).map(([, entry]) => entry);
  }

  /** Those of the page that is open, of some kinds. */
  pendingHere(...kinds) {
    return this.pendingOf(this.page, ...kinds);
  }

  pendingOf(page, ...kinds) {
    return this.pending().filter((one) => isOf(one, page, kinds));
  }

  /** What was given back on the page that is open, of some kinds: [key, entry with its reason]. */
  returnedHere(...kinds) {
    return this.returnedOf(this.page, ...kinds);
  }

  returnedOf(page, ...kinds) {
    return this.returned.all(this.owner).filter(([, one]) => isOf(one, page, kinds));
  }

  /**
   * Keep an entry that was not taken, in place of earlier ones on the same thing. If it was overtaken,
   * something stands there that its writer had not seen.
   */
  #giveBack(owner, entry, reason, overtaken) {
    if (["reveal", "discussed"].includes(entry.kind)) return; // what nobody has typed
    for (const [key, before] of this.returned.all(owner)) {
      if (SAME.every((name) => before[name] === entry[name])) this.returned.drop(key);
    }
    const { value } = entry;
    if (value === null || value === "" || value === false) return; // it took something back
    this.returned.put(owner, `${entry.order}-${entry.token}`, { ...entry, reason, overtaken });
  }

  /** Forget what was given back: its writer has seen it. */
  putAway(keys) {
    for (const key of keys) this.returned.drop(key);
    this.#changed();
  }

  /**
   * Whether the reviews were read at this revision before the server last took something: by the time
   * a part of a page is there, another one can have sent what had waited for it, and heard the answer.
   */
  isPast(revision) {
    return revision < this.answered;
  }

  /** Keep what is being typed and is no entry yet, under a name: it outlives the tab. */
  keepTyped(/** @type {string} */ name, /** @type {Record<string, any>} */ draft) {
    this.drafts.put(this.owner, name, draft);
    if (this.typing.has(name)) return;
    this.typing.add(name);
    this.#changed();
  }

  /** What a page says beside words that are typed and no entry yet. */
  get typedWords() {
    return this.drafts.memory.size > 0 ? TYPED_NOT_KEPT : TYPED;
  }

  /** What was typed under a name is an entry by now, or nothing any more. */
  dropTyped(/** @type {string} */ name) {
    this.drafts.dropNamed(this.owner, name);
    this.leaveTyped(name);
  }

  /** The field is gone from the page; what was typed in it stays a draft. */
  leaveTyped(/** @type {string} */ name) {
    if (this.typing.delete(name)) this.#changed();
  }

  // --- sending -----------------------------------------------------------------------------------

  /** Ask the server how the case that is wanted stands. */
  ask() {
    this.wanted = this.asked !== null;
    this.hurry();
  }

  hurry() {
    clearTimeout(this.timer);
    if (this.sending || !this.ticket) return;
    this.timer = setTimeout(() => this.#send(), 0);
  }

  #later() {
    this.failures += 1;
    const wait = Math.min(FIRST_WAIT_MS * 2 ** (this.failures - 1), LONGEST_WAIT_MS);
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.#send(), wait);
  }

  async #send() {
    if (this.sending || !this.ticket) return;
    const batch = this.pending().slice(0, MOST_AT_ONCE);
    if (batch.length === 0 && !this.wanted) return;
    const { wanted } = this;
    this.wanted = false; // what is asked for meanwhile is asked for after this
    this.sending = true;
    this.#changed();
    this.reason = await this.#post(this.owner, batch);
    this.sending = false;
    if (this.reason !== null) {
      this.wanted ||= wanted;
      this.#later();
    } else {
      this.failures = 0;
      this.hurry();
    }
    this.#changed();
  }

  /** Send entries; return why that failed, null when the server has answered to all. */
  async #post(owner, batch) {
    const entries = batch.map(({ order, began, ...rest }) => rest); // these are for this page only
    const page = this.askedPage === null ? {} : { page: this.askedPage };
    const meeting = this.askedMeeting === null ? {} : { meeting: this.askedMeeting };
    const asked = this.asked === null ? {} : { case: this.asked, ...page, ...meeting };
    /** @type {any} */
    let reply = null;
    let taken = false;
    try {
      const response = await fetch(new URL(this.address, document.baseURI), {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify({ ticket: this.ticket, ...asked, entries }),
        signal: AbortSignal.timeout(PATIENCE_MS),
      });
      taken = response.ok;
      reply = await response.json();
    } catch {
      return tr("The server cannot be reached.");
    }
    if (reply?.renew) this.renewal.begin();
    if (!taken || !Array.isArray(reply?.saved)) {
      return String(reply?.error ?? tr("The server cannot save at the moment."));
    }
    const known = new Set([
      ...reply.saved,
      ...Object.keys(reply.refused),
      ...Object.keys(reply.replaced),
    ]);
    if (batch.some(({ token }) => !known.has(token))) {
      return tr("The server did not confirm all entries.");
    }
    for (const { kind, token } of batch)
      if (reply.saved.includes(token)) this.savedAt.set(kind, new Date());
    this.answered = Math.max(this.answered, reply.revision ?? -1);
    reply.reasons = { ...reply.refused }; // by token, why an entry was not taken
    for (const entry of batch) {
      const there = reply.replaced[entry.token];
      if (there) reply.reasons[entry.token] = whyOvertaken(entry, there);
      const reason = reply.reasons[entry.token];
      if (reason !== undefined) this.#giveBack(owner, entry, reason, Boolean(there));
    }
    this.#tellEach(({ heard }) => heard?.(reply, batch));
    for (const [key, { token }] of this.unsent.all(owner))
      if (known.has(token)) this.unsent.drop(key);
    return null;
  }

  /**
   * What to show, saved of some kinds: {state, message, reason}, the state "idle", "draft", "saved",
   * "saving" or "waiting".
   */
  status(/** @type {string[]} */ ...kinds) {
    if (this.typing.size > 0 && this.reason === null) {
      return { state: "draft", message: this.typedWords, reason: "" };
    }
    if (this.pending().length === 0) {
      const times = kinds.map((kind) => this.savedAt.get(kind)).filter(Boolean);
      if (times.length === 0) return { state: "idle", message: tr("Nothing to save"), reason: "" };
      return {
        state: "saved",
        message: tr("Saved {time}", { time: clock(new Date(Math.max(...times))) }),
        reason: "",
      };
    }
    if (this.reason === null) return { state: "saving", message: tr("Saving…"), reason: "" };
    const message = this.unsent.memory.size > 0 ? NOT_KEPT : KEPT;
    return { state: "waiting", message, reason: this.reason };
  }
}

function isOf(entry, page, kinds) {
  return (entry.page ?? "score page") === page && kinds.includes(entry.kind);
}

/** A new UUID; pages that are served without TLS have no crypto.randomUUID. */
export function newToken() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6] & 0x0f) | 0x40;
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

/** The one outbox of this browser tab, for all parts of all pages. */
export const outbox = new Outbox();

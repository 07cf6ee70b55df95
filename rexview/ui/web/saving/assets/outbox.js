// Entries that the server has not yet confirmed: scores, verdicts, comments, consensus.
//
// Every entry is first written to this browser's storage. It leaves the storage when the server
// reports that it is in the database. Until then it is sent repeatedly from whichever page is open,
// in the order of entering. A counter shared by all tabs gives the order, because the clock of a
// computer can be set back. Entries have a token: one that arrives twice counts once. An entry that
// the server refuses is returned: it is kept until its writer dismisses it, and blocks no later
// entry.

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
const NOT_KEPT = tr("Not saved yet, and this browser stores nothing: leave this page open.");
const TYPED = tr("Typed, not saved yet: kept on this computer.");
const TYPED_NOT_KEPT = tr(
  "Typed, not saved yet, and this browser stores nothing: leave the field.",
);
const SAME = ["page", "case", "kind", "slot", "shown", "subject", "picture", "field"];

/**
 * What a component of a page receives, and provides.
 * @typedef {object} Listener
 * @property {() => void} changed there is something else to show
 * @property {(reply: any, batch: any[]) => void} [heard] the server replied to a batch
 * @property {() => void} refresh the page has to provide new data
 * @property {() => boolean} [busy] whether a reload would interrupt the user's typing
 * @property {() => void} [leave] the page is about to be reloaded
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
    this.owner = null; // the person and the set of these entries
    this.unowned = null; // the name used until the owner is known
    this.ticket = null;
    this.scorer = null; // the reader to show, see scorer.js
    this.address = "";
    this.page = "";
    this.last = 0; // number of the newest entry
    this.sending = false;
    this.failures = 0;
    this.reason = null;
    this.savedAt = new Map(); // time of the last save, by kind
    this.answered = -1; // the newest revision of the reviews reported by the server
    this.asked = null; // the case whose state is requested
    this.askedPage = null; // its page, if that is not the Score page
    this.askedMeeting = null; // its meeting, if it is shown in one
    this.wanted = false; // request a state even if nothing is to be sent
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

  /** Whether the page's end would lose something: the browser stores nothing. */
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

  /** A failing part of a page must not keep others' entries from being sent. */
  #tellEach(/** @type {(listener: Listener) => void} */ tell) {
    for (const listener of this.listeners) {
      try {
        tell(listener);
      } catch (error) {
        console.error(error);
      }
    }
  }

  /** Take over the person, the page and the ticket from the page. */
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

  // --- storage -----------------------------------------------------------------------------------

  /** Store an entry and send it: fields of `SentEntry` in entries.py, without token and page. */
  add(entry) {
    const order = this.#next();
    const kept = { page: this.page, ...entry, token: newToken(), order };
    this.unsent.put(this.owner, `${order}-${kept.token}`, kept);
    this.#changed();
    this.hurry();
    return kept;
  }

  // Also after waiting entries: an older version of this page numbered entries by the clock.
  #next() {
    const stored = Number(this.counter.get(this.owner, "")?.last) || 0;
    const waiting = this.pending().map(({ order }) => Number.parseInt(order, 10) || 0);
    this.last = Math.max(this.last, stored, ...waiting) + 1;
    this.counter.put(this.owner, "", { last: this.last });
    return String(this.last).padStart(15, "0");
  }

  /** Unconfirmed entries, in order. */
  pending() {
    return this.unsent.all(this.owner).map(([, entry]) => entry);
  }

  /** Those of the open page, of some kinds. */
  pendingHere(...kinds) {
    return this.pendingOf(this.page, ...kinds);
  }

  pendingOf(page, ...kinds) {
    return this.pending().filter((one) => isOf(one, page, kinds));
  }

  /** Returned entries of the open page, of some kinds: [key, entry with its reason]. */
  returnedHere(...kinds) {
    return this.returnedOf(this.page, ...kinds);
  }

  returnedOf(page, ...kinds) {
    return this.returned.all(this.owner).filter(([, one]) => isOf(one, page, kinds));
  }

  /**
   * Store a refused entry, replacing earlier ones on the same subject. An overtaken entry met a
   * value
   * that its writer had not seen.
   */
  #giveBack(owner, entry, reason, overtaken) {
    if (["reveal", "discussed"].includes(entry.kind)) return; // not typed by the user
    for (const [key, before] of this.returned.all(owner)) {
      if (SAME.every((name) => before[name] === entry[name])) this.returned.drop(key);
    }
    const { value } = entry;
    if (value === null || value === "" || value === false) return; // it withdrew something
    this.returned.put(owner, `${entry.order}-${entry.token}`, { ...entry, reason, overtaken });
  }

  /** Delete a returned entry: its writer has seen it. */
  putAway(keys) {
    for (const key of keys) this.returned.drop(key);
    this.#changed();
  }

  /**
   * Whether the reviews were read at this revision before the server's last save: until a part of a
   * page
   * is ready, another part may have sent its waiting entries and received the reply.
   */
  isPast(revision) {
    return revision < this.answered;
  }

  /** Store typed text that is no entry yet, under a name: it outlives the tab. */
  keepTyped(/** @type {string} */ name, /** @type {Record<string, any>} */ draft) {
    this.drafts.put(this.owner, name, draft);
    if (this.typing.has(name)) return;
    this.typing.add(name);
    this.#changed();
  }

  /** The page's note next to typed text that is no entry yet. */
  get typedWords() {
    return this.drafts.memory.size > 0 ? TYPED_NOT_KEPT : TYPED;
  }

  /** The text typed under a name is now an entry, or was deleted. */
  dropTyped(/** @type {string} */ name) {
    this.drafts.dropNamed(this.owner, name);
    this.leaveTyped(name);
  }

  /** The field is no longer on the page; its typed text remains a draft. */
  leaveTyped(/** @type {string} */ name) {
    if (this.typing.delete(name)) this.#changed();
  }

  // --- sending -----------------------------------------------------------------------------------

  /** Request the state of the wanted case. */
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
    this.wanted = false; // later requests are handled after this one
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

  /** Send entries; return why that failed, null if the server replied to all. */
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
    reply.reasons = { ...reply.refused }; // reasons of refused entries, by token
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
   * What to show for the entries of some kinds: {state, message, reason}, the state "idle",
   * "draft",
   * "saved", "saving" or "waiting".
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

/** A new UUID; pages without TLS have no crypto.randomUUID. */
export function newToken() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6] & 0x0f) | 0x40;
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

/** The one outbox of this browser tab, for all parts of all pages. */
export const outbox = new Outbox();

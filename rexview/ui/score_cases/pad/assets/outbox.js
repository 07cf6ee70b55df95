// What the reader gave and the server has not yet confirmed.
//
// Every entry goes into this browser's storage before anything else happens with it, under a key of
// its own, so that tabs do not overwrite each other's; it leaves the storage when the server says
// that it is in the database. Until then it is sent again and again, in the order in which entries
// were given: a counter that all tabs share says which, as the clock of a computer can be set back.
// Entries carry a token: one that arrives twice counts once.

import { newToken } from "./token.js";

const PREFIX = "rexview:unsent:";
const DRAFT = "rexview:draft:";
const ORDER = "rexview:order:";
const MOST_AT_ONCE = 50;
const FIRST_WAIT_MS = 400;
const LONGEST_WAIT_MS = 10_000;
const PATIENCE_MS = 20_000;
const KEPT = "Not saved yet: kept on this computer, will be sent.";
const NOT_KEPT = "Not saved yet, and this browser keeps nothing: leave this page open.";

export class Outbox {
  /**
   * @param {object} on
   * @param {() => void} on.changed called when there is something to show
   * @param {(told: any, batch: any[]) => void} on.heard called with each answer of the server
   * @param {() => void} on.renew called when the ticket has ended
   */
  constructor({ changed, heard, renew }) {
    this.changed = changed;
    this.heard = heard;
    this.renew = renew;
    this.owner = null;
    this.ticket = null;
    this.address = null;
    this.memory = new Map(); // what the storage did not take
    this.last = 0; // number of the newest entry
    this.sending = false;
    this.failures = 0;
    this.reason = null;
    this.savedAt = null;
    this.asked = null; // the case whose state is wanted
    this.wanted = false; // a state is to be fetched even when nothing is to be sent
    this.abort = new AbortController();
    const { signal } = this.abort;
    window.addEventListener("online", () => this.hurry(), { signal });
    window.addEventListener("focus", () => this.ask(), { signal });
    document.addEventListener("visibilitychange", () => document.hidden || this.ask(), { signal });
    window.addEventListener(
      "storage",
      (event) => {
        if (!event.key?.startsWith(`${PREFIX}${this.owner}:`)) return;
        this.changed();
        if (event.newValue === null) this.ask();
      },
      { signal },
    );
    window.addEventListener(
      "beforeunload",
      (event) => this.memory.size > 0 && event.preventDefault(),
      { signal },
    );
  }

  close() {
    this.abort.abort();
    clearTimeout(this.timer);
    this.closed = true;
  }

  /** Take over who writes, and with which ticket. */
  configure({ owner, ticket, address }) {
    const fresh = ticket !== this.ticket || owner !== this.owner;
    Object.assign(this, { owner, ticket, address });
    if (fresh) this.hurry();
  }

  // --- what is kept ------------------------------------------------------------------------------

  add(entry) {
    const order = this.#next();
    const token = newToken();
    const kept = { ...entry, token, order };
    const key = `${PREFIX}${this.owner}:${order}-${token}`;
    if (!put(key, JSON.stringify(kept))) this.memory.set(key, kept);
    this.changed();
    this.hurry();
    return kept;
  }

  // Also after what waits: entries of an older version of this page are numbered by the clock.
  #next() {
    const stored = Number(read(`${ORDER}${this.owner}`)?.last) || 0;
    const waiting = this.pending().map(({ order }) => Number.parseInt(order, 10) || 0);
    this.last = Math.max(this.last, stored, ...waiting) + 1;
    put(`${ORDER}${this.owner}`, JSON.stringify({ last: this.last }));
    return String(this.last).padStart(15, "0");
  }

  /** Entries that are not confirmed, in order. */
  pending() {
    const begin = `${PREFIX}${this.owner}:`;
    const found = new Map(this.memory);
    for (const key of keysOf(begin)) {
      const entry = read(key);
      if (entry) found.set(key, entry);
    }
    return [...found.entries()].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, entry]) => entry);
  }

  #forget(tokens) {
    const begin = `${PREFIX}${this.owner}:`;
    for (const key of [...keysOf(begin), ...this.memory.keys()]) {
      if (!tokens.some((token) => key.endsWith(token))) continue;
      this.memory.delete(key);
      drop(key);
    }
  }

  /** Keep what is being typed, until it becomes an entry. */
  keepDraft(name, draft) {
    put(`${DRAFT}${this.owner}:${name}`, JSON.stringify(draft));
  }

  dropDraft(name) {
    drop(`${DRAFT}${this.owner}:${name}`);
  }

  /** What was being typed when the page went away. */
  drafts() {
    const begin = `${DRAFT}${this.owner}:`;
    return keysOf(begin)
      .map((key) => [key.slice(begin.length), read(key)])
      .filter(([, draft]) => draft);
  }

  // --- sending -----------------------------------------------------------------------------------

  /** Ask the server how a case stands. */
  ask() {
    this.wanted = true;
    this.hurry();
  }

  hurry() {
    clearTimeout(this.timer);
    if (this.closed || this.sending || !this.ticket) return;
    this.timer = setTimeout(() => this.#send(), 0);
  }

  #later() {
    this.failures += 1;
    const wait = Math.min(FIRST_WAIT_MS * 2 ** (this.failures - 1), LONGEST_WAIT_MS);
    clearTimeout(this.timer);
    if (!this.closed) this.timer = setTimeout(() => this.#send(), wait);
  }

  async #send() {
    if (this.sending || this.closed) return;
    const batch = this.pending().slice(0, MOST_AT_ONCE);
    if (batch.length === 0 && !this.wanted) return;
    this.sending = true;
    this.changed();
    const outcome = await this.#post(batch);
    this.sending = false;
    if (this.closed) return;
    if (outcome.failed) {
      this.reason = outcome.failed;
      this.#later();
    } else {
      this.failures = 0;
      this.reason = null;
      this.wanted = false;
      this.hurry();
    }
    this.changed();
  }

  async #post(batch) {
    const entries = batch.map(({ order, began, ...rest }) => rest); // these are for this page only
    const body = JSON.stringify({ ticket: this.ticket, case: this.asked, entries });
    let response = null;
    let told = null;
    try {
      response = await fetch(new URL(this.address, document.baseURI), {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body,
        signal: AbortSignal.timeout(PATIENCE_MS),
      });
      told = await response.json();
    } catch {
      return { failed: "The server cannot be reached." };
    }
    if (told?.renew) this.renew();
    if (!response.ok || !Array.isArray(told?.saved)) {
      return { failed: String(told?.error ?? "The server cannot save at the moment.") };
    }
    const settled = [...told.saved, ...Object.keys(told.refused), ...Object.keys(told.replaced)];
    const known = new Set(settled);
    if (batch.some(({ token }) => !known.has(token))) {
      return { failed: "The server did not confirm all entries." };
    }
    if (told.saved.length > 0) this.savedAt = new Date();
    this.heard(told, batch);
    this.#forget(settled);
    return {};
  }

  /** What to tell the reader: {state: "idle" | "saved" | "saving" | "waiting", words, reason}. */
  status() {
    const count = this.pending().length;
    if (count === 0) {
      if (this.savedAt === null) return { state: "idle", words: "Nothing to save", reason: "" };
      const time = this.savedAt.toLocaleTimeString([], {
        hour: "2-digit",
        minute: "2-digit",
        hourCycle: "h23",
      });
      return { state: "saved", words: `Saved ${time}`, reason: "" };
    }
    if (this.reason === null) return { state: "saving", words: "Saving…", reason: "" };
    return { state: "waiting", words: this.memory.size > 0 ? NOT_KEPT : KEPT, reason: this.reason };
  }
}

export function keysOf(begin) {
  try {
    return Object.keys(localStorage).filter((key) => key.startsWith(begin));
  } catch {
    return [];
  }
}

export function read(key) {
  try {
    const found = JSON.parse(localStorage.getItem(key));
    return found && typeof found === "object" ? found : null;
  } catch {
    return null;
  }
}

export function put(key, text) {
  try {
    localStorage.setItem(key, text);
    return true;
  } catch {
    return false;
  }
}

export function drop(key) {
  try {
    localStorage.removeItem(key);
  } catch {
    // no storage in this browser
  }
}

// A meeting in this window: the presenter's view arrives here, or is sent from here.
//
// One stream of events (server-sent) brings all updates; actions are sent by POST. The stream is
// reopened whenever it ends or falls silent. A restarted server remembers nothing: the former
// leader
// sends it what was revealed, and each device its votes.

import { tr } from "../../../web/components/words.js";
import { Kept } from "../../../web/saving/assets/kept.js";
import { Renewal } from "../../../web/saving/assets/renewal.js";
import { Ballots } from "./ballots.js";
import { ownWindow, remember, remembered } from "./memory.js";
import { ShownCases } from "./shown_cases.js";

/** @import { Cases, Joining, People, Shown, State, Ticket, Vote } from "./types.d.ts" */

const SILENT_MS = 4000;
const WATCH_MS = 500;
const BETWEEN_STATES_MS = 40;
const AGAIN_MS = 500;
const MOST_STATE = 2048;

class Room {
  /** @param {Joining} joining */
  constructor({ ticket, role, ...listeners }) {
    this.ticket = ticket;
    this.heard = listeners;
    this.wantsToLead = role === "lead";
    this.leading = false;
    this.looking = false;
    this.led = this.wantsToLead ? remembered(ticket.room) : null;
    /** @type {State | null} */
    this.state = this.led?.state ?? null; // the newest one, from here or from the presenter
    /** @type {People | null} */
    this.people = null;
    /** @type {Cases | null} */
    this.cases = null;
    this.window = ownWindow();
    this.number = 0;
    /** @type {State | null} */
    this.unsent = null;
    /** @type {Promise<void> | null} */
    this.sending = null;
    this.sentTo = ""; // the epoch that received what had been revealed
    this.fetched = new ShownCases((id) => this.#fetchCase(id));
    this.shownVotes = new Set(this.led?.closed); // cases whose result was shown
    this.kept = new Kept("rexview:meeting:");
    this.ballots = new Ballots(this.kept, ticket.room, (vote) => this.#announce("vote", vote));
    this.renewal = new Renewal(this);
    this.fleeting = false; // nothing is lost with the page
    this.left = new AbortController();
    this.watch = setInterval(() => this.#look(), WATCH_MS);
    window.addEventListener("online", () => this.#connect(), { signal: this.left.signal });
    window.addEventListener("pagehide", () => this.leave(), { signal: this.left.signal });
    this.#connect();
  }

  #connect() {
    this.source?.close();
    if (this.left.signal.aborted) return;
    this.heard.onConnection?.(this.last === undefined ? "joining" : "away");
    this.last = performance.now();
    const seen = this.newest ? `&seen=${encodeURIComponent(this.newest)}` : "";
    const source = new EventSource(this.#address(`events?window=${this.window}${seen}`));
    this.source = source;
    const on = (name, act) =>
      source.addEventListener(name, (event) => {
        if (source !== this.source) return;
        this.last = performance.now();
        act?.(event.data ? JSON.parse(event.data) : null, event.lastEventId);
      });
    on("open", () => this.heard.onConnection?.("here"));
    on("beat", () => this.ballots.send(this.cases));
    on("cases", (cases) => this.#hearCases(cases));
    on("state", (state, id) => this.#hearState(state, id));
    on("people", (people) => this.#hearPeople(people));
    on("votes", (votes) => {
      if (votes?.result) this.shownVotes.add(votes.case);
      else if (votes?.open) this.shownVotes.delete(votes.case);
      this.heard.onVotes?.(votes);
    });
    source.addEventListener("error", () => {
      if (source === this.source) this.heard.onConnection?.("away");
    });
  }

  #hearCases(cases) {
    const before = this.cases ?? this.led?.cases ?? null;
    const anew = before !== null && before.epoch !== cases.epoch;
    this.cases = cases;
    if (this.sentTo !== cases.epoch && (this.leading || this.wantsToLead)) {
      this.sentTo = cases.epoch;
      this.#askToLead(anew ? before : null);
    }
    this.ballots.send(cases);
    this.#remember();
    this.heard.onCases?.(cases);
  }

  #remember() {
    const { cases, state, shownVotes } = this;
    if (this.leading && cases && state)
      remember(this.ticket.room, { cases, state, closed: [...shownVotes] });
  }

  #hearState(state, id) {
    this.newest = id;
    if (state === null || (this.leading && this.state !== null)) return;
    this.state = state;
    if (!this.looking) this.heard.onState?.(state);
  }

  #hearPeople(people) {
    this.people = people;
    const leading = people.leader === people.you;
    if (leading !== this.leading) {
      this.leading = leading;
      if (leading) this.wantsToLead = this.looking = false;
      this.heard.onLeading?.(leading);
      if (leading && this.unsent) this.#send();
    }
    this.heard.onPresence?.(people);
  }

  /** Reopen the stream when it has ended or fallen silent. */
  #look() {
    const closed = this.source?.readyState === EventSource.CLOSED;
    const silent = performance.now() - (this.last ?? 0) >= SILENT_MS;
    if (this.renewal.timer || !(closed || silent)) return;
    if (closed) this.#askWhy();
    this.#connect();
  }

  /** A refused stream does not give the reason. */
  async #askWhy() {
    const answer = await fetch(this.#address("case?case=")).catch(() => null);
    if (answer && [401, 403, 503].includes(answer.status)) this.#refused(await reply(answer));
  }

  #refused({ error, renew }) {
    if (renew) this.renewal.begin();
    else this.heard.onProblem?.(error);
  }

  /** The source of a new ticket (`Renewal`); without one the page is reloaded. */
  get listeners() {
    return [{ refresh: () => this.heard.onRenew?.() }];
  }

  ask = () => this.#connect();

  #address(/** @type {string} */ what) {
    return new URL(`${this.ticket.address}/${what}`, document.baseURI).href;
  }

  /** @returns {Promise<{ok: boolean, status: number, error?: string, epoch?: string}>} */
  async #announce(act, body) {
    try {
      const answer = await fetch(this.#address(act), {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify(body),
        signal: AbortSignal.timeout(10_000),
      });
      const said = await reply(answer);
      if (said.renew) this.#refused(said);
      return { ok: answer.ok, status: answer.status, ...said };
    } catch {
      return { ok: false, status: 0, error: tr("The server cannot be reached.") };
    }
  }

  async #tellHere(act, body) {
    const said = await this.#announce(act, { window: this.window, ...body });
    if (!said.ok) this.heard.onProblem?.(said.error ?? tr("The server did not accept this."));
    return said.ok;
  }

  #askToLead(/** @type {Cases | null} */ before) {
    const reached = Object.fromEntries((before?.reached ?? []).map(([, id, step]) => [id, step]));
    const again = before && { reached, closed: [...this.shownVotes] };
    this.number = 0;
    if ((this.leading || before) && !this.unsent) this.unsent = this.state;
    return this.#tellHere("lead", again ?? {}).then((taken) => {
      if (this.unsent) this.#send();
      return taken;
    });
  }

  /** Share the view; of rapid states some are left out, never the newest. */
  send(/** @type {State} */ state) {
    if (new Blob([JSON.stringify(state)]).size > MOST_STATE)
      throw new RangeError(tr("The drawing is too large to share."));
    this.state = this.unsent = state;
    this.#remember();
    return this.#send();
  }

  /** @returns {Promise<void>} when the newest state has arrived */
  #send() {
    this.sending ||= this.#sendAll().finally(() => {
      this.sending = null;
    });
    return this.sending;
  }

  async #sendAll() {
    while (this.unsent && !this.left.signal.aborted) {
      const state = this.unsent;
      this.number += 1;
      const said = await this.#announce("state", { window: this.window, n: this.number, state });
      if (this.leading && (said.ok ? this.refused : said.status))
        this.heard.onProblem?.(said.error ?? "");
      this.refused = !said.ok;
      if (said.ok || said.status === 413 || said.status === 422) {
        if (this.unsent === state) this.unsent = null;
      } else if (said.status === 409 && this.people && !this.leading) this.unsent = null;
      else await pause(AGAIN_MS);
      if (this.unsent) await pause(BETWEEN_STATES_MS);
    }
  }

  /**
   * The revealed part of a case.
   *
   * @param {string} id
   * @param {number} step the least step needed, such as that of the state
   * @returns {Promise<Shown>}
   */
  async fetchCase(id, step = 0) {
    const known = this.cases?.reached.find(([, one]) => one === id)?.[2] ?? -1;
    return this.fetched.fetch(id, Math.max(step, known));
  }

  async #fetchCase(id) {
    const answer = await fetch(this.#address(`case?case=${encodeURIComponent(id)}`)).catch(
      () => null,
    );
    const said = answer ? await reply(answer) : {};
    if (said.renew) this.#refused(said);
    if (!answer?.ok) throw new Error(said.error ?? tr("The case is not available at the moment."));
    return said;
  }

  /** Look at something else, or with `false` follow again; the presenter sees that. */
  lookAround(looking = true) {
    this.looking = looking;
    if (!looking && this.state) this.heard.onState?.(this.state);
    return this.#tellHere("look", { looking });
  }

  /** Ask to lead; the leader answers. */
  askToLead() {
    return this.#askToLead(null);
  }

  /** Hand over to a window that asks (its number), or decline. */
  answer(/** @type {number} */ number, /** @type {boolean} */ yes) {
    return this.#tellHere("answer", { number, yes });
  }

  /** Vote, or change the vote; stored on this device until the server has it. */
  vote(/** @type {string} */ id, /** @type {Partial<Vote>} */ vote) {
    return this.ballots.give(id, vote, this.cases?.epoch);
  }

  /** The vote of this device on a case. */
  ownVote(/** @type {string} */ id) {
    return this.ballots.of(id);
  }

  /** Show the result to everybody, or continue voting; for the leader. */
  showVotes(/** @type {string} */ id, shown = true) {
    return this.#tellHere("show", { case: id, shown });
  }

  /** Continue with another ticket of the same room. */
  renew(/** @type {Ticket} */ ticket) {
    if (ticket.address === this.ticket.address) return;
    this.ticket = ticket;
    this.#connect();
  }

  leave() {
    this.left.abort();
    clearInterval(this.watch);
    this.source?.close();
  }
}

/** Join a meeting; all parts of a page share one room, which `leave` ends. */
export function joinRoom(/** @type {Joining} */ joining) {
  return new Room(joining);
}

async function reply(/** @type {Response} */ answer) {
  return answer.json().catch(() => ({ error: tr("The server cannot be reached.") }));
}

const pause = (ms) => new Promise((done) => setTimeout(done, ms));

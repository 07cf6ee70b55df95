// Turning to other cases ahead of the page: which case is on the screen, which one is wanted, and when
// the page follows.
//
// A press shows the next case at once if it is here (CaseStore): whoever shows parts of a case listens
// and changes in the same moment, so that picture and texts are of one case. The page's script, which
// takes long, is only asked to follow when the reader rests. What it sends of another case meanwhile
// is left aside. Where a case is not here yet, presses are counted, and the last one wins.

import { RepeatedRequest } from "../../web/components/repeated_request.js";
import { CaseStore } from "./case_store.js";

/** @import { CaseRecord, Step, TurningData, Listener } from "./types.d.ts" */

const REST_MS = 300; // without a press: then the page follows
const LONGEST_MS = 4000; // a reader who does not rest is followed all the same
// Then what the page says counts again, whatever it is. Long: a busy server may need seconds.
const PATIENCE_MS = 30_000;
const MOST_OWED = 99;
const MOST_PASSED = 1000;
const BEHIND = "rxTurning"; // mark of the document while the page has not followed
const WAITING = "rxWaiting"; // and while the case that is wanted is not here

export class Turning {
  constructor() {
    this.store = new CaseStore(() => this.#settle());
    this.request = new RepeatedRequest();
    /** @type {Set<Listener>} */
    this.listeners = new Set();
    this.owners = []; // the last one asks the page
    this.task = null; // whose cases these are, where a page has several lists
    this.number = Date.now(); // of the last request: a tab that was loaded anew goes on from there
    window.addEventListener("pagehide", () => this.#left());
    this.#begin();
  }

  #begin() {
    this.shown = null; // the case on the screen
    this.target = null; // the case that the page has not followed to; empty: the one to go on with
    this.unmet = false; // whether the last request was not met by the page
    this.owed = 0; // steps that wait for their cases
    this.until = 0;
    this.passed = []; // shown before the page followed, and not known to have been told to it
    this.told = 0; // how many of them the last request tells
    this.movedAt = null; // first step since the page was asked to follow
    this.direction = /** @type {Step} */ (1);
  }

  // --- who takes part --------------------------------------------------------------------------

  /**
   * Something that shows cases is on the page: its `ask` asks the page to follow; `left`, if it has that,
   * is told of cases that were shown and of which the page does not know.
   */
  enter(owner) {
    this.owners.push(owner);
    window.addEventListener("popstate", this.#goneElsewhere);
  }

  /** It goes; with the last one nothing is shown any more, and nothing waited for. */
  leave(owner) {
    if (this.owners.length === 1) this.#left();
    this.owners = this.owners.filter((one) => one !== owner);
    if (this.owners.length > 0) return;
    this.#stop();
    this.#begin();
    this.#tell();
    this.store.clear();
    window.removeEventListener("popstate", this.#goneElsewhere);
  }

  /** The page is about to go. */
  #left() {
    for (const owner of this.owners) owner.left?.(new Set(this.passed));
  }

  /** A case is not shown before everybody `has` what is to be shown of it. */
  listen(/** @type {Listener} */ listener) {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** What a part of the page got about turning, and the cases that it brought. */
  configure(/** @type {TurningData} */ data, /** @type {CaseRecord[]} */ cases) {
    const task = data?.task ?? null;
    if (task !== this.task) this.#giveUp(); // what was asked for is of another list
    this.task = task;
    if (data) this.store.configure(data);
    else this.unmet = false; // such a page does not say which request it answers
    if (data?.asked === this.number) {
      this.unmet = false;
      this.passed.splice(0, this.told);
      this.told = 0;
    }
    for (const one of cases) this.store.add(one);
  }

  // --- steps -----------------------------------------------------------------------------------

  /** Go some cases on; false where there is none. */
  step(/** @type {Step} */ by) {
    this.direction = by;
    if (this.owed === 0) {
      const next = this.#beside(this.shown, by);
      if (next === null) return false;
      if (this.#isHere(next)) {
        this.#put(next);
        return true;
      }
    }
    const before = Math.sign(this.owed);
    this.owed = Math.min(Math.max(this.owed + by, -MOST_OWED), MOST_OWED);
    const turned = Math.sign(this.owed) !== before;
    if (turned && this.#isAsking) this.#askFor(this.shown); // what was asked for is not wanted any more
    this.#await();
    return true;
  }

  /** Show any case; whether it is here. The page is asked to follow in any case. */
  goTo(caseId) {
    this.owed = 0;
    this.#tell();
    if (this.#isHere(caseId)) {
      this.#put(caseId);
      return true;
    }
    this.#askFor(caseId);
    return false;
  }

  /** Show the case that the page finds best to go on with. */
  goOn() {
    this.owed = 0;
    this.#askFor("");
  }

  /** The case beside one: null at the end, undefined while it is not known. */
  #beside(caseId, /** @type {Step} */ by) {
    return this.store.get(caseId)?.viewer?.neighbours[by > 0 ? "next" : "previous"];
  }

  #isHere(caseId) {
    const record = this.store.get(caseId);
    return Boolean(record?.viewer) && [...this.listeners].every(({ has }) => has?.(record) ?? true);
  }

  #put(caseId) {
    const now = performance.now();
    this.shown = caseId;
    this.target = caseId;
    this.until = now + PATIENCE_MS;
    this.passed.push(caseId);
    this.request.end();
    this.#tell();
    const record = this.store.get(caseId);
    for (const { show } of this.listeners) show?.(record);
    this.movedAt ??= now;
    clearTimeout(this.resting);
    this.resting = setTimeout(
      () => this.#askFor(caseId),
      now - this.movedAt > LONGEST_MS ? 0 : REST_MS,
    );
    this.store.fill(caseId, this.direction);
  }

  // --- cases that are not here -----------------------------------------------------------------

  /** Go as far as what is owed and what is here allow; ask for the rest. */
  #settle() {
    if (this.owed !== 0) {
      const by = /** @type {Step} */ (Math.sign(this.owed));
      let at = this.shown;
      while (this.owed !== 0) {
        const next = this.#beside(at, by);
        if (next === null) this.owed = 0;
        if (!next || !this.#isHere(next)) break;
        at = next;
        this.owed -= by;
      }
      if (at !== this.shown) this.#put(at);
      else this.#tell();
      if (this.owed !== 0) this.#await();
    }
    for (const { arrived } of this.listeners) arrived?.();
  }

  /** Have the cases come, from the route or, where that does not give them, from the page. */
  #await() {
    this.#tell();
    if (this.owed === 0 || this.shown === null) return; // the first case is still to come
    const by = /** @type {Step} */ (Math.sign(this.owed));
    const from = this.shown;
    this.store.fetch(from, by).then(() => {
      if (this.owed === 0 || this.#isAsking || this.shown !== from) return; // it went on
      const next = this.#beside(from, by);
      // what came may be in an order that has changed since the page was made
      if (next && !this.#isHere(next)) this.#askFor(next);
    });
  }

  // --- the page --------------------------------------------------------------------------------

  #askFor(caseId) {
    clearTimeout(this.resting);
    this.target = caseId;
    this.until = performance.now() + PATIENCE_MS;
    this.movedAt = null;
    this.number += 1;
    this.unmet = true;
    this.passed = this.passed.slice(-MOST_PASSED);
    this.told = this.passed.length;
    const wanted = { case: caseId, number: this.number, passed: [...this.passed] };
    this.request.begin(
      () => this.owners.at(-1)?.ask(wanted),
      PATIENCE_MS,
      () => this.#giveUp(),
    );
    this.#tell();
  }

  /** Whether the page was asked for a case that is not on the screen, not only to follow. */
  get #isAsking() {
    return this.target !== null && this.target !== this.shown;
  }

  /** Whether what the page sends of a case is behind what is on the screen, and is left aside. */
  isBehind(caseId) {
    if (this.target === null || caseId === this.target) return false;
    // what answers the last request holds, also another case: the one asked for may be theirs no more
    const answers = !this.unmet && this.movedAt === null;
    return !answers && performance.now() < this.until;
  }

  /** The page shows a case, which is not behind. */
  came(caseId) {
    const asked = this.#isAsking;
    if (asked)
      this.owed -= Math.sign(this.owed); // the step that the page was asked for
    // the page went there by itself; a step pressed before any case was shown is one on from here
    else if (this.shown !== null && caseId !== this.shown) this.owed = 0;
    this.shown = caseId;
    // a page that has not met the last request shows this case again, and may yet show another
    if (!this.unmet || performance.now() >= this.until) this.#followed();
    this.#tell();
    if (this.owed !== 0) this.#settle();
    else this.store.fill(caseId, this.direction);
  }

  #followed() {
    if (this.passed.length === 0) clearTimeout(this.resting); // else they are still to be told
    this.request.end();
    this.target = null;
    this.unmet = false;
    this.movedAt = null;
  }

  /** Whether something about a case may be done on the page: it is the one on the screen. */
  isOf(caseId) {
    return this.shown === null || this.shown === caseId;
  }

  // The browser's own back button: what the page shows from now on counts.
  #goneElsewhere = () => {
    if (this.target === null) return;
    this.#giveUp();
  };

  #giveUp() {
    this.#stop();
    this.owed = 0;
    this.target = null;
    this.unmet = false;
    this.#tell();
  }

  #stop() {
    clearTimeout(this.resting);
    this.request.end();
  }

  /** Mark the document, and tell whoever listens whether a case is waited for. */
  #tell() {
    const marks = document.documentElement.dataset;
    if (this.target === null) delete marks[BEHIND];
    else marks[BEHIND] = "";
    if (this.waits) marks[WAITING] = "";
    else delete marks[WAITING];
    for (const { waiting } of this.listeners) waiting?.(this.waits);
  }

  /** Whether a case is wanted that is not here yet: what is pressed now is not for the one shown. */
  get waits() {
    return this.owed !== 0 || this.#isAsking;
  }
}

/** One for the page. */
export const turning = new Turning();

// Turning to other cases ahead of the page: the shown case, the wanted case, and when the page
// follows.
//
// A press shows the next case at once if it is loaded (CaseStore): all parts that show a case
// listen and
// change at the same time, so that image and texts are of one case. The page's script, which takes
// long,
// is only asked to follow when the reader pauses. Its data of other cases are ignored meanwhile. If
// a case
// is not loaded yet, presses are counted, and the last one wins.

import { RepeatedRequest } from "../../web/components/repeated_request.js";
import { CaseStore } from "./case_store.js";

/** @import { CaseRecord, Step, TurningData, Listener } from "./types.d.ts" */

const REST_MS = 300; // without a press: then the page follows
const LONGEST_MS = 4000; // the page follows even a reader who does not pause
// After that the page's data count again in any case. Long: a busy server may need seconds.
const PATIENCE_MS = 30_000;
const MOST_OWED = 99;
const MOST_PASSED = 1000;
const BEHIND = "rxTurning"; // mark of the document while the page has not followed
const WAITING = "rxWaiting"; // and while the wanted case is not loaded

export class Turning {
  constructor() {
    this.store = new CaseStore(() => this.#settle());
    this.request = new RepeatedRequest();
    /** @type {Set<Listener>} */
    this.listeners = new Set();
    this.owners = []; // the last one asks the page
    this.task = null; // the list of these cases, on a page with several lists
    this.number = Date.now(); // of the last request: a reloaded tab continues from there
    window.addEventListener("pagehide", () => this.#left());
    this.#begin();
  }

  #begin() {
    this.shown = null; // the case on the screen
    this.target = null; // the case that the page has not followed to; empty: the one to go on with
    this.unmet = false; // whether the page has not met the last request
    this.owed = 0; // steps that wait for their cases
    this.until = 0;
    this.passed = []; // shown before the page followed, and perhaps not reported to it
    this.told = 0; // how many of them the last request reports
    this.movedAt = null; // first step since the page was asked to follow
    this.direction = /** @type {Step} */ (1);
  }

  // --- participants ----------------------------------------------------------------------------

  /**
   * A part that shows cases is on the page: its `ask` asks the page to follow; its `left`, if any,
   * gets the
   * shown cases that the page does not know.
   */
  enter(owner) {
    this.owners.push(owner);
    window.addEventListener("popstate", this.#goneElsewhere);
  }

  /** It leaves; after the last one nothing is shown or waited for. */
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

  /** The page is about to end. */
  #left() {
    for (const owner of this.owners) owner.left?.(new Set(this.passed));
  }

  /** A case is not shown before all parts have (`has`) their content of it. */
  listen(/** @type {Listener} */ listener) {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** A part's data about turning, and the cases sent with it. */
  configure(/** @type {TurningData} */ data, /** @type {CaseRecord[]} */ cases) {
    const task = data?.task ?? null;
    if (task !== this.task) this.#giveUp(); // the request is of another list
    this.task = task;
    if (data) this.store.configure(data);
    else this.unmet = false; // such a page does not report which request it answers
    if (data?.asked === this.number) {
      this.unmet = false;
      this.passed.splice(0, this.told);
      this.told = 0;
    }
    for (const one of cases) this.store.add(one);
  }

  // --- steps -----------------------------------------------------------------------------------

  /** Go some cases on; return false if there is none. */
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

  /** Show any case; return whether it is loaded. The page is asked to follow in any case. */
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

  /** Show the case that the page chooses to continue with. */
  goOn() {
    this.owed = 0;
    this.#askFor("");
  }

  /** The neighbour of a case: null at the end, undefined while unknown. */
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

  // --- cases that are not loaded ---------------------------------------------------------------

  /** Go as far as the pending steps and the loaded cases allow; request the rest. */
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

  /** Load the cases, from the route or, if that does not have them, from the page. */
  #await() {
    this.#tell();
    if (this.owed === 0 || this.shown === null) return; // the first case is still to come
    const by = /** @type {Step} */ (Math.sign(this.owed));
    const from = this.shown;
    this.store.fetch(from, by).then(() => {
      if (this.owed === 0 || this.#isAsking || this.shown !== from) return; // it went on
      const next = this.#beside(from, by);
      // the loaded cases may have an order that has changed since the page was made
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

  /** Whether a case that is not on the screen was requested from the page, not only to follow. */
  get #isAsking() {
    return this.target !== null && this.target !== this.shown;
  }

  /** Whether the page's data of a case are outdated against the shown one, and are ignored. */
  isBehind(caseId) {
    if (this.target === null || caseId === this.target) return false;
    // the reply to the last request counts, even for another case: the requested one may be
    // withdrawn
    const answers = !this.unmet && this.movedAt === null;
    return !answers && performance.now() < this.until;
  }

  /** The page shows a case that is not outdated. */
  came(caseId) {
    const asked = this.#isAsking;
    if (asked)
      this.owed -= Math.sign(this.owed); // the step that was requested from the page
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

  /** Whether actions on the page apply to a case: it is the shown one. */
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

  /** Mark the document, and report to listeners whether a case is waited for. */
  #tell() {
    const marks = document.documentElement.dataset;
    if (this.target === null) delete marks[BEHIND];
    else marks[BEHIND] = "";
    if (this.waits) marks[WAITING] = "";
    else delete marks[WAITING];
    for (const { waiting } of this.listeners) waiting?.(this.waits);
  }

  /** Whether a wanted case is not loaded yet: presses do not apply to the shown one. */
  get waits() {
    return this.owed !== 0 || this.#isAsking;
  }
}

/** The one instance of the page. */
export const turning = new Turning();

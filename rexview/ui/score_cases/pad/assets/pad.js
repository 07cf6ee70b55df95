// The score pad as a whole: the reader's view of one case, and their entries on it.
//
// Entries are sent to the server by the outbox, not through the page's script. Only the shown case
// ("go")
// and requests for new data ("refresh") use the script.

import { Follow } from "../../../pad/assets/follow.js";
import { turning } from "../../../turning/assets/turning.js";
import { set } from "../../../web/components/dom.js";
import { listenToPage, tellPage } from "../../../web/components/events.js";
import { mounting } from "../../../web/components/mount.js";
import { tr } from "../../../web/components/words.js";
import { outbox } from "../../../web/saving/assets/outbox.js";
import { askWhereSeen } from "../../../web/saving/assets/seen_cases.js";
import { AnswerView } from "./answer.js";
import { fits, stateOf, withEntries } from "./case_record.js";
import { Frame } from "./frame.js";
import { Keys } from "./keys.js";
import { ANSWERS_CHANGED, edgeWords, ofPicture } from "./pad_words.js";
import { Returned } from "./returned.js";
import { Scoring } from "./scoring.js";
import { Selection } from "./selection.js";
import { Sheets } from "./sheets.js";

/** @import { Tell } from "../../../web/components/events.js" */
/** @import { Direction } from "../../../viewer/assets/types.d.ts" */
/** @import { Row } from "./answer.js" */
/** @import { Item, CaseRecord, PadCase, PadData } from "./types.d.ts" */

const BESIDE_FROM_PX = 1000; // answers are side by side from this width on

export class Pad {
  constructor(/** @type {HTMLElement} */ place) {
    this.abort = new AbortController();
    const { signal } = this.abort;
    /** @type {PadData} */
    this.data = null;
    /** @type {PadCase} */
    this.case = null;
    /** @type {AnswerView[]} */
    this.views = [];
    /** @type {Row[]} */
    this.rows = [];
    /** @type {Map<string, CaseRecord>} */
    this.known = new Map(); // case -> the newest record that the server sent
    this.pictured = null; // the case shown by the viewer
    this.selection = new Selection(this);
    this.scoring = new Scoring(this);
    this.sheets = new Sheets(this);
    this.returned = new Returned(this);
    this.frame = new Frame(this);
    this.root = this.frame.root;
    place.append(this.root);
    this.follow = new Follow(this);
    turning.enter(this);
    this.unturn = turning.listen({
      has: ({ pad }) => Boolean(pad),
      show: ({ pad }) => this.#show(pad),
    });
    this.unlisten = outbox.listen({
      changed: () => this.refresh(),
      heard: (reply, batch) => this.#heard(reply, batch),
      refresh: () => this.tell("refresh", Date.now()),
      busy: () => this.typing,
      leave: () => this.leave(),
    });
    this.keys = new Keys(this);
    this.observer = new ResizeObserver(() => this.#layout());
    this.observer.observe(this.root);
    window.addEventListener("pagehide", () => this.commit(), { signal });
    listenToPage("painted", (picture) => this.#painted(picture.case), signal);
  }

  close() {
    this.commit();
    this.unturn();
    turning.leave(this);
    this.follow.close();
    this.unlisten();
    outbox.asked = null;
    this.observer.disconnect();
    this.abort.abort();
    this.root.remove();
  }

  // --- data from the page ------------------------------------------------------------------------

  update(/** @type {PadData} */ data, /** @type {Tell} */ setTriggerValue) {
    this.tell = setTriggerValue;
    const first = this.data === null;
    const counts = this.data?.worklist;
    this.data = data;
    if (data.case.own.revision < (this.countedAt ?? -1)) this.#count(counts); // read before our last entry
    this.root.style.setProperty("--rx-pad-height", data.height);
    outbox.configure(data.outbox);
    turning.configure(data.turning, [{ case: data.case.case, pad: data.case }]);
    this.follow.came(data);
    if (first) this.scoring.takeDrafts();
    if (turning.isBehind(data.case.case)) this.refresh();
    else this.#show(data.case);
    if (first && outbox.isPast(data.case.own.revision)) outbox.ask();
  }

  /** Apply a case's state, unless a newer one is known. */
  #learn(caseId, record) {
    const before = this.known.get(caseId);
    if (!before || record.revision >= before.revision) this.known.set(caseId, record);
  }

  #show(padCase) {
    const same = this.case?.case === padCase.case;
    this.#learn(padCase.case, padCase.own);
    const text = JSON.stringify({ ...padCase, own: null });
    outbox.asked = padCase.case;
    if (same && text === this.shown) {
      this.refresh();
      return;
    }
    this.commit();
    const other = same && !fits(this.case.own, padCase);
    this.shown = text;
    this.case = padCase;
    this.views = padCase.answers.map((answer) => new AnswerView(this, answer));
    this.rows = this.views.flatMap(({ rows }) => rows);
    this.frame.show(padCase, this.views);
    if (other) this.frame.complain(ANSWERS_CHANGED);
    if (!same || other) {
      this.scoring.done = [];
      this.frame.say("");
      this.selection.begin();
    }
    this.#layout();
    this.refresh();
  }

  /** The reader's entries on a case, including those on their way to the server. */
  record() {
    const { case: caseId, own, answers } = this.case;
    const known = this.known.get(caseId);
    const names = new Set(answers.map(({ shown }) => shown));
    const pending = outbox.pendingHere("score", "verdict", "skip", "reveal");
    return withEntries(
      known && fits(known, this.case) ? known : own,
      pending.filter((one) => one.case === caseId && (!one.slot || names.has(one.shown))),
    );
  }

  /** Whether another case was requested and has not arrived: presses are for that one. */
  get turning() {
    return turning.waits;
  }

  get locked() {
    return this.known.get(this.case.case)?.revealed === true;
  }

  /** Whether the reader saw the case with its models named and has not chosen to score it. */
  get held() {
    const seen = this.case && this.record().seen?.unblinded;
    return Boolean(seen) && !seen.accepted;
  }

  stateHere() {
    return stateOf(this.case, this.record());
  }

  dimension(id) {
    return this.data.rubric.find((one) => one.id === id);
  }

  /** The name of an item: its dimension, and its image if there are several. */
  titleOf(/** @type {Item} */ { dimension, picture }) {
    const name = this.dimension(dimension)?.name ?? dimension;
    return Number.isInteger(picture) ? ofPicture(name, picture) : name;
  }

  // --- actions of the reader ---------------------------------------------------------------------

  /** Make entries of typed text. */
  commit() {
    for (const { rows } of this.views) for (const row of rows) row.commit();
  }

  // --- moving ------------------------------------------------------------------------------------

  turn(/** @type {Direction} */ direction) {
    this.commit();
    if (!turning.step(direction === "next" ? 1 : -1)) this.frame.say(edgeWords(direction));
    this.refresh();
  }

  goOn() {
    this.commit();
    turning.goOn();
  }

  /** Show another case: at once if it is here; the page follows. */
  go(caseId) {
    if (caseId === this.case.case) return;
    this.commit();
    turning.goTo(caseId);
    this.refresh();
  }

  /** Ask the page to follow. */
  ask(wanted) {
    this.follow.await(wanted);
  }

  // --- from the server ---------------------------------------------------------------------------

  #heard(reply, batch) {
    this.follow.reached();
    if (reply.page) return; // the reply is for another task
    for (const [caseId, record] of Object.entries(reply.own ?? {})) {
      const before = this.known.get(caseId);
      this.#learn(caseId, record);
      const changed =
        before && (before.revealed !== record.revealed || before.report !== record.report);
      if (caseId === this.case.case && (changed || !fits(record, this.case)))
        this.tell("refresh", Date.now());
    }
    if (!reply.progress) {
      askWhereSeen(batch); // nothing else of it is about scoring
      return;
    }
    this.countedAt = reply.revision;
    this.#count(reply.progress);
    for (const entry of this.data.worklist.entries) entry[1] = reply.states[entry[0]] ?? entry[1];
    for (const entry of batch) {
      const reason = reply.refused[entry.token];
      if (reason && entry.kind === "reveal") {
        this.frame.complain(tr("Not shown ({case}): {reason}", { case: entry.case, reason }));
      }
    }
  }

  #count({ done, skipped, total }) {
    Object.assign(this.data.worklist, { done, skipped, total });
  }

  /** The page will be reloaded: it has to show the same case. */
  leave() {
    if (!this.case) return;
    this.commit();
    const address = new URL(location.href);
    address.searchParams.set("case", this.case.case);
    history.replaceState(history.state, "", address);
  }

  /** Whether a reload would interrupt typing. */
  get typing() {
    const active = document.activeElement;
    return this.sheets.open || Boolean(active?.closest("input, textarea"));
  }

  // --- drawing -----------------------------------------------------------------------------------

  #layout() {
    this.frame.fitRubric();
    const beside = this.views.length > 1 && this.root.clientWidth >= BESIDE_FROM_PX;
    if (this.root.classList.contains("beside") === beside) return;
    this.root.classList.toggle("beside", beside);
  }

  /** Tell the viewer which boxes may be shown: only those of the current answer. */
  #tellPicture() {
    if (!this.case) return;
    tellPage("group", { case: this.case.case, group: this.selection.slot ?? null });
  }

  #painted(caseId) {
    this.#tellPicture(); // the viewer may be created after the pad
    if (this.pictured === caseId) return;
    this.pictured = caseId;
    this.refresh();
  }

  refresh() {
    if (!this.case) return;
    const record = this.record();
    const { turning } = this;
    const locked = this.locked || this.held;
    const apart = this.case.pictures && this.pictured !== null && this.pictured !== this.case.case;
    this.root.classList.toggle("turning", turning || apart);
    for (const view of this.views) {
      view.refresh(record, {
        current: this.selection.key,
        locked,
        name: this.case.names?.[view.answer.slot],
      });
      set(view.node, { "data-active": view.answer.slot === this.selection.slot });
    }
    this.frame.refresh(record, this.selection.row);
    this.#tellPicture();
    this.returned.refresh();
    if (this.scoring.reportWanted && this.case.report.state === "shown") {
      this.scoring.reportWanted = false;
      this.frame.say("");
      this.frame.toggleReport(true);
    }
  }
}

export const mount = mounting((place) => new Pad(place));

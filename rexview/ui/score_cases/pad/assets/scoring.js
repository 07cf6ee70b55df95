// The reader's entries on the pad: scores, failures, comments, skips, reveals. Each becomes an
// entry of
// the outbox.

import { NOT_HERE } from "../../../pad/assets/task_words.js";
import { tr } from "../../../web/components/words.js";
import { outbox } from "../../../web/saving/assets/outbox.js";
import { counted, flagKey, valueAt } from "./case_record.js";
import { beginningOf } from "./returned.js";

/** @import { AnswerView, Row } from "./answer.js" */
/** @import { Pad } from "./pad.js" */
/** @import { Answer, Context } from "./types.d.ts" */

const SEEN_UNBLINDED = tr(
  "You have seen this case with the models named: confirm that you continue, or skip it",
);

/** The subject of an entry on a row. */
function aboutRow(/** @type {Row} */ { answer, caseId, item }) {
  const { dimension: subject, picture } = item;
  return { kind: "score", case: caseId, slot: answer.slot, subject, picture };
}

export class Scoring {
  constructor(/** @type {Pad} */ pad) {
    this.pad = pad;
    this.done = []; // actions that can be undone, of the shown case
    this.reportWanted = false;
  }

  /**
   * What the reader knew: the answer seen, its start, and the saved state of the case.
   *
   * @param {Answer} answer
   * @returns {Context}
   */
  #context(answer = null, caseId = this.pad.case.case) {
    const seen = this.pad.known.get(caseId)?.revision ?? 0;
    return answer === null ? { seen } : { seen, shown: answer.shown, began: beginningOf(answer) };
  }

  #add(entry, { undoable = true } = {}) {
    const { pad } = this;
    if (pad.turning) pad.frame.say(NOT_HERE);
    if (pad.locked || pad.turning || (pad.held && entry.kind !== "skip")) return false;
    const was = valueAt(pad.record(), entry);
    if (was === entry.value) return true;
    const answer = pad.case.answers.find(({ slot }) => slot === entry.slot) ?? null;
    const about = { case: pad.case.case, picture: null, slot: null, subject: null };
    outbox.add({ ...about, ...this.#context(answer), ...entry, was });
    if (undoable) this.done.push({ entry, was });
    return true;
  }

  #score(/** @type {Row} */ row, value) {
    this.#add({ ...aboutRow(row), field: "score", value });
  }

  score(/** @type {Row} */ row, value) {
    this.pad.selection.select(row);
    this.#score(row, value);
    this.pad.refresh();
  }

  /** A key: score the marked row and go to the next. */
  scoreHere(value) {
    const { pad } = this;
    const { row } = pad.selection;
    if (pad.locked) return;
    if (!row) {
      pad.frame.say(tr("No row is selected. ↑ or ↓ selects one to change."));
      return;
    }
    if (pad.turning) {
      pad.frame.say(NOT_HERE);
      return;
    }
    if (pad.held) {
      pad.frame.say(SEEN_UNBLINDED);
      return;
    }
    this.#score(row, value);
    if (value !== null) {
      pad.selection.goOnFrom(row);
      const { needed, given } = counted(pad.case, pad.record());
      if (needed > 0 && needed === given) pad.frame.say(tr("All scored. j: next case"));
    }
    pad.refresh();
  }

  flag(/** @type {Answer} */ { slot }, failure) {
    const value = this.pad.record().flags[flagKey(slot, failure)] !== true;
    this.#add({ kind: "verdict", slot, subject: failure, field: "verdict", value });
    this.pad.refresh();
  }

  /** Confirm an entry on an earlier version of an answer for the current text. */
  confirm(/** @type {AnswerView} */ view) {
    const record = this.pad.record();
    for (const row of view.rows) {
      const { score, earlier } = record.scores[row.key] ?? {};
      if (earlier && !score) this.#score(row, earlier);
    }
    for (const { failure } of view.flags) {
      const key = flagKey(view.answer.slot, failure);
      if (record.earlierFlags.includes(key) && !(key in record.flags))
        this.flag(view.answer, failure);
    }
    this.pad.refresh();
  }

  skip(reason) {
    if (!this.#add({ kind: "skip", field: "reason", value: reason })) return;
    this.pad.refresh();
    if (reason !== null) this.pad.turn("next");
  }

  undo() {
    const { pad } = this;
    const last = this.done.pop();
    if (!last) {
      pad.frame.say(tr("Nothing to undo in this case"));
      return;
    }
    const { slot, subject, picture } = last.entry;
    this.#add({ ...last.entry, value: last.was }, { undoable: false });
    const row = pad.rows.find(
      ({ answer, item }) =>
        answer.slot === slot && item.dimension === subject && item.picture === picture,
    );
    if (row) pad.selection.goTo(row);
    pad.frame.say(tr("Undone"));
    pad.refresh();
  }

  // --- comments on scores --------------------------------------------------------------------------

  /** The known state when somebody starts to type. */
  began(/** @type {Row} */ row) {
    return this.#context(row.answer, row.caseId);
  }

  keepDraft(/** @type {Row} */ row, text, was, /** @type {Context} */ context) {
    const draft = { ...aboutRow(row), text, was, ...context };
    outbox.keepTyped(`${row.caseId}/${row.key}`, draft);
  }

  writeComment(/** @type {Row} */ row, text, was, /** @type {Context} */ context) {
    const { caseId, key } = row;
    if (text !== was && !this.pad.known.get(caseId)?.revealed) {
      const entry = { ...aboutRow(row), field: "comment", value: text };
      outbox.add({ ...entry, was, ...context });
      if (caseId === this.pad.case.case) this.done.push({ entry, was });
    }
    outbox.dropTyped(`${caseId}/${key}`);
  }

  /** Text that was being typed when the page ended becomes an entry now. */
  takeDrafts() {
    for (const [key, { text, was, kind, ...about }] of outbox.drafts.all(outbox.owner)) {
      if ((kind ?? "score") !== "score" || typeof text !== "string") continue;
      if (text !== was) outbox.add({ kind: "score", field: "comment", value: text, was, ...about });
      outbox.drafts.drop(key);
    }
  }

  // --- reveals, which are recorded
  // -----------------------------------------------------------------

  #reveal(subject) {
    const about = { case: this.pad.case.case, kind: "reveal", subject, ...this.#context() };
    outbox.add({ ...about, value: true, was: false });
  }

  /** Score a case although it was seen with its models named. */
  accept() {
    this.#reveal("unblinded");
    this.pad.refresh();
  }

  /** Show the report; if that is recorded, ask first. */
  report() {
    const { frame, sheets } = this.pad;
    const { state } = this.pad.case.report;
    if (state === "never") frame.say(tr("In this study the report is not shown"));
    else if (state === "shown") frame.toggleReport();
    else sheets.report();
  }

  fetchReport() {
    this.#reveal("report");
    this.pad.frame.say(tr("Fetching the report…"));
    this.reportWanted = true;
  }

  nameModels(all) {
    this.pad.commit();
    this.#reveal(all ? "all models" : "models");
  }
}

// The verdicts that the visitor has given: entries of the outbox, drafts of reasons, and reports to the
// page of those that are not saved. A failure in words stands among the others as "written:NAME"; that
// an answer has it is an entry of a kind of its own, of the words that were read.

import { outbox } from "../web/saving/assets/outbox.js";
import { noteSeen } from "../web/saving/assets/seen_cases.js";
import { FailureItems } from "./failure_items.js";

/** @import { Tell } from "../web/components/events.js" */

const NOTHING_UNSAVED = "[0,[]]";
const KINDS = ["verdict", "written_mark"];
const WRITTEN = "written:";

/** @typedef {{model: string, failure?: string, verdict?: string, reason?: string, anew?: boolean}} About */

/** The kind of entry about a failure, and its subject. */
function entryAbout(/** @type {string} */ failure) {
  if (!failure.startsWith(WRITTEN)) return { kind: "verdict", subject: failure };
  return { kind: "written_mark", subject: failure.slice(WRITTEN.length) };
}

/** What an entry says: of a failure in words in which version of these, nothing where it is taken back. */
function entryValue(/** @type {string} */ kind, { verdict, comment, version }) {
  if (kind === "verdict") return { verdict, comment };
  return verdict ? { version, comment } : null;
}

class GivenVerdicts {
  constructor() {
    this.data = null; // from the page
    /** @type {Tell} */
    this.tell = () => {};
    this.items = new FailureItems();
    this.given = new Map(); // "case/model/failure" -> what was given since the page was loaded
    this.saved = 0; // verdicts that the server has answered to
    this.answered = 0; // revision of the last answer
    this.begins = false; // no data has come since the page is shown
    this.reported = NOTHING_UNSAVED; // the last report to the page, as a key
    this.nameGiven = ""; // the name that the page was told and does not know yet
  }

  /** The page is shown anew, with what the server knew when it was asked. */
  begin() {
    this.begins = true;
  }

  update(data, /** @type {Tell} */ tell) {
    this.data = data;
    this.tell = tell;
    if (data.named || data.nameProblem) this.nameGiven = "";
    outbox.configure(data.outbox);
    if (!this.isNamed) noteSeen([data.case]); // the page can only record it under a name
    if (this.begins && outbox.isPast(data.revision)) this.refresh();
    this.begins = false;
    if (!this.isBehind && this.unsaved.length === 0) this.given.clear();
  }

  get unsaved() {
    return outbox.pendingHere(...KINDS);
  }

  get returned() {
    return outbox.returnedHere(...KINDS);
  }

  /** Those on one failure of an answer that were not taken: [key, entry]. */
  returnedOf(/** @type {About} */ { model, failure }) {
    const about = { case: this.data.case, slot: model, ...entryAbout(failure) };
    const isOf = (one) => Object.entries(about).every(([name, value]) => one[name] === value);
    return this.returned.filter(([, one]) => isOf(one));
  }

  /** Whether the page shows what stood before the server's last answer. */
  get isBehind() {
    return this.data.revision < this.answered;
  }

  get isNamed() {
    return this.data.named || outbox.ticket !== null;
  }

  #key(/** @type {About} */ { model, failure }) {
    return `${this.data.case}/${model}/${failure}`;
  }

  /** The verdict on a failure: what was given last, or what the page shows. */
  current(/** @type {About} */ about) {
    const shown = this.items.buttonsOf(`${about.model}/${about.failure}`)?.dataset;
    const onPage = {
      verdict: shown?.rxMine || null,
      comment: shown?.rxReason || null,
      version: shown?.rxVersion || null,
    };
    return this.given.get(this.#key(about)) ?? onPage;
  }

  /** The reason that goes with a mark in words when it is made again, of other words. */
  reasonKept(/** @type {About} */ about) {
    return isWritten(about.failure) ? (this.current(about).comment ?? "") : "";
  }

  add(/** @type {About} */ { model, failure, verdict, reason = "", anew = false }) {
    const { data } = this;
    const about = { case: data.case, slot: model, shown: data.answers[model]?.shown ?? null };
    const before = this.current({ model, failure });
    const now = {
      verdict: verdict || null,
      comment: (verdict && reason) || null,
      // another reason does not say that newer words were read
      version:
        (!anew && before.verdict && before.version) || data.versions[failure] || before.version,
    };
    this.given.set(this.#key({ model, failure }), now);
    const named = entryAbout(failure);
    const [value, was] = [now, before].map((one) => entryValue(named.kind, one));
    const refused = this.returnedOf({ model, failure });
    if (refused.length > 0) outbox.putAway(refused.map(([key]) => key)); // it is given anew
    outbox.add({ ...about, ...named, value, was, seen: data.revision });
  }

  /** Failures that can be added to an answer: those that are not listed yet. */
  addable(model) {
    const there = new Set(this.items.all.map((one) => one.dataset.rxItem));
    const { failures = [] } = this.data.answers[model] ?? {};
    const isKnown = (failure) => Object.hasOwn(this.data.failures, failure); // written since, it is not
    return failures.filter((one) => isKnown(one) && !there.has(`${model}/${one}`));
  }

  // --- reasons that are being typed ----------------------------------------------------------------

  /** The reason that was being typed; that of a failure to be added has no failure yet. */
  draft(/** @type {About} */ { model, failure = "+" }) {
    return outbox.drafts.get(outbox.owner, this.#reason(model, failure))?.text ?? null;
  }

  keepDraft(/** @type {About} */ { model, failure = "+" }, text) {
    const name = this.#reason(model, failure);
    if (text === null) outbox.dropTyped(name);
    else outbox.keepTyped(name, { kind: "verdict", text });
  }

  /** The field of a reason is gone from the page; what was typed in it stays a draft. */
  leaveDraft(/** @type {About} */ { model, failure = "+" }) {
    outbox.leaveTyped(this.#reason(model, failure));
  }

  isTyped(/** @type {About} */ { model, failure = "+" }) {
    return outbox.typing.has(this.#reason(model, failure));
  }

  #reason(model, failure) {
    return `reason/${this.#key({ model, failure })}`;
  }

  // --- what the page is told -----------------------------------------------------------------------

  /** Tell the page the name, until it knows it. */
  giveName(name) {
    this.nameGiven = name;
    this.tell("name", name);
  }

  /** Tell the page what is not saved: when that is for longer, and when something was saved. */
  tellUnsaved() {
    // while the page runs, what it is told last takes the place of what it was told before
    if (this.nameGiven) return;
    const entries = this.unsaved;
    if (entries.length > 0 && outbox.ticket !== null && outbox.reason === null) return;
    const key = JSON.stringify([this.saved, entries.map(({ token }) => token)]);
    if (key === this.reported) return;
    this.reported = key;
    this.tell("unsaved", { set: this.data.set, key, entries });
  }

  /** Tell it again: what is told while the page runs anew can be lost. */
  tellAgain() {
    if (this.nameGiven && this.isNamed) this.nameGiven = ""; // known by another part of the page
    if (this.nameGiven) return this.giveName(this.nameGiven);
    if (this.reported === (this.data.unsavedKey ?? NOTHING_UNSAVED)) return undefined;
    this.reported = null;
    return this.tellUnsaved();
  }

  /** Have the page hand out new data. */
  refresh() {
    if (this.nameGiven) return this.giveName(this.nameGiven);
    this.reported = null;
    return this.tell("unsaved", { set: this.data.set, key: null, entries: this.unsaved });
  }

  /** The server has answered to a batch of entries. */
  heard(reply, batch) {
    for (const { kind, token } of batch) {
      if (!KINDS.includes(kind)) continue;
      this.saved += 1;
      this.answered = reply.revision;
      if (!reply.saved.includes(token)) this.given.clear(); // the page knows better
    }
  }
}

/** Whether a failure is one in words. */
export function isWritten(/** @type {string} */ failure) {
  return failure.startsWith(WRITTEN);
}

/** Those of the page, whichever case it shows. */
export const verdicts = new GivenVerdicts();

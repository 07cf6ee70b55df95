// The visitor's verdicts: entries of the outbox, drafts of reasons, and reports of unsaved ones to
// the
// page. A written failure is named "written:NAME" among the others. Its mark on an answer is an
// entry of
// its own kind, for the version of the text that was read.

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

/** The value of an entry; for a written failure its version, nothing if it is withdrawn. */
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
    this.given = new Map(); // "case/model/failure" -> entries since the page was loaded
    this.saved = 0; // number of verdicts that the server has replied to
    this.answered = 0; // revision of the last reply
    this.begins = false; // no data have arrived since the page is shown
    this.reported = NOTHING_UNSAVED; // the last report to the page, as a key
    this.nameGiven = ""; // the name that was sent to the page and that it does not know yet
  }

  /** The page is shown again, with the server's state at its request. */
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

  /** Refused entries on one failure of an answer: [key, entry]. */
  returnedOf(/** @type {About} */ { model, failure }) {
    const about = { case: this.data.case, slot: model, ...entryAbout(failure) };
    const isOf = (one) => Object.entries(about).every(([name, value]) => one[name] === value);
    return this.returned.filter(([, one]) => isOf(one));
  }

  /** Whether the page shows the state before the server's last reply. */
  get isBehind() {
    return this.data.revision < this.answered;
  }

  get isNamed() {
    return this.data.named || outbox.ticket !== null;
  }

  #key(/** @type {About} */ { model, failure }) {
    return `${this.data.case}/${model}/${failure}`;
  }

  /** The verdict on a failure: the last entry, or the page's value. */
  current(/** @type {About} */ about) {
    const shown = this.items.buttonsOf(`${about.model}/${about.failure}`)?.dataset;
    const onPage = {
      verdict: shown?.rxMine || null,
      comment: shown?.rxReason || null,
      version: shown?.rxVersion || null,
    };
    return this.given.get(this.#key(about)) ?? onPage;
  }

  /** The reason of a mark of a written failure when it is repeated for a newer text. */
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
      // another reason does not mean that newer text was read
      version:
        (!anew && before.verdict && before.version) || data.versions[failure] || before.version,
    };
    this.given.set(this.#key({ model, failure }), now);
    const named = entryAbout(failure);
    const [value, was] = [now, before].map((one) => entryValue(named.kind, one));
    const refused = this.returnedOf({ model, failure });
    if (refused.length > 0) outbox.putAway(refused.map(([key]) => key)); // it is entered again
    outbox.add({ ...about, ...named, value, was, seen: data.revision });
  }

  /** Failures that can be added to an answer: those that are not listed yet. */
  addable(model) {
    const there = new Set(this.items.all.map((one) => one.dataset.rxItem));
    const { failures = [] } = this.data.answers[model] ?? {};
    const isKnown = (failure) => Object.hasOwn(this.data.failures, failure); // written since, it is not
    return failures.filter((one) => isKnown(one) && !there.has(`${model}/${one}`));
  }

  // --- drafts of reasons
  // ---------------------------------------------------------------------------

  /** The draft of a reason; that of a failure to be added has no failure yet. */
  draft(/** @type {About} */ { model, failure = "+" }) {
    return outbox.drafts.get(outbox.owner, this.#reason(model, failure))?.text ?? null;
  }

  keepDraft(/** @type {About} */ { model, failure = "+" }, text) {
    const name = this.#reason(model, failure);
    if (text === null) outbox.dropTyped(name);
    else outbox.keepTyped(name, { kind: "verdict", text });
  }

  /** The field of a reason is no longer on the page; its text remains a draft. */
  leaveDraft(/** @type {About} */ { model, failure = "+" }) {
    outbox.leaveTyped(this.#reason(model, failure));
  }

  isTyped(/** @type {About} */ { model, failure = "+" }) {
    return outbox.typing.has(this.#reason(model, failure));
  }

  #reason(model, failure) {
    return `reason/${this.#key({ model, failure })}`;
  }

  // --- reports to the page
  // -------------------------------------------------------------------------

  /** Send the page the name, until it knows it. */
  giveName(name) {
    this.nameGiven = name;
    this.tell("name", name);
  }

  /** Report unsaved entries to the page after a while, and again when something was saved. */
  tellUnsaved() {
    // while the page runs, a later report replaces an earlier one
    if (this.nameGiven) return;
    const entries = this.unsaved;
    if (entries.length > 0 && outbox.ticket !== null && outbox.reason === null) return;
    const key = JSON.stringify([this.saved, entries.map(({ token }) => token)]);
    if (key === this.reported) return;
    this.reported = key;
    this.tell("unsaved", { set: this.data.set, key, entries });
  }

  /** Repeat the report: one sent while the page reruns can be lost. */
  tellAgain() {
    if (this.nameGiven && this.isNamed) this.nameGiven = ""; // known by another part of the page
    if (this.nameGiven) return this.giveName(this.nameGiven);
    if (this.reported === (this.data.unsavedKey ?? NOTHING_UNSAVED)) return undefined;
    this.reported = null;
    return this.tellUnsaved();
  }

  /** Request new data from the page. */
  refresh() {
    if (this.nameGiven) return this.giveName(this.nameGiven);
    this.reported = null;
    return this.tell("unsaved", { set: this.data.set, key: null, entries: this.unsaved });
  }

  /** The server has replied to a batch of entries. */
  heard(reply, batch) {
    for (const { kind, token } of batch) {
      if (!KINDS.includes(kind)) continue;
      this.saved += 1;
      this.answered = reply.revision;
      if (!reply.saved.includes(token)) this.given.clear(); // the page has the current state
    }
  }
}

/** Whether a failure is a written one. */
export function isWritten(/** @type {string} */ failure) {
  return failure.startsWith(WRITTEN);
}

/** The verdicts of the page, for any case that it shows. */
export const verdicts = new GivenVerdicts();

// The experts' sample of multiple choice questions: each is passed, or gets its defects, by key or
// click.
// A judgment of a question is one entry with the whole new value.

import { CountedPad } from "../../../pad/assets/counted_pad.js";
import { STUDIES } from "../../../pad/assets/task_words.js";
import { html } from "../../../web/components/dom.js";
import { mounting } from "../../../web/components/mount.js";
import { tr } from "../../../web/components/words.js";
import { Question } from "./question.js";
import { drawShares } from "./shares.js";

/** @import { SampleData, Word } from "./types.d.ts" */

const WORDS = { page: "curate page", kinds: ["validate"], items: STUDIES };
const HINT = tr("↑ ↓ question · y good · 1–8 what is wrong · e comment · u undo · j next study");
const NOTHING = { passed: null, defect: null, comment: null };

export class Sample extends CountedPad {
  constructor(place) {
    super(place, WORDS, "rx-sample", HINT);
    /** @type {SampleData} */
    this.data = null;
    /** @type {Map<string, Question>} */
    this.questions = new Map();
    this.chosen = null; // id of the question in focus
    this.list = html("ol", { class: "questions" });
    this.shares = html("section", { class: "shares", "aria-label": tr("Share of defects") });
    this.frame.body.append(this.list, this.shares);
  }

  update(/** @type {SampleData} */ data, tell) {
    super.update(data, tell);
    drawShares(this.shares, data.shares);
  }

  put(kept) {
    if (!kept) {
      for (const one of this.questions.values()) one.comment.close();
      this.questions.clear();
      this.chosen = null;
    }
    for (const one of this.case.content.questions) {
      const known = this.questions.get(one.id);
      if (known) known.put(one);
      else this.questions.set(one.id, new Question(this, one));
    }
    const ids = this.case.content.questions.map(({ id }) => id);
    if (!ids.includes(this.chosen))
      this.chosen = ids.find((id) => this.wordOn(id) === null) ?? ids[0] ?? null;
    this.list.replaceChildren(...ids.map((id) => this.questions.get(id).root));
  }

  /** @returns {Word | null} the person's judgment of a question, null for none. */
  wordOn(id) {
    const rows = this.record().rows[id] ?? {};
    const { given } = this.questions.get(id).data;
    return (Object.hasOwn(rows, "validate") ? rows.validate : given.validate) ?? null;
  }

  draw(_record) {
    for (const [id, question] of this.questions) question.draw(this.wordOn(id), id === this.chosen);
  }

  withEntry(record, { subject, kind, value }) {
    const rows = { ...record.rows, [subject]: { ...record.rows[subject], [kind]: value } };
    return { ...record, rows };
  }

  told({ value }) {
    if (!value) return tr("Taken back");
    const word = value.passed ? tr("Good") : (this.data.words.defects[value.defect] ?? "");
    return [word, value.comment].filter(Boolean).join(": ");
  }

  again(entry) {
    const here = entry.case === this.case.case && this.questions.has(entry.subject);
    return here ? () => this.give(entry.subject, entry.value) : null;
  }

  give(id, value, undone = false) {
    const was = this.wordOn(id);
    if (JSON.stringify(was) === JSON.stringify(value)) return;
    this.add({ kind: "validate", subject: id, value, was });
    if (!undone) this.undoable.push({ study: this.case.case, id, was });
    this.refresh();
  }

  /** Mark the current question as good, or a defect; the same again withdraws it. */
  judge(passed, defect = null) {
    if (this.chosen === null) return;
    const now = this.wordOn(this.chosen) ?? NOTHING;
    const again = now.passed === passed && now.defect === defect;
    const word = again ? { passed: null, defect: null } : { passed, defect };
    const value = { ...now, ...word };
    this.give(this.chosen, again && !value.comment ? null : value);
    if (!again && passed) this.#onward(); // a comment may follow a defect
  }

  comment(id, text) {
    const value = { ...(this.wordOn(id) ?? NOTHING), comment: text.trim() || null };
    this.give(id, Object.values(value).every((one) => one === null) ? null : value);
  }

  undo() {
    const last = this.undoable.findLastIndex(({ study }) => study === this.case.case);
    if (last < 0) return this.say(tr("Nothing of this study to undo"));
    const [{ id, was }] = this.undoable.splice(last, 1);
    this.chosen = id;
    this.give(id, was, true);
    this.say(tr("Undone"));
    this.refresh();
  }

  #onward() {
    const ids = [...this.questions.keys()];
    const from = ids.indexOf(this.chosen) + 1;
    const next = [...ids.slice(from), ...ids].find((id) => this.wordOn(id) === null);
    if (next) this.go(next);
    else this.say(tr("All questions of this study are read: press n to continue"));
  }

  go(id) {
    if (!id || id === this.chosen) return;
    this.questions.get(this.chosen)?.comment.close();
    this.chosen = id;
    this.refresh();
    this.questions.get(id).root.scrollIntoView({ block: "nearest" });
  }

  move(by) {
    const ids = [...this.questions.keys()];
    this.go(ids[ids.indexOf(this.chosen) + by]);
  }

  commit() {
    for (const one of this.questions.values()) one.comment.close();
  }

  meaning({ key }) {
    const defect = Object.keys(this.data.words.defects)[Number(key) - 1];
    if (/^[1-9]$/.test(key) && defect) return () => this.judge(false, defect);
    const acts = {
      ArrowDown: () => this.move(1),
      ArrowUp: () => this.move(-1),
      y: () => this.judge(true),
      e: () => this.questions.get(this.chosen)?.comment.open(),
      u: () => this.undo(),
    };
    return Object.hasOwn(acts, key) ? acts[key] : null;
  }
}

export const mount = mounting((place) => new Sample(place));

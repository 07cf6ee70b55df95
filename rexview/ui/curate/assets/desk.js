// The desk of the Curate page: the candidates of one study, scored, tagged, edited, chosen or
// rejected by
// key or click. Each action is one entry about one candidate, with the whole new value. Later data
// of the
// page only fill in what was not written here.

import { CountedPad } from "../../pad/assets/counted_pad.js";
import { plain } from "../../pad/assets/task_frame.js";
import { NOT_HERE, STUDIES } from "../../pad/assets/task_words.js";
import { turning } from "../../turning/assets/turning.js";
import { html } from "../../web/components/dom.js";
import { mounting } from "../../web/components/mount.js";
import { tr } from "../../web/components/words.js";
import { outbox } from "../../web/saving/assets/outbox.js";
import { Card } from "./card.js";
import { Coverage } from "./coverage.js";
import { HINT, keyList, meaningOf } from "./keys.js";
import { OpenForm } from "./open_form.js";
import { Scoring } from "./scoring.js";
import { changed, latestOf, questionOf, same, selectOf, withOwn } from "./values.js";

/** @import { Candidate, DeskData, DeskOwn } from "./types.d.ts" */

const WORDS = { page: "curate page", kinds: ["propose", "select", "rate", "tag"], items: STUDIES };
const NEWS_MS = 10_000; // milliseconds between two checks for others' changes

export class Desk extends CountedPad {
  constructor(place) {
    super(place, WORDS, "rx-desk", HINT);
    /** @type {DeskData} */
    this.data = null;
    /** @type {Map<string, Card>} */
    this.cards = new Map();
    this.chosen = null; // id of the candidate in focus
    this.scoring = new Scoring(this);
    this.form = new OpenForm(this);
    this.list = html("ol", { class: "candidates" });
    this.none = html(
      "p",
      { class: "none" },
      tr("No question was proposed for this study. Press w to write one."),
    );
    this.own = html("div", { class: "own" });
    this.write = plain(html("span", {}, tr("Write one"), " ", html("kbd", {}, "w")), () =>
      this.form.write(),
    );
    this.keys = keyList();
    this.coverage = new Coverage();
    this.frame.body.append(this.keys, this.list, this.none, this.own, this.write);
    this.frame.feet.before(this.coverage.root);
    this.news = setInterval(() => document.hidden || outbox.ask(), NEWS_MS);
  }

  close() {
    clearInterval(this.news);
    super.close();
  }

  update(/** @type {DeskData} */ data, tell) {
    this.coverage.update(data);
    super.update(data, tell);
  }

  // --- content -----------------------------------------------------------------------------------

  /** @returns {DeskOwn} */
  get written() {
    return /** @type {DeskOwn} */ (this.record());
  }

  rowsOf(/** @type {Candidate} */ candidate) {
    return this.written.rows[candidate.id] ?? {};
  }

  candidates(/** @type {DeskOwn} */ record) {
    return withOwn(this.case.content.candidates, record.rows);
  }

  put(kept) {
    if (!kept) {
      this.form.clear();
      this.cards.clear();
      this.scoring.begin();
      this.chosen = null;
    }
    const record = this.written;
    for (const one of this.candidates(record)) this.cardOf(one).put(one);
    const here = this.candidates(record);
    if (!here.some(({ id }) => id === this.chosen)) {
      const open = here.find((one) => selectOf(one, record.rows[one.id]).decision === null);
      this.chosen = (open ?? here[0])?.id ?? null;
    }
    if (!kept) this.form.reopen(here);
  }

  cardOf(/** @type {Candidate} */ candidate) {
    const card = this.cards.get(candidate.id) ?? new Card(this, candidate);
    this.cards.set(candidate.id, card);
    return card;
  }

  draw(/** @type {DeskOwn} */ record) {
    const here = this.candidates(record);
    const cards = here.map((one) => this.cardOf(one));
    const roots = cards.map(({ root }) => root);
    const listed = [...this.list.children];
    if (roots.length !== listed.length || roots.some((root, place) => root !== listed[place]))
      this.list.replaceChildren(...roots);
    cards.forEach((card, place) => {
      card.draw(record.rows[card.candidate.id] ?? {}, card.candidate.id === this.chosen, place + 1);
    });
    this.none.hidden = here.length > 0;
    this.coverage.draw(this.case.case, here, this.#counted.rows, record.rows);
  }

  /** The study as in the page's counts: prefetched data can be older than these. */
  get #counted() {
    const known = this.known.get(this.case.case);
    const isOlder = known.revision <= this.data.case.own.revision;
    return /** @type {DeskOwn} */ (isOlder ? known : this.case.own);
  }

  /** The card in focus. */
  get card() {
    return this.cards.get(this.chosen) ?? null;
  }

  get candidate() {
    return this.card?.candidate ?? null;
  }

  isOwn(/** @type {Candidate} */ candidate) {
    return candidate.id.startsWith("o-") && Boolean(this.rowsOf(candidate).propose);
  }

  /** Why a question cannot be chosen with its current text; null if the server has to decide. */
  blockedReason(/** @type {Candidate} */ candidate, rows) {
    return questionOf(candidate, rows) === candidate.judged ? candidate.blocked : null;
  }

  withEntry(record, { subject, kind, value }) {
    const rows = { ...record.rows, [subject]: { ...record.rows[subject], [kind]: value } };
    return { ...record, rows };
  }

  told({ kind, value }) {
    const { decision, question, boxes_question: boxes, comment } = value;
    if (kind === "propose") return question;
    if (kind === "select") return [decision, question, boxes, comment].filter(Boolean).join(" · ");
    if (kind === "tag") return Object.values(value.tags).flat().join(", ");
    return Object.values(value).filter(Number.isInteger).join(", ");
  }

  /** Save a refused entry in place of the stored value, which its writer has seen by now. */
  again(entry) {
    const card = entry.case === this.case.case ? this.cards.get(entry.subject) : null;
    return card ? () => this.give(entry.kind, entry.value, card.candidate) : null;
  }

  // --- entries -----------------------------------------------------------------------------------

  /** Whether an entry was made: not if the value is unchanged or another study is waited for. */
  give(kind, wanted, candidate = this.candidate) {
    const value = kind === "rate" ? this.scoring.marked(wanted, candidate) : wanted;
    const was = this.#standing(candidate, kind);
    if (same(was, value) || !this.add({ kind, subject: candidate.id, value, was })) return false;
    this.undoable.push({ study: this.case.case, candidate, kind, given: value, was });
    this.refresh();
    return true;
  }

  #standing(/** @type {Candidate} */ candidate, kind) {
    const rows = this.rowsOf(candidate);
    return kind === "propose" ? (rows.propose ?? null) : latestOf(candidate, kind, rows);
  }

  undo() {
    const last = this.undoable.findLastIndex(({ study }) => study === this.case.case);
    if (last < 0) return this.say(tr("Nothing of this study to undo"));
    if (turning.waits) return this.say(NOT_HERE);
    const [{ candidate, kind, given, was }] = this.undoable.splice(last, 1);
    this.chosen = candidate.id;
    const isOurs = same(this.#standing(candidate, kind), given);
    if (isOurs && this.give(kind, was, candidate)) this.undoable.pop();
    this.say(isOurs ? tr("Undone") : tr("Changed meanwhile: not undone"));
    this.refresh();
  }

  decide(/** @type {"chosen" | "rejected"} */ decision) {
    if (!this.candidate) return;
    const rows = this.rowsOf(this.candidate);
    const again = selectOf(this.candidate, rows).decision === decision;
    const reason = again ? null : this.blockedReason(this.candidate, rows);
    if (decision === "chosen" && reason)
      return this.say(tr("Cannot be chosen: {reason}", { reason }));
    if (this.select({ decision: again ? null : decision }))
      this.say(again ? tr("Open again") : decision === "chosen" ? tr("Chosen") : tr("Rejected"));
  }

  takeBack() {
    if (this.give("propose", null)) this.say(tr("Withdrawn: press u to restore it"));
  }

  toggleHistory() {
    if (this.card) this.card.past.hidden = !this.card.past.hidden;
  }

  // --- typed text --------------------------------------------------------------------------------

  commit() {
    this.form.commit();
  }

  edit() {
    if (this.card) this.form.edit(this.card);
  }

  editTags() {
    if (this.card) this.form.tag(this.card);
  }

  /** Change fields of the decision on a candidate. */
  select(changes, candidate = this.candidate) {
    const select = selectOf(candidate, this.rowsOf(candidate));
    return this.give("select", changed(select, changes), candidate);
  }

  meaning(event) {
    return meaningOf(this, event);
  }

  isFinished(worklist) {
    return this.data.whole && super.isFinished(worklist);
  }

  // --- moving ------------------------------------------------------------------------------------

  go(/** @type {Card} */ card) {
    if (card === this.card) return;
    this.form.close();
    this.chosen = card.candidate.id;
    this.scoring.begin();
    this.refresh();
    card.root.scrollIntoView({ block: "nearest" });
  }

  move(by) {
    const cards = [...this.list.children].map((root) =>
      [...this.cards.values()].find((card) => card.root === root),
    );
    const card = cards[cards.indexOf(this.card) + by];
    if (card) this.go(card);
  }
}

export const mount = mounting((place) => new Desk(place));

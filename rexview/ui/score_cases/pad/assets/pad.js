// The score pad as a whole: what a reader sees and says of one case.
//
// What the reader says goes to the server by the outbox, not through the page's script; only which
// case is shown ("go"), and the wish for new data ("refresh"), do.

import { set } from "../../../components/dom.js";
import { listenToPage, tellPage } from "../../../components/events.js";
import { mounting } from "../../../components/mount.js";
import { AnswerView } from "./answer.js";
import { Frame } from "./frame.js";
import { Keys } from "./keys.js";
import { Outbox } from "./outbox.js";
import { Renewal } from "./renewal.js";
import { beginningOf, Returned } from "./returned.js";
import { Selection } from "./selection.js";
import { Sheets } from "./sheets.js";
import { counted, fits, flagKey, scoreKey, stateOf, valueAt, withEntries } from "./words.js";

/** @import { Tell } from "../../../components/events.js" */
/** @import { Row } from "./answer.js" */
/** @import { Own, PadCase, PadData } from "./types.d.ts" */

const BESIDE_FROM_PX = 1000; // answers stand side by side from this width on
/** @type {("next" | "previous")[]} */
const DIRECTIONS = ["next", "previous"];
const PATIENCE_MS = 20_000; // then what the page shows counts again, whatever it is

export class Pad {
  constructor(/** @type {HTMLElement} */ place) {
    /** @type {PadData} */
    this.data = null;
    /** @type {PadCase} */
    this.case = null;
    /** @type {AnswerView[]} */
    this.views = [];
    /** @type {Row[]} */
    this.rows = [];
    /** @type {Map<string, Own>} */
    this.known = new Map(); // case -> what the server last said of it
    this.done = []; // what can be undone, of the case shown
    this.awaited = null; // the case that the page was asked for
    this.pictured = null; // the case that the picture shows
    this.selection = new Selection(this);
    this.sheets = new Sheets(this);
    this.returned = new Returned(this);
    this.frame = new Frame(this);
    this.root = this.frame.root;
    place.append(this.root);
    this.outbox = new Outbox({
      changed: () => this.refresh(),
      heard: (told, batch) => this.#heard(told, batch),
      renew: () => this.renewal.begin(),
    });
    this.renewal = new Renewal(this);
    this.keys = new Keys(this);
    this.observer = new ResizeObserver(() => this.#layout());
    this.observer.observe(this.root);
    this.abort = new AbortController();
    const { signal } = this.abort;
    window.addEventListener("pagehide", () => this.settle(), { signal });
    listenToPage("painted", (picture) => this.#painted(picture.case), signal);
  }

  close() {
    this.settle();
    this.renewal.close();
    this.outbox.close();
    this.keys.close();
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
    this.outbox.configure(data);
    this.renewal.came(data);
    for (const one of [data.case, ...Object.values(data.ahead)]) this.#learn(one.case, one.own);
    if (first) this.#takeDrafts();
    const late = this.awaited && this.awaited.case !== data.case.case;
    if (late && performance.now() < this.awaited.until) {
      this.refresh();
      return;
    }
    this.awaited = null;
    this.#show(data.case);
  }

  /** Take over how a case stands, unless something newer is known. */
  #learn(caseId, own) {
    const before = this.known.get(caseId);
    if (!before || own.revision >= before.revision) this.known.set(caseId, own);
  }

  #show(padCase) {
    const same = this.case?.case === padCase.case;
    const text = JSON.stringify({ ...padCase, own: null });
    this.outbox.asked = padCase.case;
    if (same && text === this.shown) {
      this.refresh();
      return;
    }
    this.settle();
    const other = same && !fits(this.case.own, padCase);
    this.shown = text;
    this.case = padCase;
    this.views = padCase.answers.map((answer) => new AnswerView(this, answer));
    this.rows = this.views.flatMap(({ rows }) => rows);
    this.frame.show(padCase, this.views);
    if (other)
      this.frame.complain("The answers to this case were changed. You now see them as they are.");
    if (!same || other) {
      this.done = [];
      this.frame.say("");
      this.selection.begin();
    }
    this.#layout();
    this.refresh();
  }

  /** What the reader has said of a case, with what is still on its way. */
  own(caseId = this.case.case) {
    const known = this.known.get(caseId);
    const padCase = caseId === this.case.case ? this.case : this.data.ahead[caseId];
    const sent = known && fits(known, padCase) ? known : padCase.own;
    const names = new Set(padCase.answers.map(({ shown }) => shown));
    return withEntries(
      sent,
      this.outbox
        .pending()
        .filter((entry) => entry.case === caseId && (!entry.slot || names.has(entry.shown))),
    );
  }

  /** What an entry says of where the reader was: the answer that was seen, and what was known. */
  #seen(answer = null, caseId = this.case.case) {
    const seen = this.known.get(caseId)?.revision ?? 0;
    return answer === null ? { seen } : { seen, shown: answer.shown, began: beginningOf(answer) };
  }

  /** Whether another case was asked for and is not here yet: what is pressed now is for that one. */
  get turning() {
    const { awaited } = this;
    return awaited !== null && awaited.case !== this.case.case && performance.now() < awaited.until;
  }

  get locked() {
    return this.known.get(this.case.case)?.revealed === true;
  }

  /** Whether the reader saw the case with its models named and has not said to score it. */
  get held() {
    const seen = this.case && this.own().seen?.unblinded;
    return Boolean(seen) && !seen.accepted;
  }

  /** Score a case that was seen with its models named all the same; that is recorded. */
  accept() {
    const entry = { case: this.case.case, kind: "reveal", subject: "unblinded", ...this.#seen() };
    this.outbox.add({ ...entry, value: true, was: false });
    this.refresh();
  }

  stateHere() {
    return stateOf(this.case, this.own());
  }

  keyOf(slot, item) {
    return scoreKey(slot, item);
  }

  dimension(id) {
    return this.data.rubric.find((one) => one.id === id);
  }

  // --- what the reader does ----------------------------------------------------------------------

  #say(entry, { undoable = true } = {}) {
    if (this.locked || this.turning || (this.held && entry.kind !== "skip")) return false;
    const was = valueAt(this.own(), entry);
    if (was === entry.value) return true;
    const answer = this.case.answers.find(({ slot }) => slot === entry.slot) ?? null;
    const about = {
      case: this.case.case,
      picture: null,
      slot: null,
      subject: null,
      ...this.#seen(answer),
    };
    this.outbox.add({ ...about, ...entry, was });
    if (undoable) this.done.push({ entry, was });
    return true;
  }

  #score(row, value) {
    const { dimension, picture } = row.item;
    const { slot } = row.answer;
    this.#say({ kind: "score", slot, subject: dimension, picture, field: "score", value });
  }

  score(row, value) {
    this.selection.select(row);
    this.#score(row, value);
    this.refresh();
  }

  /** A key: score the marked row and go on to the next. */
  scoreHere(value) {
    const row = this.selection.row;
    if (!row || this.locked || this.turning) return;
    if (this.held) {
      this.frame.say(
        "You have seen this case with the models named: say first that you go on, or skip it",
      );
      return;
    }
    this.#score(row, value);
    if (value === null) {
      this.refresh();
      return;
    }
    const next = this.rows[this.rows.indexOf(row) + 1];
    if (next) this.selection.goTo(next);
    const { needed, given } = counted(this.case, this.own());
    if (needed > 0 && needed === given) this.frame.say("All scored. n: next case");
    this.refresh();
  }

  flag(answer, failure) {
    const value = this.own().flags[flagKey(answer.slot, failure)] !== true;
    this.#say({ kind: "verdict", slot: answer.slot, subject: failure, field: "verdict", value });
    this.refresh();
  }

  /** Confirm what was given to an earlier text of an answer: it holds for this one, too. */
  confirm(view) {
    const own = this.own();
    for (const row of view.rows) {
      const { score, earlier } = own.scores[row.key] ?? {};
      if (earlier && !score) this.#score(row, earlier);
    }
    for (const { failure } of view.flags) {
      const key = flagKey(view.answer.slot, failure);
      if (own.earlierFlags.includes(key) && !(key in own.flags)) this.flag(view.answer, failure);
    }
    this.refresh();
  }

  /** What is known when somebody begins to type. */
  began(row) {
    return this.#seen(row.answer, row.caseId);
  }

  keepDraft(row, text, was, seen) {
    const { slot } = row.answer;
    const { dimension, picture } = row.item;
    const draft = { case: row.caseId, slot, subject: dimension, picture, text, was, ...seen };
    this.outbox.keepDraft(`${row.caseId}/${row.key}`, draft);
  }

  writeComment(row, text, was, seen) {
    const { slot } = row.answer;
    const { dimension, picture } = row.item;
    const entry = {
      kind: "score",
      slot,
      subject: dimension,
      picture,
      field: "comment",
      value: text,
    };
    const caseId = row.caseId;
    if (text !== was && !this.known.get(caseId)?.revealed) {
      this.outbox.add({ case: caseId, ...entry, was, ...seen });
      if (caseId === this.case.case) this.done.push({ entry, was });
    }
    this.outbox.dropDraft(`${caseId}/${row.key}`);
  }

  /** What was being typed when the page went away becomes an entry now. */
  #takeDrafts() {
    for (const [name, { text, was, ...about }] of this.outbox.drafts()) {
      if (text !== was)
        this.outbox.add({ kind: "score", field: "comment", value: text, was, ...about });
      this.outbox.dropDraft(name);
    }
  }

  /** Make entries of what is being typed. */
  settle() {
    for (const { rows } of this.views) for (const row of rows) row.settle();
  }

  undo() {
    const last = this.done.pop();
    if (!last) {
      this.frame.say("Nothing to undo in this case");
      return;
    }
    this.#say({ ...last.entry, value: last.was }, { undoable: false });
    const row = this.rows.find(
      ({ answer, item }) =>
        answer.slot === last.entry.slot &&
        item.dimension === last.entry.subject &&
        item.picture === last.entry.picture,
    );
    if (row) this.selection.goTo(row);
    this.frame.say("Undone");
    this.refresh();
  }

  skip(reason) {
    if (!this.#say({ kind: "skip", field: "reason", value: reason })) return;
    this.refresh();
    if (reason !== null) this.turn("next");
  }

  report() {
    const { report } = this.case;
    if (report.state === "never") this.frame.say("In this study the report is not shown");
    else if (report.state === "shown") this.frame.toggleReport();
    else this.sheets.report();
  }

  /** The report was asked for, and it was said that this is recorded. */
  fetchReport() {
    const entry = { case: this.case.case, kind: "reveal", subject: "report", ...this.#seen() };
    this.outbox.add({ ...entry, value: true, was: false });
    this.frame.say("Fetching the report…");
    this.wishes = "report";
  }

  reveal(all) {
    this.settle();
    const subject = all ? "all models" : "models";
    this.outbox.add({
      case: this.case.case,
      kind: "reveal",
      subject,
      ...this.#seen(),
      value: true,
      was: false,
    });
  }

  // --- moving ------------------------------------------------------------------------------------

  turn(direction) {
    const target = this.case[direction];
    if (target) this.go(target);
    else this.frame.say(direction === "next" ? "This is the last case" : "This is the first case");
  }

  goOn() {
    this.settle();
    this.tell("go", { case: "", at: Date.now() });
  }

  /** Show another case: at once if it is here, and ask the page to follow. */
  go(caseId) {
    if (caseId === this.case.case) return;
    this.settle();
    const direction = DIRECTIONS.find((one) => this.case[one] === caseId);
    const ahead = this.data.ahead[caseId];
    this.awaited = { case: caseId, until: performance.now() + PATIENCE_MS };
    if (ahead) {
      this.#show(ahead);
      if (direction) tellPage("turn", direction);
    }
    this.renewal.await(() => this.tell("go", { case: caseId, at: Date.now() }));
    this.refresh();
  }

  // --- from the server ---------------------------------------------------------------------------

  #heard(told, batch) {
    this.renewal.reached();
    for (const [caseId, own] of Object.entries(told.own ?? {})) {
      const before = this.known.get(caseId);
      this.#learn(caseId, own);
      const changed = before && (before.revealed !== own.revealed || before.report !== own.report);
      if (caseId === this.case.case && (changed || !fits(own, this.case))) this.#refreshPage();
    }
    this.countedAt = told.revision;
    this.#count(told.progress);
    for (const entry of this.data.worklist.entries) entry[1] = told.states[entry[0]] ?? entry[1];
    const byToken = new Map(batch.map((entry) => [entry.token, entry]));
    for (const [token, reason] of Object.entries(told.refused)) {
      const entry = byToken.get(token);
      if (entry?.kind === "reveal") this.frame.complain(`Not shown (${entry.case}): ${reason}`);
      else if (entry) this.returned.keep(entry, reason);
    }
    for (const [token, there] of Object.entries(told.replaced)) {
      const entry = byToken.get(token);
      if (!entry) continue;
      const what = entry.field === "comment" ? "another comment" : (there.score ?? "no score");
      this.returned.keep(entry, `Another window had saved ${what} there, which was kept.`);
    }
  }

  #count({ done, skipped, total }) {
    Object.assign(this.data.worklist, { done, skipped, total });
  }

  #refreshPage() {
    this.tell("refresh", Date.now());
  }

  /** Whether words are being entered that would be in the way of a reload. */
  get typing() {
    const active = document.activeElement;
    return this.sheets.open || Boolean(active?.closest("input, textarea"));
  }

  // --- drawing -----------------------------------------------------------------------------------

  #layout() {
    const beside = this.views.length > 1 && this.root.clientWidth >= BESIDE_FROM_PX;
    if (this.root.classList.contains("beside") === beside) return;
    this.root.classList.toggle("beside", beside);
  }

  /** Tell the picture whose boxes may be shown: those of the answer in hand, no others. */
  #tellPicture() {
    if (!this.case) return;
    tellPage("group", { case: this.case.case, group: this.selection.slot ?? null });
  }

  #painted(caseId) {
    this.#tellPicture(); // the picture may have come after the pad
    if (this.pictured === caseId) return;
    this.pictured = caseId;
    this.refresh();
  }

  refresh() {
    if (!this.case) return;
    const own = this.own();
    const { turning } = this;
    const locked = this.locked || this.held;
    const apart = this.case.pictures && this.pictured !== null && this.pictured !== this.case.case;
    this.root.classList.toggle("turning", turning || apart);
    for (const view of this.views) {
      view.refresh(own, {
        current: this.selection.key,
        locked,
        name: this.case.names?.[view.answer.slot],
      });
      set(view.node, { "data-active": view.answer.slot === this.selection.slot });
    }
    this.frame.refresh(own, this.selection.row);
    this.#tellPicture();
    this.returned.refresh();
    if (this.wishes === "report" && this.case.report.state === "shown") {
      this.wishes = null;
      this.frame.say("");
      this.frame.toggleReport(true);
    }
  }
}

export const mount = mounting((place) => new Pad(place));

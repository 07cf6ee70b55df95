// The form in which a meeting decides: about a case or one of its answers. Each change is given to
// the
// outbox at once. A decision never overwrites one that was not seen: its writer is informed, and
// chooses between them.
//
// While models are hidden (`letters`), answers have letters and the decisions are requested from
// the
// server, case by case; otherwise the page provides them.

import { button, html, rootOf, set } from "../../../web/components/dom.js";
import { tr } from "../../../web/components/words.js";
import { outbox } from "../../../web/saving/assets/outbox.js";
import { ScorerLine } from "../../../web/saving/assets/scorer.js";
import { DecisionFields } from "./decision_fields.js";
import { historyNode, NOTHING, sameValue, summary, when } from "./decision_words.js";

/** @import { Choices, DecisionRow, DecisionValue, Proposal } from "./decision_words.js" */

/**
 * A subject of decisions: an answer by its model or letter, or the case with an empty key. `shown`
 * identifies the answer; for letters the server provides it.
 * @typedef {{ key: string, name: string, shown?: string | null }} DecisionSubject
 */

export const PAGE = "meeting page";

export class DecisionForm {
  /** `refresh` requests the current values from the page, if it provides them. */
  constructor(/** @type {HTMLElement} */ place, refresh = () => {}) {
    this.refresh = refresh;
    /** @type {Choices} */
    this.choices = { failures: [], harm: [], decisions: [], people: [] };
    this.may = false;
    this.meeting = "";
    this.case = "";
    this.key = ""; // the current subject
    /** @type {DecisionSubject[]} */
    this.subjects = [];
    /** @type {Record<string, DecisionRow>} */
    this.rows = {};
    this.shown = {}; // for letters, the identity of each answer
    this.letters = false;
    this.loaded = false;
    this.revision = 0;
    /** @type {Record<string, { value: DecisionValue, revision: number }>} */
    this.confirmed = {}; // saved from here, until the rows have it
    /** @type {Record<string, Proposal>} */
    this.proposals = {};
    this.fields = new DecisionFields(
      (name, value, known) => this.give(name, value, known),
      () => this.#about,
      (name) => ({ was: this.value[name], seen: this.revision }),
    );
    this.#build(place);
    this.unlisten = outbox.listen({
      changed: () => this.draw(),
      heard: (reply, batch) => this.#heard(reply, batch),
      refresh: () => this.refresh(),
      busy: () => this.root.contains(this.#active),
    });
  }

  #build(place) {
    this.tabs = html("div", { class: "rx-d-tabs", role: "radiogroup", "aria-label": tr("About") });
    this.scorer = new ScorerLine(tr("Deciding as {name}"));
    this.proposal = html("div", { class: "rx-d-proposal", hidden: true });
    this.status = html("p", { class: "rx-d-status", role: "status" });
    this.notice = html("div", { class: "rx-d-notice", role: "alert" });
    this.history = html("div", {});
    this.root = html(
      "section",
      { class: "rx-d", "aria-label": tr("Decision") },
      this.tabs,
      this.proposal,
      this.fields.node,
      this.notice,
      this.status,
      this.scorer.node,
      this.history,
    );
    // Keys typed here are not for the page.
    this.root.addEventListener("keydown", (event) => event.stopPropagation());
    place.append(this.root);
  }

  close() {
    this.#keepTyped();
    this.unlisten();
    this.#ask(null);
    this.root.remove();
  }

  /** Data for all cases: whether the user may decide, and the words to choose from. */
  update({ may, choices }) {
    this.may = may;
    this.choices = choices;
    this.fields.offer(choices);
    this.draw();
  }

  /**
   * Show the decisions on a case. Without `rows` they are requested from the server.
   * @param {{ meeting: string, case: string, subjects: DecisionSubject[],
   *   rows?: Record<string, DecisionRow>, revision?: number,
   *   proposals?: Record<string, Proposal> }} about
   */
  open({ meeting, case: of, subjects, rows, revision = 0, proposals = {} }) {
    const another = meeting !== this.meeting || of !== this.case;
    if (another) {
      this.#keepTyped();
      Object.assign(this, { meeting, case: of, rows: {}, shown: {}, confirmed: {}, loaded: false });
    }
    this.letters = rows === undefined;
    this.subjects = subjects;
    this.proposals = proposals;
    if (!subjects.some(({ key }) => key === this.key)) this.key = subjects[0]?.key ?? "";
    if (rows !== undefined) this.#take(rows, revision);
    else if (another) this.#ask(of);
    this.#drawTabs();
    this.draw();
  }

  #ask(/** @type {string | null} */ of) {
    if (of === null && outbox.askedPage !== PAGE) return; // another component's
    if (of === null && outbox.askedMeeting !== this.meeting) return;
    outbox.asked = of;
    outbox.askedPage = of === null ? null : PAGE;
    outbox.askedMeeting = of === null ? null : this.meeting;
    if (of !== null) outbox.ask();
  }

  #take(rows, revision) {
    this.rows = rows;
    this.revision = Math.max(revision, this.revision);
    this.loaded = true;
    for (const [key, { revision: saved }] of Object.entries(this.confirmed))
      if (saved <= revision) delete this.confirmed[key];
  }

  #heard(reply, batch) {
    const ours = batch.filter((one) => this.#isOf(one));
    const own = reply.page === PAGE && reply.meeting === this.meeting && reply.own?.[this.case];
    for (const { slot, value, token } of ours)
      if (reply.saved.includes(token))
        this.confirmed[slot ?? ""] = { value: value ?? NOTHING, revision: reply.revision };
    if (this.letters && own) {
      this.shown = own.shown;
      this.#take(own.rows, reply.revision);
    } else if (ours.length > 0) this.refresh();
    this.draw();
  }

  // ---- known values of a subject ----

  get #about() {
    return `decide/${this.meeting}/${this.case}/${this.key}`;
  }

  #isOf(entry) {
    return entry.kind === "decide" && entry.case === this.case && entry.subject === this.meeting;
  }

  #isHere(entry) {
    return this.#isOf(entry) && (entry.slot ?? "") === this.key;
  }

  /** The value known to its writer, with entries on their way. */
  get value() {
    const waiting = outbox.pendingOf(PAGE, "decide").findLast((one) => this.#isHere(one));
    if (waiting) return waiting.value ?? NOTHING;
    return this.confirmed[this.key]?.value ?? this.rows[this.key]?.value ?? NOTHING;
  }

  get returned() {
    return outbox.returnedOf(PAGE, "decide").filter(([, one]) => this.#isHere(one));
  }

  // ---- entries ----

  /** `known` is the field's value known to its writer when they started to type. */
  give(name, value, known = null) {
    const next = { ...this.value, [name]: value };
    if (!sameValue(next, this.value)) this.#send(next, known && { ...known, name });
    this.draw();
  }

  #send(next, known = null) {
    outbox.putAway(this.returned.map(([key]) => key)); // entered again
    const subject = this.subjects.find(({ key }) => key === this.key);
    outbox.add({
      page: PAGE,
      kind: "decide",
      case: this.case,
      subject: this.meeting,
      slot: this.key || null,
      shown: (this.letters ? this.shown[this.key] : subject?.shown) ?? null,
      field: this.letters && this.key ? "letter" : null,
      value: sameValue(next, NOTHING) ? null : next,
      was: known ? { ...this.value, [known.name]: known.was } : this.value,
      seen: known ? known.seen : this.revision,
    });
  }

  /** Send typed text whose field was not left yet: the form changes its subject. */
  #keepTyped() {
    this.fields.commit();
    const active = this.#active;
    if (active instanceof HTMLElement && this.root.contains(active)) active.blur();
  }

  get #active() {
    return rootOf(this.root).activeElement;
  }

  // ---- drawing ----

  #drawTabs() {
    this.tabs.hidden = this.subjects.length < 2;
    this.tabs.replaceChildren(
      ...this.subjects.map(({ key, name }) =>
        button(
          name,
          () => {
            this.#keepTyped();
            this.key = key;
            this.draw();
          },
          { role: "radio", "data-key": key },
        ),
      ),
    );
  }

  draw() {
    const { value } = this;
    const row = this.rows[this.key];
    for (const tab of this.tabs.children) {
      const key = /** @type {HTMLElement} */ (tab).dataset.key ?? "";
      set(tab, { "aria-checked": String(key === this.key), "data-decided": key in this.rows });
    }
    this.fields.node.disabled = !this.may || !this.loaded;
    this.#drawProposal(value);
    this.fields.draw(value);
    this.status.textContent = this.#statusWords(row);
    this.scorer.draw(outbox.scorer);
    this.notice.replaceChildren(...this.#noticeNodes(row));
    this.history.replaceChildren(...(row ? historyNode(row, this.choices) : []));
  }

  /** The worst failure found, if none is agreed on yet: it is stored once it is confirmed. */
  #drawProposal(/** @type {DecisionValue} */ value) {
    const one = this.proposals[this.key];
    const open = value.failure === null && value.severity === null;
    const offered = this.may && this.loaded && open && this.returned.length === 0 ? one : undefined;
    this.proposal.hidden = offered === undefined;
    if (!offered) return;
    const { failure, severity, suggested } = offered;
    const words = summary({ ...NOTHING, failure, severity }, this.choices);
    const text = suggested
      ? tr("Proposal, from a failure that a rule suggests: {words}", { words })
      : tr("Proposal, from the worst failure found: {words}", { words });
    if (this.proposal.firstChild?.textContent === text) return; // its button may have the focus
    const confirm = () => {
      this.#send({ ...this.value, failure, severity });
      this.draw();
    };
    this.proposal.replaceChildren(html("p", {}, text), button(tr("Confirm"), confirm));
  }

  #statusWords(row) {
    if ([...outbox.typing].some((name) => name.startsWith(`${this.#about}/`)))
      return outbox.typedWords;
    const waiting = outbox.pendingOf(PAGE, "decide").some((one) => this.#isHere(one));
    if (waiting && outbox.ticket === null)
      return tr("Not saved yet: kept on this computer. Enter your name to send it.");
    if (waiting) {
      const { message, reason } = outbox.status();
      return `${message} ${reason}`.trim();
    }
    if (!this.loaded) return tr("Loading the decisions…");
    if (this.confirmed[this.key]) return tr("Saved");
    if (!row) return "";
    const { by } = row;
    const saved = row.at
      ? tr("Saved {when}, {by}.", { when: when(row.at), by })
      : tr("Saved, {by}.", { by });
    return row.replaced ? `${saved} ${tr("The answer has been changed since.")}` : saved;
  }

  /** Why an entry was refused, and what can be done about it. */
  #noticeNodes(row) {
    const [, back] = this.returned.at(-1) ?? [];
    if (!back) return [];
    const away = () => outbox.putAway(this.returned.map(([key]) => key));
    if (!back.overtaken)
      return [
        html("p", {}, tr("Not accepted: {reason}", { reason: back.reason })),
        button(tr("Dismiss"), away),
      ];
    const theirs = row ? summary(row.value, this.choices) : tr("nothing");
    return [
      html("p", {}, `${back.reason} ${tr("Now saved: {theirs}.", { theirs })}`),
      html("p", {}, tr("Yours: {decision}.", { decision: summary(back.value, this.choices) })),
      button(tr("Keep theirs"), away),
      button(tr("Save mine"), () => this.#send(back.value)),
    ];
  }
}

// One candidate question: its text, scores, tags and decision.

import { plain } from "../../pad/assets/task_frame.js";
import { html, set } from "../../web/components/dom.js";
import { tr, trn } from "../../web/components/words.js";
import { Criteria } from "./criteria.js";
import { categoryOf, latestOf, questionOf, selectOf, sumOf, tagsOf } from "./values.js";

/** @import { Candidate, Rows } from "./types.d.ts" */
/** @import { Desk } from "./desk.js" */

const DECIDED = { chosen: tr("Chosen"), rejected: tr("Rejected") };

export class Card {
  constructor(/** @type {Desk} */ desk, /** @type {Candidate} */ candidate) {
    this.desk = desk;
    this.candidate = candidate;
    this.head = html("header");
    this.question = html("p", { class: "asked" });
    this.notes = html("div", { class: "notes" });
    this.criteria = new Criteria(this);
    this.tags = html("dl", { class: "tags" });
    this.form = html("div", { class: "form-place" });
    const act = (words, key, does, more = {}) =>
      plain(html("span", {}, words, " ", html("kbd", {}, key)), does, more);
    this.choose = act(tr("Choose"), "y", () => desk.decide("chosen"), { class: "plain choose" });
    this.reject = act(tr("Reject"), "x", () => desk.decide("rejected"));
    this.risk = act(tr("Risk"), "d", () => desk.scoring.toggleRisk());
    this.takeBack = plain(tr("Take back"), () => desk.takeBack());
    this.past = html("ol", { class: "history", hidden: true });
    this.historyButton = act(tr("History"), "h", () => desk.toggleHistory());
    this.actions = html(
      "div",
      { class: "actions" },
      this.choose,
      act(tr("Edit"), "e", () => desk.edit()),
      this.reject,
      act(tr("Tags"), "t", () => desk.editTags()),
      this.risk,
      this.historyButton,
      this.takeBack,
    );
    this.more = html(
      "div",
      { class: "more" },
      this.criteria.root,
      this.tags,
      this.actions,
      this.past,
    );
    this.root = html(
      "li",
      { class: "candidate", "data-candidate": candidate.id, onclick: () => desk.go(this) },
      this.head,
      this.question,
      this.notes,
      this.form,
      this.more,
    );
  }

  put(/** @type {Candidate} */ candidate) {
    this.candidate = candidate;
    this.drawn = null;
  }

  draw(/** @type {Rows} */ rows, /** @type {boolean} */ current, /** @type {number} */ place) {
    const { candidate } = this;
    set(this.root, { "data-current": current, "aria-current": current ? "true" : null });
    this.more.hidden = !current;
    const state = JSON.stringify([rows, current, place]);
    if (state === this.drawn) return;
    this.drawn = state;
    const select = selectOf(candidate, rows);
    set(this.root, { "data-decision": select.decision });
    this.#drawHead(select, rows, place);
    this.question.textContent = questionOf(candidate, rows);
    this.notes.replaceChildren(...this.#notes(select, rows, current));
    if (!current) return;
    this.criteria.draw(rows);
    this.#drawTags(rows);
    set(this.choose, { "aria-pressed": String(select.decision === "chosen") });
    set(this.reject, { "aria-pressed": String(select.decision === "rejected") });
    const rate = latestOf(candidate, "rate", rows);
    set(this.risk, { "aria-pressed": String(rate?.risk === true) });
    this.takeBack.hidden = !this.desk.isOwn(candidate);
    this.historyButton.hidden = candidate.history.length === 0;
    this.past.replaceChildren(
      ...candidate.history.map(({ at, name, words }) =>
        html("li", {}, html("b", {}, name), ` ${at}: ${words}`),
      ),
    );
  }

  #drawHead(select, rows, place) {
    const { candidate, desk } = this;
    const { words } = desk.data;
    const category = categoryOf(candidate, rows);
    const own = sumOf(Object.keys(words.criteria), latestOf(candidate, "rate", rows));
    const sums = [];
    if (own !== null) sums.push(tr("you {sum}", { sum: String(own) }));
    if (candidate.model?.sum != null) sums.push(tr("model {sum}", { sum: candidate.model.sum }));
    const { stated, sum } = candidate.model ?? {};
    if (stated != null && stated !== sum) sums.push(tr("the model stated {sum}", { sum: stated }));
    const nodes = [
      html("b", { class: "number" }, String(place)),
      html("span", {}, words.categories[category] ?? category ?? tr("No category")),
      html("span", { class: "by" }, candidate.by),
      candidate.model?.risk && html("span", { class: "risk" }, tr("Risk (model)")),
      html(
        "span",
        { class: "sum" },
        sums.length > 0 ? tr("{sums} of 20", { sums: sums.join(" · ") }) : "",
      ),
      select.decision && html("b", { class: "decision" }, DECIDED[select.decision]),
    ];
    this.head.replaceChildren(...nodes.filter(Boolean));
  }

  #notes(select, rows, current) {
    const { candidate, desk } = this;
    const notes = [];
    if (select.question !== null && select.question !== candidate.question)
      notes.push(
        html(
          "p",
          { class: "before" },
          tr("As proposed: {question}", { question: candidate.question }),
        ),
      );
    if (select.boxes_question)
      notes.push(
        html(
          "p",
          { class: "before" },
          tr("With boxes: {question}", { question: select.boxes_question }),
        ),
      );
    if (select.comment)
      notes.push(html("p", { class: "before" }, tr("Comment: {words}", { words: select.comment })));
    const reason = desk.blockedReason(candidate, rows);
    if (reason)
      notes.push(html("p", { class: "blocked" }, tr("Cannot be chosen: {reason}", { reason })));
    const shown = current ? candidate.alike : [];
    for (const { words, question, href } of shown) {
      const link = href ? html("a", { href }, words) : words;
      notes.push(html("p", { class: "alike" }, tr("Similar:"), " ", link, ` “${question}”`));
    }
    const more = candidate.alike_count - shown.length;
    if (more > 0) {
      const words = current
        ? tr("Similar: {n} more", { n: more })
        : trn("Similar: {n} other question", "Similar: {n} other questions", more);
      notes.push(html("p", { class: "alike" }, words));
    }
    return notes;
  }

  #drawTags(rows) {
    const tags = tagsOf(this.candidate, rows);
    const nodes = Object.entries(this.desk.data.words.tags)
      .filter(([name]) => tags[name]?.length > 0)
      .map(([name, label]) => tag(label, tags[name].join(" · ")));
    this.tags.replaceChildren(...(nodes.length > 0 ? nodes : [tag(tr("Tags"), tr("none yet"))]));
  }
}

const tag = (label, values) => html("div", {}, html("dt", {}, label), html("dd", {}, values));

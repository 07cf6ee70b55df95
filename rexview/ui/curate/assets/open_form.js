// The one open form of the desk, if any: its typed text is always kept.

import { newToken, outbox } from "../../web/saving/assets/outbox.js";
import { draftOf, ownForm, questionForm, tagForm } from "./forms.js";
import { ownCandidate, selectOf, tagsOf } from "./values.js";

/** @import { Candidate, Tags } from "./types.d.ts" */
/** @import { Card } from "./card.js" */
/** @import { Desk } from "./desk.js" */
/** @import { Form } from "./forms.js" */

export class OpenForm {
  constructor(/** @type {Desk} */ desk) {
    this.desk = desk;
    /** @type {Form | null} */
    this.form = null;
  }

  #draft(what) {
    return `curate/${this.desk.case.case}/${what}`;
  }

  #open(/** @type {Form} */ form, /** @type {Element} */ place, focus) {
    this.form = form;
    place.replaceChildren(form.root);
    if (focus) Object.values(form.fields)[0].focus();
  }

  #gone = () => {
    this.form = null;
    this.desk.refresh();
  };

  /** Save the typed text and close. */
  close() {
    this.form?.close();
  }

  commit() {
    this.form?.commit();
  }

  /** Another study: the form of the previous one is saved by now. */
  clear() {
    if (this.form) {
      this.form.closed = true;
      outbox.leaveTyped(this.form.draft);
    }
    this.form?.root.remove();
    this.form = null;
  }

  edit(/** @type {Card} */ card, focus = true) {
    const { desk } = this;
    const { candidate } = card;
    this.close();
    const select = selectOf(candidate, desk.rowsOf(candidate));
    const given = { question: candidate.question, category: candidate.category };
    const values = {
      ...select,
      question: select.question ?? given.question,
      category: select.category ?? given.category,
    };
    const save = (typed) => {
      const changes = {};
      for (const [name, text] of Object.entries(typed)) {
        const said = text.trim() || null;
        changes[name] = said === (given[name]?.trim() || null) ? null : said;
      }
      desk.select(changes, candidate);
    };
    const { categories } = desk.data.words;
    const draft = this.#draft(`${candidate.id}/question`);
    const form = questionForm(draft, values, categories, !given.category, save, this.#gone);
    this.#open(form, card.form, focus);
  }

  tag(/** @type {Card} */ card, focus = true) {
    const { desk } = this;
    const { candidate } = card;
    this.close();
    const tags = tagsOf(candidate, desk.rowsOf(candidate));
    const save = (/** @type {Tags} */ typed) => {
      const now = { ...tagsOf(candidate, desk.rowsOf(candidate)), ...typed };
      const given = Object.entries(now).filter(([, values]) => values.length > 0);
      desk.give("tag", { tags: Object.fromEntries(given) }, candidate);
    };
    const draft = this.#draft(`${candidate.id}/tags`);
    this.#open(tagForm(draft, tags, desk.data.words, save, this.#gone), card.form, focus);
  }

  write(focus = true) {
    const { desk } = this;
    this.close();
    const propose = (now) => {
      const id = `o-${newToken().slice(-12)}`;
      const value = { question: now.question.trim(), category: now.category || null };
      if (!desk.give("propose", value, ownCandidate(id, value))) return false;
      desk.chosen = id;
      return true;
    };
    const { categories } = desk.data.words;
    this.#open(ownForm(this.#draft("own"), categories, propose, this.#gone), desk.own, focus);
    desk.own.scrollIntoView({ block: "nearest" });
  }

  /** Reopen the form that was being typed in when the page ended. */
  reopen(/** @type {Candidate[]} */ candidates) {
    for (const candidate of candidates) {
      const card = this.desk.cardOf(candidate);
      const kinds = { question: () => this.edit(card, false), tags: () => this.tag(card, false) };
      for (const [kind, open] of Object.entries(kinds)) {
        if (!draftOf(this.#draft(`${candidate.id}/${kind}`))) continue;
        this.desk.chosen = candidate.id;
        return open();
      }
    }
    if (draftOf(this.#draft("own"))) this.write(false);
  }
}

// The card over the page's lower right corner, which moves nothing: it asks for the reason of a
// verdict,
// for a failure to add, or for the name, and reports errors.

import { button, html } from "../web/components/dom.js";
import { tr, trn } from "../web/components/words.js";
import { outbox } from "../web/saving/assets/outbox.js";
import { NameField, ScorerLine } from "../web/saving/assets/scorer.js";
import { isWritten, verdicts } from "./given_verdicts.js";

const SAVED = {
  confirmed: tr("saved as confirmed by you."),
  rejected: tr("saved as rejected by you."),
};
const VERDICTS = { confirmed: tr("you confirmed it."), rejected: tr("you rejected it.") };

function unsavedWords(/** @type {number} */ n, /** @type {boolean} */ isNamed) {
  if (isNamed) return trn("{n} verdict not saved yet", "{n} verdicts not saved yet", n);
  return trn(
    "{n} verdict not saved yet: enter your name",
    "{n} verdicts not saved yet: enter your name",
    n,
  );
}

export class VerdictCard {
  constructor(place) {
    this.about = null;
    this.nothing = false; // an answer that never arrived can have no unlisted failure
    this.named = false; // "Keep" was pressed with a name: the card goes once nothing is in the way
    this.title = html("b");
    this.status = html("p", { role: "status" });
    this.choice = html("select", { "aria-label": tr("Failure"), onchange: () => this.explain() });
    this.meaning = html("p", { class: "rx-v-quiet" });
    this.reason = html("textarea", {
      rows: 2,
      "aria-label": tr("Why (optional)"),
      placeholder: tr("Why? (optional)"),
      oninput: () => verdicts.keepDraft(this.about, this.reason.value),
      onblur: () => this.about?.failure && this.save(),
      onkeydown: (event) => event.key === "Enter" && !event.shiftKey && this.done(event),
    });
    this.typed = html("p", { class: "rx-v-quiet", role: "status", hidden: true });
    this.scorer = new ScorerLine();
    this.name = new NameField();
    this.name.input.addEventListener("input", () => this.draw());
    this.naming = html(
      "div",
      {},
      html("label", {}, tr("Your name"), this.name.node),
      html(
        "p",
        { class: "rx-v-quiet" },
        tr("Shown next to your entries. This browser asks once and keeps it."),
      ),
    );
    this.alert = html("p", { class: "rx-v-alert", role: "alert" });
    this.again = button(tr("Try again"), () => this.tryAgain());
    this.keep = html("button", { class: "rx-v-strong" }, tr("Keep"));
    const shut = button("✕", () => this.close(), { "aria-label": tr("Close") });
    this.box = html(
      "form",
      {
        class: "rx-v-card",
        "aria-label": tr("Your verdict"),
        hidden: true,
        onsubmit: (event) => this.done(event),
      },
      html("header", {}, this.title, shut),
      this.status,
      this.choice,
      this.meaning,
      this.reason,
      this.typed,
      this.naming,
      this.alert,
      html("footer", {}, this.scorer.node, this.again, this.keep),
    );
    this.box.addEventListener("keydown", (event) => {
      if (event.key === "Escape") this.leave();
      event.stopPropagation(); // keys typed here are not for the page
    });
    this.chip = button(null, () => this.open(), { class: "rx-v-chip", hidden: true });
    this.root = html("div", { class: "rx-v" }, this.chip, this.box);
    place.append(this.root);
  }

  /** Ask for the reason of a verdict. */
  ask(about) {
    if (this.about?.failure) this.save();
    this.about = about;
    this.adding = this.nothing = false;
    this.reason.value = this.takeUpDraft() ?? about.reason;
    this.open();
  }

  /** Ask for the failure to add to an answer. */
  add(model) {
    const { data } = verdicts;
    const addable = verdicts.addable(model);
    if (this.about?.failure) this.save();
    this.about = { model };
    this.adding = true;
    this.nothing = addable.length === 0;
    this.reason.value = this.takeUpDraft() ?? "";
    const choose = html("option", { value: "" }, tr("Choose the failure"));
    const option = (one) => html("option", { value: one }, data.failures[one][0]);
    const written = addable.filter(isWritten).map(option);
    const inWords = html("optgroup", { label: tr("In your own words") }, written);
    this.choice.replaceChildren(
      choose,
      ...addable.filter((one) => !isWritten(one)).map(option),
      ...(written.length > 0 ? [inWords] : []),
    );
    this.open();
    if (!this.nothing) this.choice.focus();
  }

  /** The earlier draft of the reason, which is in its field again. */
  takeUpDraft() {
    const text = verdicts.draft(this.about);
    if (text !== null) verdicts.keepDraft(this.about, text);
    return text;
  }

  open() {
    this.shown = true;
    this.named = false;
    this.draw();
    if (!this.about && !this.naming.hidden) this.askName();
  }

  /** Whether the card asks for a name and proposes one: Enter on the page accepts it. */
  get proposes() {
    return this.shown && !this.naming.hidden && !this.adding && Boolean(this.name.value);
  }

  /** Focus the question for the name; a proposed name needs one press. */
  askName() {
    if (this.name.value && !this.name.touched) this.keep.focus();
    else this.name.input.focus();
  }

  close() {
    if (this.about?.failure) this.save();
    if (this.about) verdicts.leaveDraft(this.about);
    this.shown = false;
    this.adding = this.nothing = false;
    this.named = false;
    this.about = null;
    this.draw();
  }

  /** Leave the card as it was opened: text typed since does not count. */
  leave() {
    if (this.about) verdicts.keepDraft(this.about, null);
    this.about = null;
    this.close();
  }

  explain() {
    this.meaning.textContent = verdicts.data.failures[this.choice.value]?.[1] ?? "";
  }

  /** Whether the verdict of the card was refused. */
  get isRefused() {
    return Boolean(this.about?.failure) && verdicts.returnedOf(this.about).length > 0;
  }

  /** Send the reason, if it changed; that of a refused verdict remains a draft. */
  save() {
    if (this.isRefused) return;
    const { about } = this;
    const text = this.reason.value.trim();
    verdicts.keepDraft(about, null);
    if (text === about.reason) return;
    about.reason = text;
    verdicts.add({ ...about, reason: text });
  }

  done(event) {
    event.preventDefault();
    if (this.nothing) return;
    if (this.adding && !this.choice.value) {
      this.choice.focus();
      return;
    }
    if (this.adding) {
      verdicts.keepDraft(this.about, null);
      const about = {
        model: this.about.model,
        failure: this.choice.value,
        verdict: "confirmed",
        reason: this.reason.value.trim(),
      };
      this.adding = false;
      this.about = about;
      verdicts.items.goOn(about);
      verdicts.items.bring = verdicts.items.current;
      verdicts.add(about);
    }
    const name = this.name.value;
    // the Enter that ends a reason must not accept a proposed name unseen
    if (!verdicts.isNamed && name && document.activeElement !== this.reason) {
      if (this.about?.failure) this.save();
      this.named = true;
      verdicts.giveName(name);
      return;
    }
    if (!verdicts.isNamed) {
      this.draw();
      this.askName();
      return;
    }
    this.close();
  }

  /** The saved verdict, if the new one was refused. */
  savedWords() {
    if (verdicts.isBehind) return tr("your verdict is not saved.");
    const { verdict } = verdicts.current(this.about);
    return verdict ? SAVED[verdict] : tr("you have no saved verdict.");
  }

  keepWords(/** @type {boolean} */ isNamed) {
    if (isNamed) return this.adding ? tr("Add") : tr("Save reason");
    const { value: name } = this.name;
    if (!name) return this.adding ? tr("Add") : tr("Keep");
    return this.adding ? tr("Add as {name}", { name }) : tr("Keep as {name} (Enter)", { name });
  }

  tryAgain() {
    if (this.isRefused) this.about = null; // its text would no longer be true
    outbox.putAway(verdicts.returned.map(([key]) => key));
    outbox.hurry();
  }

  draw() {
    const { data, isNamed, returned: back } = verdicts;
    const waiting = verdicts.unsaved.length;
    const stuck = outbox.ticket === null || outbox.reason !== null;
    const failing = isNamed && waiting > 0 && stuck;
    const reason = outbox.reason ?? tr("The server cannot save at the moment.");
    const unkept = isNamed ? failing : waiting > 0;
    const problem = [
      data.nameProblem,
      ...new Set(
        back.map(([, { reason }]) => tr("Your verdict was not accepted. {reason}", { reason })),
      ),
      failing
        ? trn(
            "{n} verdict is not saved yet. {reason}",
            "{n} verdicts are not saved yet. {reason}",
            waiting,
            { reason },
          )
        : "",
    ]
      .filter(Boolean)
      .join(" ");
    this.box.hidden = !this.shown;
    this.chip.hidden = this.shown || !(unkept || problem);
    this.chip.textContent = unkept ? unsavedWords(waiting, isNamed) : problem;
    const { model, failure, verdict } = this.about ?? {};
    this.title.textContent = model
      ? (data.answers[model]?.name ?? "")
      : unsavedWords(waiting, true);
    const { isRefused } = this;
    this.status.textContent = failure
      ? `${data.failures[failure]?.[0] ?? ""}: ${isRefused ? this.savedWords() : VERDICTS[verdict]}`
      : this.adding
        ? this.nothing
          ? tr("No other failure can be added to this answer.")
          : tr("Add a failure that you see")
        : "";
    this.status.hidden = !this.status.textContent;
    this.choice.hidden = this.meaning.hidden = !this.adding || this.nothing;
    if (this.adding) this.explain();
    this.reason.hidden = !model || isRefused || this.nothing;
    this.typed.hidden = this.reason.hidden || !verdicts.isTyped(this.about);
    this.typed.textContent = this.typed.hidden ? "" : outbox.typedWords;
    this.reason.maxLength = data.longest.reason;
    this.name.input.maxLength = data.longest.name;
    this.name.draw(outbox.scorer);
    this.scorer.draw(outbox.scorer);
    this.naming.hidden = isNamed || this.nothing;
    this.alert.textContent = problem;
    this.again.hidden = !failing && back.length === 0;
    this.again.textContent = failing ? tr("Try again") : tr("Dismiss");
    this.keep.hidden = isRefused || this.nothing;
    this.keep.textContent = this.keepWords(isNamed);
    if (data.nameProblem) this.named = false;
    const done = this.named || !model;
    if (this.shown && done && isNamed && !problem) this.close();
  }
}

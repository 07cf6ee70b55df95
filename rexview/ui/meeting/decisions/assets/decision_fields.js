// The fields of the form in which a meeting decides; each change is reported at once.

import { button, html, rootOf, set } from "../../../web/components/dom.js";
import { tr } from "../../../web/components/words.js";
import { TypedText } from "../../../web/saving/assets/typed_text.js";

/** @import { Choices, DecisionValue } from "./decision_words.js" */

let made = 0;

export class DecisionFields {
  /**
   * @param {(name: keyof DecisionValue, value: any, known?: any) => void} give gets the name of a
   *   field and its value, null for nothing, and the value that its writer knew
   * @param {() => string} about names the subject of the decision, for typed text that is no entry
   * yet
   * @param {(name: keyof DecisionValue) => any} known the known value of a field
   */
  constructor(give, about, known) {
    made += 1;
    this.give = give;
    this.about = about;
    this.known = known;
    /** @type {Choices} */
    this.choices = { failures: [], harm: [], decisions: [], people: [] };
    this.chosen = null; // the decision
    this.failure = html("select", { onchange: () => give("failure", this.failure.value || null) });
    this.harm = radios("rx-d-harm", tr("Harm"));
    this.harmWords = html("small", {});
    this.decision = radios("rx-d-chips", tr("Decision"));
    this.own = html("input", {
      type: "text",
      maxlength: 200,
      placeholder: tr("Other…"),
      "aria-label": tr("Another decision"),
    });
    this.people = html("datalist", { id: `rx-people-${made}` });
    this.owner = html("input", { type: "text", list: this.people.id, maxlength: 200 });
    this.due = html("input", { type: "date", onchange: () => give("due", this.due.value || null) });
    this.done = html("input", {
      type: "checkbox",
      onchange: () => give("done", this.done.checked || null),
    });
    this.comment = html("textarea", { rows: 2, maxlength: 20000 });
    this.typed = {
      own: this.#typed("decision", this.own, (text) => this.#meant(text)),
      owner: this.#typed("owner", this.owner),
      comment: this.#typed("comment", this.comment),
    };
    this.node = html(
      "fieldset",
      {},
      field("label", tr("Failure agreed on"), this.failure),
      field("div", tr("Harm"), this.harm, this.harmWords),
      field("div", tr("Decision"), this.decision, this.own),
      html(
        "div",
        { class: "rx-d-row" },
        field("label", tr("Owner"), this.owner, this.people),
        field("label", tr("Due"), this.due),
        html("label", { class: "rx-d-done" }, this.done, tr("Done")),
      ),
      field("label", tr("Notes"), this.comment),
    );
  }

  #typed(
    /** @type {keyof DecisionValue} */ name,
    field,
    meant = (/** @type {string} */ text) => text || null,
  ) {
    return new TypedText(
      field,
      () => `${this.about()}/${name}`,
      (text, known) => this.give(name, meant(text.trim()), known),
      { known: () => this.known(name) },
    );
  }

  /** The typed decision; one of the list, if its name matches. */
  #meant(/** @type {string} */ typed) {
    const isTyped = ([, name]) => name.toLowerCase() === typed.toLowerCase();
    return this.choices.decisions.find(isTyped)?.[0] ?? (typed || null);
  }

  /** Report typed text whose field was not left yet: the form changes its subject. */
  commit() {
    for (const typed of Object.values(this.typed)) typed.commit();
  }

  /** Set the words to choose from. */
  offer(/** @type {Choices} */ choices) {
    this.choices = choices;
    const option = (value, words) => html("option", { value }, words);
    this.failure.replaceChildren(
      option("", tr("Not given")),
      ...choices.failures.map(([id, name]) => option(id, name)),
    );
    this.harm.replaceChildren(
      ...choices.harm.map(([level, words]) =>
        button(String(level), () => this.give("severity", level === this.level ? null : level), {
          role: "radio",
          title: words,
        }),
      ),
    );
    this.people.replaceChildren(...choices.people.map((name) => option(name, name)));
    this.drawn = "";
  }

  draw(/** @type {DecisionValue} */ value) {
    this.level = value.severity;
    this.failure.value = value.failure ?? "";
    if (this.failure.selectedIndex < 0) {
      this.failure.append(html("option", { value: value.failure }, value.failure));
      this.failure.value = value.failure ?? "";
    }
    for (const level of this.harm.children)
      set(level, { "aria-checked": String(level.textContent === String(value.severity)) });
    this.harmWords.textContent =
      this.choices.harm.find(([level]) => level === value.severity)?.[1] ?? "";
    this.#drawDecisions(value.decision);
    this.typed.owner.fill(value.owner ?? "");
    if (rootOf(this.node).activeElement !== this.due) this.due.value = value.due ?? "";
    this.typed.comment.fill(value.comment ?? "");
    this.done.checked = Boolean(value.done);
  }

  #drawDecisions(/** @type {string | null} */ chosen) {
    const known = this.choices.decisions;
    const state = JSON.stringify([known, chosen]);
    if (state !== this.drawn) {
      this.drawn = state;
      this.decision.replaceChildren(
        ...known.map(([id, name]) =>
          button(name, () => this.give("decision", id === chosen ? null : id), {
            role: "radio",
            "aria-checked": String(id === chosen),
          }),
        ),
      );
    }
    this.typed.own.fill(known.some(([id]) => id === chosen) ? "" : (chosen ?? ""));
  }
}

function radios(css, label) {
  return html("div", { class: css, role: "radiogroup", "aria-label": label });
}

function field(/** @type {"label" | "div"} */ tag, name, ...nodes) {
  return html(tag, { class: "rx-d-field" }, html("span", {}, name), nodes);
}

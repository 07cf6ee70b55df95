// The fields of the form in which a meeting decides: what is chosen or typed in one is told at once.

import { button, html, rootOf, set } from "../../../components/dom.js";
import { tr } from "../../../components/words.js";

/** @import { Choices, DecisionValue } from "./decision_words.js" */

let made = 0;

export class DecisionFields {
  /** `give` is told the name of a field and its value, null for nothing. */
  constructor(/** @type {(name: keyof DecisionValue, value: any) => void} */ give) {
    made += 1;
    this.give = give;
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
      onchange: () => this.#typedDecision(),
    });
    this.people = html("datalist", { id: `rx-people-${made}` });
    this.owner = this.#text("owner", { list: this.people.id, maxlength: 200 });
    this.due = this.#text("due", { type: "date" });
    this.done = html("input", {
      type: "checkbox",
      onchange: () => give("done", this.done.checked || null),
    });
    this.comment = html("textarea", {
      rows: 2,
      maxlength: 20000,
      onchange: () => give("comment", this.comment.value.trim() || null),
    });
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

  #text(/** @type {"owner" | "due"} */ name, attributes) {
    const input = html("input", {
      type: "text",
      ...attributes,
      onchange: () => this.give(name, input.value.trim() || null),
    });
    return input;
  }

  #typedDecision() {
    const typed = this.own.value.trim();
    const isTyped = ([, name]) => name.toLowerCase() === typed.toLowerCase();
    const known = this.choices.decisions.find(isTyped);
    this.give("decision", known?.[0] ?? (typed || null));
  }

  /** Take over the words to choose from. */
  offer(/** @type {Choices} */ choices) {
    this.choices = choices;
    const option = (value, words) => html("option", { value }, words);
    this.failure.replaceChildren(
      option("", tr("Not said")),
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
    this.#fill(this.owner, value.owner);
    this.#fill(this.due, value.due);
    this.#fill(this.comment, value.comment);
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
    this.#fill(this.own, known.some(([id]) => id === chosen) ? null : chosen);
  }

  /** Fill a field in which nobody is typing. */
  #fill(input, /** @type {string | null} */ text) {
    if (rootOf(this.node).activeElement !== input) input.value = text ?? "";
  }
}

function radios(css, label) {
  return html("div", { class: css, role: "radiogroup", "aria-label": label });
}

function field(/** @type {"label" | "div"} */ tag, name, ...nodes) {
  return html(tag, { class: "rx-d-field" }, html("span", {}, name), nodes);
}

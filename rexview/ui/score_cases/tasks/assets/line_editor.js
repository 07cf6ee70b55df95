// The editor below the marked line of a report: the edit, its text, its severity.

import { plain } from "../../../pad/assets/task_frame.js";
import { html, set } from "../../../web/components/dom.js";
import { tr } from "../../../web/components/words.js";

/** @import { CorrectionPad } from "./corrections.js" */

const ACTIONS = {
  keep: tr("Keep"),
  substitute: tr("Substitute"),
  delete: tr("Delete"),
  insert: tr("Insert after"),
};
const SIGNIFICANCES = { negligible: tr("Negligible"), significant: tr("Significant") };

export class LineEditor {
  constructor(/** @type {CorrectionPad} */ pad) {
    this.pad = pad;
    this.actions = Object.entries(ACTIONS).map(([action, words]) =>
      plain(words, () => pad.act(action), { "data-action": action }),
    );
    this.back = plain(tr("Take back"), () => pad.closed || pad.give(pad.current, null));
    this.words = html("textarea", {
      rows: "2",
      "aria-label": tr("The line as it should be"),
      oninput: () => this.#typed(),
      onblur: () => pad.commit(),
      onkeydown: (/** @type {KeyboardEvent} */ event) => {
        if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
        event.preventDefault();
        this.words.blur();
      },
    });
    this.severities = html("div", {
      class: "severities",
      role: "radiogroup",
      "aria-label": tr("Severity"),
    });
    this.kind = html("select", {
      "aria-label": tr("Kind of error"),
      onchange: () => this.#chosen("kind", this.kind),
    });
    this.significance = html("select", {
      "aria-label": tr("Significance"),
      onchange: () => this.#chosen("significance", this.significance),
    });
    this.more = html(
      "div",
      { class: "more" },
      this.severities,
      html("div", { class: "kinds" }, this.kind, this.significance),
    );
    this.node = html(
      "div",
      { class: "editor" },
      html("div", { class: "actions" }, ...this.actions, this.back),
      this.words,
      this.more,
    );
  }

  /** Set the words of the study, once. */
  #offer() {
    if (this.severities.childElementCount > 0) return;
    const { severities, kinds, significances } = this.pad.data.words;
    this.severities.replaceChildren(
      ...Object.entries(severities).map(([level, words]) =>
        html(
          "button",
          {
            type: "button",
            role: "radio",
            class: "plain",
            "data-severity": level,
            onclick: () => this.pad.setPart("severity", Number(level)),
          },
          html("b", {}, level),
          ` ${words}`,
        ),
      ),
    );
    const option = (/** @type {string[]} */ [value, words]) => html("option", { value }, words);
    this.kind.replaceChildren(...[["", tr("Kind of error")], ...Object.entries(kinds)].map(option));
    const known = significances.map((one) => [one, SIGNIFICANCES[one] ?? one]);
    this.significance.replaceChildren(...[["", tr("Significance")], ...known].map(option));
  }

  draw(edit, isDone) {
    this.#offer();
    const action = edit?.action ?? null;
    const typed = action === "substitute" || action === "insert";
    const wrong = action !== null && action !== "keep";
    for (const one of this.actions) {
      const is = one.dataset.action;
      const here = is === action && is !== "insert";
      set(one, { "aria-pressed": String(here), disabled: isDone });
    }
    this.back.hidden = edit === null;
    set(this.back, { disabled: isDone });
    this.words.hidden = !typed;
    if (typed && this.words.value !== (edit.edited ?? "") && !this.holdsFocus())
      this.words.value = edit.edited ?? "";
    set(this.words, { disabled: isDone });
    this.more.hidden = !wrong;
    for (const one of /** @type {NodeListOf<HTMLElement>} */ (
      this.severities.querySelectorAll("button")
    )) {
      const chosen = wrong && String(edit.severity) === one.dataset.severity;
      set(one, { "aria-checked": String(chosen), disabled: isDone });
    }
    this.kind.value = edit?.kind ?? "";
    this.significance.value = edit?.significance ?? "";
    set(this.kind, { disabled: isDone });
    set(this.significance, { disabled: isDone });
  }

  #chosen(name, /** @type {HTMLSelectElement} */ select) {
    select.blur(); // keys are for the pad again
    this.pad.setPart(name, select.value || null);
  }

  #typed() {
    const { pad } = this;
    const draft = pad.edit(pad.current);
    if (draft) pad.keepDraft(pad.current, { ...draft, edited: this.words.value });
  }

  holdsFocus() {
    return document.activeElement === this.words;
  }

  focus({ keep = false } = {}) {
    if (!keep) this.words.value = this.pad.edit(this.pad.current)?.edited ?? "";
    this.words.focus();
    this.words.setSelectionRange(this.words.value.length, this.words.value.length);
  }
}

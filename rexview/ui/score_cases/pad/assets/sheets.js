// Sheets over the pad: the list of cases, the keys, the reason for skipping, the confirmation
// before the
// models are named. One at a time.

import { button, every, focusedElement, html, set } from "../../../web/components/dom.js";
import { tr } from "../../../web/components/words.js";
import { outbox } from "../../../web/saving/assets/outbox.js";
import { failureLetter, flagKey } from "./case_record.js";
import { SKIP_REASONS } from "./pad_words.js";

/** @import { Pad } from "./pad.js" */

const STRONG = { class: "strong", "data-first": true };
const STATES = { open: "", begun: tr("begun"), done: tr("done"), skipped: tr("skipped") };
const KEYS = [
  ["1 – 5", tr("score the selected row and move on")],
  [tr("Delete"), tr("remove the score")],
  ["↓ ↑", tr("next and previous row")],
  ["→ ←", tr("next and previous answer")],
  ["e", tr("comment on the selected row (Esc: done)")],
  ["a", tr("failures of the answer, then the letter of one")],
  [tr("Page ↓ ↑"), tr("scroll the answer's text")],
  ["u", tr("undo")],
  ["j k n p", tr("next and previous case")],
  ["s", tr("skip the case, with a reason")],
  ["g", tr("report: asks first, and is recorded")],
  ["?", tr("this list")],
];
const PICTURE_KEYS = [
  ["0", tr("boxes of the answer being scored, on or off")],
  [tr("Shift + n p s"), tr("the picture's own n, p and s")],
  ["i f o w …", tr("as on the Case page: see ? in the picture's tools")],
];

export class Sheets {
  constructor(/** @type {Pad} */ pad) {
    this.pad = pad;
    this.node = html("div", { class: "sheet", role: "dialog", hidden: true });
    this.letters = new Map(); // the action of each letter while a sheet is open
    this.node.addEventListener("keydown", (event) => {
      const plain = !(event.ctrlKey || event.metaKey || event.altKey);
      const act =
        event.key === "Escape" ? () => this.close() : plain && this.letters.get(event.key);
      if (!act) return;
      event.preventDefault();
      event.stopPropagation();
      if (!event.repeat) act();
    });
  }

  get open() {
    return !this.node.hidden;
  }

  close() {
    for (const name of [...outbox.typing]) if (name.startsWith("skip/")) outbox.leaveTyped(name); // it stays a draft
    if (!this.open) return;
    focusedElement()?.blur(); // a browser takes the focus from what is hidden only when it next draws
    this.node.hidden = true;
    this.name = null;
    this.letters.clear();
    this.before?.focus?.({ preventScroll: true });
  }

  /** A button that closes the sheet first. */
  #closing(content, act, attributes) {
    const closing = () => {
      this.close();
      act();
    };
    return button(content, closing, attributes);
  }

  #show(name, title, ...content) {
    const again = this.open && this.name === name;
    this.close();
    if (again) return;
    this.name = name;
    this.before = /** @type {HTMLElement} */ (document.activeElement);
    const close = button(tr("Close"), () => this.close(), { class: "plain" });
    this.node.setAttribute("aria-label", title);
    const shown = content.filter((part) => part !== null); // replaceChildren would write "null"
    this.node.replaceChildren(html("header", {}, html("h3", {}, title), close), ...shown);
    this.node.hidden = false;
    const [first = close] = every("[data-first]", this.node);
    first.focus({ preventScroll: true });
  }

  help() {
    const list = (keys) =>
      html(
        "dl",
        {},
        ...keys.flatMap(([key, words]) => [
          html("dt", {}, html("kbd", {}, key)),
          html("dd", {}, words),
        ]),
      );
    this.#show(
      "help",
      tr("Keys"),
      list(KEYS),
      html("h4", {}, tr("The picture")),
      list(PICTURE_KEYS),
    );
  }

  cases() {
    const { pad } = this;
    const { entries, first, total } = pad.data.worklist;
    const shown = entries.map(([id, state], place) => {
      const here = id === pad.case.case;
      const now = here ? pad.stateHere() : state;
      const content = [
        html("b", {}, String(first + place)),
        html("span", {}, id),
        html("i", {}, STATES[now]),
      ];
      return this.#closing(content, () => pad.go(id), {
        class: `case ${now}`,
        "data-case": id,
        "data-first": here,
        "aria-current": here ? "true" : null,
      });
    });
    const cut =
      entries.length < total
        ? html(
            "p",
            { class: "quiet" },
            tr("Cases {first} to {last} of {total}.", {
              first,
              last: first + entries.length - 1,
              total,
            }),
          )
        : null;
    const on = this.#closing(tr("Next unscored case"), () => pad.goOn(), { class: "plain" });
    this.#show("cases", tr("Your cases"), on, cut, html("div", { class: "cases" }, ...shown));
  }

  /** The failures of an answer, each with its letter. */
  failures(view) {
    const { pad } = this;
    if (!view || pad.locked || pad.held) return;
    const { answer } = view;
    const chips = answer.failures.map((failure) => {
      const { name, meaning } = pad.data.failures[failure];
      const letter = failureLetter(pad.data.failures, failure);
      const content = [html("kbd", { "aria-hidden": "true" }, letter), name];
      const about = { class: "chip", title: meaning, "data-failure": failure };
      const node = button(content, () => act(), about);
      const show = () =>
        set(node, {
          "aria-pressed": String(pad.record().flags[flagKey(answer.slot, failure)] === true),
        });
      const act = () => {
        pad.scoring.flag(answer, failure);
        show();
      };
      show();
      return { letter, node, act };
    });
    const words = html(
      "p",
      { class: "quiet" },
      tr("A letter confirms a failure or withdraws it. Esc: done."),
    );
    this.#show(
      "failures",
      tr("Failures of {name}", { name: answer.name }),
      words,
      html("div", { class: "chips" }, ...chips.map(({ node }) => node)),
    );
    for (const { letter, act } of chips) this.letters.set(letter, act);
  }

  skip() {
    const { pad } = this;
    if (pad.locked) return;
    const name = "rx-skip";
    const typed = `skip/${pad.case.case}`;
    const other = html("input", {
      type: "text",
      maxlength: "400",
      placeholder: tr("Another reason"),
      "aria-label": tr("Another reason"),
      value: outbox.drafts.get(outbox.owner, typed)?.text ?? "",
      oninput: () => outbox.keepTyped(typed, { kind: "skip", text: other.value }),
    });
    const form = html(
      "form",
      {
        onsubmit: (event) => {
          event.preventDefault();
          const chosen = new FormData(form).get(name);
          const reason = other.value.trim() || chosen;
          pad.scoring.skip(reason);
          outbox.dropTyped(typed);
          this.close();
        },
      },
      ...SKIP_REASONS.map(([kept, reason], place) =>
        html(
          "label",
          {},
          html("input", {
            type: "radio",
            name,
            value: kept,
            checked: place === 0,
            "data-first": place === 0,
          }),
          reason,
        ),
      ),
      other,
      html("button", { type: "submit", class: "strong" }, tr("Skip this case")),
    );
    this.#show("skip", tr("Skip this case"), form);
    if (other.value !== "") outbox.keepTyped(typed, { kind: "skip", text: other.value });
  }

  report() {
    const { pad } = this;
    const go = this.#closing(tr("Show the report"), () => pad.scoring.fetchReport(), STRONG);
    const words =
      pad.stateHere() === "done"
        ? tr(
            "You then see the radiologist’s report after you scored this case. This is recorded, and the review lead sees it.",
          )
        : tr(
            "You then see the radiologist’s report before you have fully scored this case. This is recorded, and the review lead sees it.",
          );
    this.#show(
      "report",
      tr("Show the report?"),
      html("p", {}, words),
      html("p", { class: "quiet" }, tr("Esc: leave it hidden.")),
      go,
    );
  }

  reveal(all) {
    const { pad } = this;
    const words = all
      ? tr(
          "You then see which model gave which answer, in all your cases. Your scores can no longer be changed.",
        )
      : tr(
          "You then see which model gave which answer to this case. Its scores can no longer be changed.",
        );
    const go = this.#closing(tr("Name the models"), () => pad.scoring.nameModels(all), STRONG);
    this.#show(
      "reveal",
      tr("Name the models?"),
      html("p", {}, words, " ", tr("This is recorded.")),
      go,
    );
  }
}

// One answer on the pad: its text, a row of five buttons for each dimension, failures.

import { button, html, set } from "../../../web/components/dom.js";
import { tr } from "../../../web/components/words.js";
import { failureLetter, flagKey, scoreKey } from "./case_record.js";

/** @import { Pad } from "./pad.js" */
/** @import { Answer, Item } from "./types.d.ts" */

export const LEVELS = [1, 2, 3, 4, 5];
const TYPED_MS = 800; // a pause in typing makes a comment an entry

export class AnswerView {
  constructor(/** @type {Pad} */ pad, /** @type {Answer} */ answer) {
    this.pad = pad;
    this.answer = answer;
    this.rows = answer.items.map((item) => new Row(pad, answer, item));
    this.flags = answer.failures.map((failure) => this.#flag(failure));
    this.flagged = html("span", { class: "count" });
    this.name = html("b", {}, answer.name);
    this.earlier = html(
      "p",
      { class: "earlier", hidden: true },
      tr("Changed after you scored it: your scores are marked and not counted."),
      " ",
      button(tr("Keep for this version"), () => pad.scoring.confirm(this), { class: "plain" }),
    );
    this.text = html("div", {
      class: "text",
      tabindex: "0",
      "aria-label": tr("Text of {name}", { name: answer.name }),
    });
    this.text.innerHTML = answer.html; // made and escaped by the server
    this.node = html(
      "article",
      {
        class: "answer",
        "data-slot": answer.slot,
        "data-rx-answer": answer.slot, // words in it can be commented on
        style: { "--c": answer.colour },
      },
      html(
        "header",
        {},
        this.name,
        answer.note ? html("span", { class: "note" }, answer.note) : null,
      ),
      this.earlier,
      this.text,
      html(
        "div",
        { class: "scoring" },
        ...this.rows.map((row) => row.node),
        answer.items.length === 0
          ? html("p", { class: "none" }, tr("No answer returned: it needs no score."))
          : null,
        html(
          "details",
          { class: "failures" },
          html(
            "summary",
            {},
            tr("Mark a failure"),
            " ",
            html("kbd", { class: "key", title: tr("Key a") }, "a"),
            " ",
            this.flagged,
          ),
          html("div", { class: "chips" }, ...this.flags.map(({ node }) => node)),
        ),
      ),
    );
  }

  #wasFlagged(record, failure) {
    const key = flagKey(this.answer.slot, failure);
    return record.earlierFlags.includes(key) && !(key in record.flags);
  }

  #refreshEarlier(record, locked) {
    const scores = this.rows.map(({ key }) => record.scores[key] ?? {});
    const scored = scores.some(({ score, earlier }) => earlier && !score);
    const flagged = this.flags.some(({ failure }) => this.#wasFlagged(record, failure));
    this.earlier.hidden = locked || !(scored || flagged);
  }

  #flag(failure) {
    const { name, meaning } = this.pad.data.failures[failure];
    const letter = failureLetter(this.pad.data.failures, failure);
    const content = [html("kbd", { "aria-hidden": "true" }, `a ${letter}`), name];
    const node = button(content, () => this.pad.scoring.flag(this.answer, failure), {
      class: "chip",
      title: tr("{meaning} (keys: a, then {letter})", { meaning, letter }),
      "data-failure": failure,
    });
    return { failure, node };
  }

  /** Scroll the text by most of its height; false if there is no more of it in that direction. */
  scroll(step) {
    const { scrollTop, clientHeight, scrollHeight } = this.text;
    const room = step > 0 ? scrollHeight - clientHeight - scrollTop : scrollTop;
    if (room < 1) return false;
    this.text.scrollBy({ top: step * clientHeight * 0.85 });
    return true;
  }

  refresh(record, { current, locked, name }) {
    if (name) this.name.textContent = `${this.answer.name}: ${name}`;
    for (const row of this.rows) row.refresh(record, row.key === current, locked);
    let count = 0;
    for (const { failure, node } of this.flags) {
      const on = record.flags[flagKey(this.answer.slot, failure)] === true;
      node.classList.toggle("before", this.#wasFlagged(record, failure));
      count += on ? 1 : 0;
      set(node, { "aria-pressed": String(on), disabled: locked });
    }
    this.flagged.textContent = count > 0 ? String(count) : "";
    this.#refreshEarlier(record, locked);
  }
}

export class Row {
  constructor(/** @type {Pad} */ pad, /** @type {Answer} */ answer, /** @type {Item} */ item) {
    this.pad = pad;
    this.answer = answer;
    this.caseId = pad.case.case; // a comment may be completed when another case is on the screen
    this.item = item;
    this.key = scoreKey(answer.slot, item);
    const dimension = pad.dimension(item.dimension);
    this.title = pad.titleOf(item);
    this.buttons = LEVELS.map((level) =>
      button(String(level), () => pad.scoring.score(this, level), {
        role: "radio",
        class: "level",
        "data-level": level,
        "aria-label": `${level}: ${dimension.anchors[level] ?? ""}`,
      }),
    );
    this.say = button(tr("Comment"), () => this.comment(this.field.hidden), {
      class: "say",
      title: tr("Comment (e)"),
      "aria-label": tr("Comment on {title}", { title: this.title }),
    });
    this.field = html("textarea", {
      class: "comment",
      rows: "2",
      maxlength: "4000",
      hidden: true,
      placeholder: tr("Comment on {title}", { title: this.title }),
      "aria-label": tr("Comment on {title}, {name}", { title: this.title, name: answer.name }),
      oninput: () => this.#typed(),
      onblur: () => this.commit(),
    });
    this.levels = html(
      "div",
      { class: "levels", role: "radiogroup", "aria-label": `${answer.name}, ${this.title}` },
      ...this.buttons,
    );
    this.node = html(
      "div",
      { class: "row", "data-key": this.key },
      html("span", { class: "name" }, this.title),
      this.levels,
      this.say,
      this.field,
    );
    this.node.addEventListener("focusin", () => pad.selection.select(this));
    this.node.addEventListener("pointerdown", () => pad.selection.select(this));
  }

  refresh(record, current, locked) {
    const { score, comment, earlier } = record.scores[this.key] ?? { score: null, comment: "" };
    this.node.classList.toggle("current", current);
    this.node.classList.toggle("given", score !== null);
    this.buttons.forEach((button, place) => {
      const on = score === place + 1;
      const stop = score === null ? place === 0 : on;
      button.classList.toggle("before", score === null && earlier === place + 1);
      set(button, { "aria-checked": String(on), tabindex: stop ? "0" : "-1", disabled: locked });
    });
    set(this.say, { "aria-expanded": String(!this.field.hidden) });
    this.say.classList.toggle("said", comment !== "");
    this.field.readOnly = locked;
    const typing = document.activeElement === this.field;
    if (!this.dirty && !typing && this.field.value !== comment) this.field.value = comment;
    this.written = comment;
  }

  /** Move the focus here, if it is on the pad at all. */
  takeFocus() {
    (this.buttons.find((button) => button.tabIndex === 0) ?? this.buttons[0]).focus();
  }

  comment(open) {
    this.field.hidden = !open;
    this.pad.selection.select(this);
    if (open) this.field.focus();
    this.pad.refresh();
  }

  // Typed text is stored with every letter; a pause, or leaving the field, makes it an entry.
  #typed() {
    if (!this.dirty) {
      this.before = this.written ?? "";
      this.seen = this.pad.scoring.began(this);
    }
    this.dirty = true;
    this.pad.scoring.keepDraft(this, this.field.value, this.before, this.seen);
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.commit(), TYPED_MS);
  }

  commit() {
    clearTimeout(this.timer);
    if (!this.dirty) return;
    this.dirty = false;
    this.pad.scoring.writeComment(this, this.field.value, this.before, this.seen);
  }
}

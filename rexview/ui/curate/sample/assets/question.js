// One multiple choice question of the sample: options, right one, checks, and the expert's
// judgment.

import { plain } from "../../../pad/assets/task_frame.js";
import { html, set } from "../../../web/components/dom.js";
import { tr } from "../../../web/components/words.js";
import { Form } from "../../assets/forms.js";

/** @import { Sample } from "./sample.js" */
/** @import { Asked, Word } from "./types.d.ts" */

const LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";

/** A text field for a comment; unsaved text remains a draft. */
class Comment {
  constructor(/** @type {Question} */ question) {
    this.question = question;
    this.root = html("div", { class: "form-place" });
  }

  open() {
    if (this.form) return this.form.fields.comment.focus();
    const { pad, data } = this.question;
    const values = { comment: pad.wordOn(data.id)?.comment ?? "" };
    const draft = `validate:${pad.case.case}:${data.id}`;
    const save = (/** @type {Record<string, string>} */ changed) =>
      pad.comment(data.id, changed.comment);
    this.form = new Form(draft, values, save, () => (this.form = null));
    this.form.root.append(this.form.text("comment", tr("Comment (Esc: done)"), 2));
    this.root.replaceChildren(this.form.root);
    this.form.fields.comment.focus();
  }

  close() {
    this.form?.close();
  }
}

export class Question {
  constructor(/** @type {Sample} */ pad, /** @type {Asked} */ data) {
    this.pad = pad;
    this.comment = new Comment(this);
    this.body = html("div", { class: "said" });
    this.verdicts = html("div", { class: "verdicts" });
    this.note = html("p", { class: "comment" });
    this.root = html(
      "li",
      { class: "question", "data-candidate": data.id, onclick: () => pad.go(this.data.id) },
      this.body,
      this.note,
      this.comment.root,
      this.verdicts,
    );
    this.put(data);
  }

  put(/** @type {Asked} */ data) {
    const text = JSON.stringify(data);
    if (text === this.text) return;
    this.text = text;
    this.data = data;
    this.drawn = null;
    this.body.replaceChildren(
      html(
        "header",
        {},
        ...data.facts.map((fact) => html("span", {}, fact)),
        html("span", { class: "by" }, data.by),
      ),
      html("p", { class: "asked" }, data.question),
      html(
        "ol",
        { class: "options" },
        ...data.options.map((option, place) =>
          html(
            "li",
            { class: place === data.correct ? "right" : null },
            html("b", {}, LETTERS[place] ?? String(place + 1)),
            html("span", {}, option),
            place === data.correct ? html("em", {}, tr("marked as right")) : null,
          ),
        ),
      ),
      html("p", { class: "why" }, data.explanation || tr("No explanation")),
      ...(data.statement
        ? [
            html(
              "p",
              { class: "statement" },
              tr("Rests on: {statement}", { statement: data.statement }),
            ),
          ]
        : []),
      this.#checks(),
    );
  }

  #checks() {
    const { checks, passed, untold } = this.data;
    const words =
      untold.length > 0
        ? tr("{passed} checks passed, {untold} undecided", { passed, untold: untold.length })
        : tr("{passed} checks passed", { passed });
    const rows = checks.map(({ name, says, failed, reason, by }) =>
      html("li", { class: failed ? "failed" : null }, `${name}: ${says} (${by}). ${reason}`),
    );
    return html(
      "details",
      { class: "checks" },
      html("summary", {}, words),
      html("ul", {}, ...rows),
    );
  }

  draw(/** @type {Word | null} */ word, /** @type {boolean} */ current) {
    const state = JSON.stringify([word, current]);
    if (state === this.drawn) return;
    this.drawn = state;
    const judged = word?.passed === true ? "good" : word?.passed === false ? "bad" : null;
    set(this.root, {
      "data-current": current,
      "aria-current": current ? "true" : null,
      "data-judged": judged,
    });
    this.note.textContent = word?.comment ?? "";
    this.note.hidden = !word?.comment;
    const verdict = (words, key, pressed, act) =>
      plain(html("span", {}, words, " ", html("kbd", {}, key)), act, {
        "aria-pressed": String(pressed),
      });
    const { defects } = this.pad.data.words;
    const say = (passed, defect) => () => {
      this.pad.go(this.data.id);
      this.pad.judge(passed, defect);
    };
    this.verdicts.hidden = !current && judged === null;
    this.verdicts.replaceChildren(
      verdict(tr("Good"), "y", judged === "good", say(true, null)),
      ...Object.entries(defects).map(([defect, words], place) =>
        verdict(words, String(place + 1), word?.defect === defect, say(false, defect)),
      ),
      verdict(tr("Comment"), "e", Boolean(word?.comment), () => {
        this.pad.go(this.data.id);
        this.comment.open();
      }),
    );
  }
}

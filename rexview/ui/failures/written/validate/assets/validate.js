// A sample of answers read for a written failure: yes, no or unsure by key or click. The judge's
// finding
// is not known here.

import { CountedPad } from "../../../../pad/assets/counted_pad.js";
import { plain } from "../../../../pad/assets/task_frame.js";
import { ANSWERS } from "../../../../pad/assets/task_words.js";
import { html, set } from "../../../../web/components/dom.js";
import { mounting } from "../../../../web/components/mount.js";
import { serverNodes } from "../../../../web/components/server_html.js";
import { tr } from "../../../../web/components/words.js";

/** @import { Content, ValidateData, Word } from "./types.d.ts" */

const WORDS = { page: "failures page", kinds: ["written_validation"], items: ANSWERS };
const HINT = tr("1 or y yes · 2 no · 3 unsure · u undo · n p next, previous");
/** @type {Record<Word, string>} */
const SAYS = { yes: tr("Yes, it has it"), no: tr("No"), unsure: tr("Unsure") };
const KEYS = { yes: "1", no: "2", unsure: "3" };

export class Validate extends CountedPad {
  constructor(place) {
    super(place, WORDS, "rx-validate", HINT);
    /** @type {ValidateData} */
    this.data = null;
    this.definition = html("section", { class: "definition", "aria-label": tr("The failure") });
    this.question = html("div", { class: "asked" });
    this.options = html("ol", { class: "options" });
    this.answer = html("div", { class: "read" });
    this.buttons = Object.fromEntries(
      Object.entries(SAYS).map(([word, says]) => [
        word,
        plain([says, html("kbd", {}, KEYS[word])], () => this.judge(/** @type {Word} */ (word)), {
          "data-word": word,
        }),
      ]),
    );
    this.undoButton = plain(tr("Undo"), () => this.undo(), { class: "plain undo" });
    this.verdicts = html(
      "div",
      { class: "verdicts", role: "group", "aria-label": tr("Does the answer have the failure?") },
      ...Object.values(this.buttons),
      this.undoButton,
    );
    this.frame.body.append(
      this.definition,
      this.verdicts,
      html("section", { "aria-label": tr("Question") }, this.question, this.options),
      html("section", { "aria-label": tr("Answer") }, html("h3", {}, tr("Answer")), this.answer),
    );
    this.frame.root.insertBefore(this.frame.body, this.frame.reportNode); // the report below
  }

  update(/** @type {ValidateData} */ data, tell) {
    const about = JSON.stringify(data.round);
    if (this.about !== about) this.undoable = [];
    this.about = about;
    super.update(data, tell);
    if (this.defined !== data.definition) {
      this.defined = data.definition;
      this.definition.replaceChildren(...serverNodes(data.definition));
    }
  }

  put(kept) {
    if (kept) return;
    /** @type {Content} */
    const { question, options, answer } = this.case.content;
    this.question.replaceChildren(...serverNodes(question));
    this.options.replaceChildren(...options.map((option) => html("li", {}, option)));
    this.options.hidden = options.length === 0;
    this.answer.replaceChildren(...serverNodes(answer));
    const takes = this.takingBack === this.case.case;
    this.takingBack = null;
    if (takes) queueMicrotask(() => this.undo());
  }

  draw(record) {
    for (const [word, node] of Object.entries(this.buttons))
      set(node, { "aria-pressed": String(record.said === word) });
    set(this.undoButton, { disabled: this.undoable.length === 0 });
  }

  withEntry(record, { value }) {
    return { ...record, said: value };
  }

  told({ value }) {
    return SAYS[value] ?? tr("Taken back");
  }

  again(entry) {
    return entry.case === this.case.case ? () => this.#give(entry.value) : null;
  }

  #give(value) {
    const was = this.record().said ?? null;
    if (was === value) return false;
    const { failure, version, judge } = this.data.round;
    return this.add({
      kind: WORDS.kinds[0],
      field: failure,
      subject: version,
      slot: judge,
      value,
      was,
    });
  }

  /** Judge the shown answer and go on; the same judgment again only goes on. */
  judge(/** @type {Word} */ word) {
    const was = this.record().said ?? null;
    const { case: item } = this.case;
    if (was !== word && !this.#give(word)) return;
    if (was !== word) this.undoable.push({ item, was });
    if (this.case.next) this.turn(1);
    this.refresh();
  }

  /** Withdraw the last judgment, on its answer, which is shown. */
  undo() {
    const last = this.undoable.at(-1);
    if (!last) return this.say(tr("Nothing to undo"));
    if (last.item === this.case.case) {
      if (!this.#give(last.was) && this.record().said !== last.was) return;
      this.undoable.pop();
      this.say(tr("Undone"));
    } else if (last.item === this.case.previous) {
      this.takingBack = last.item; // once it is on the screen
      this.turn(-1);
    } else this.say(tr("Your last verdict is on another answer: go back to it with p"));
    this.refresh();
  }

  ending() {
    return [html("span", {}, tr("Precision is shown with the results."))];
  }

  meaning({ key }) {
    const acts = {
      1: () => this.judge("yes"),
      y: () => this.judge("yes"),
      2: () => this.judge("no"),
      3: () => this.judge("unsure"),
      u: () => this.undo(),
    };
    return Object.hasOwn(acts, key) ? acts[key] : null;
  }
}

export const mount = mounting((place) => new Validate(place));

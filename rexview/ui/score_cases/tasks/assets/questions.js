// Answer questions: one choice question at a time, by click or keys, timed.

import { plain } from "../../../pad/assets/task_frame.js";
import { TaskPad } from "../../../pad/assets/task_pad.js";
import { QUESTIONS } from "../../../pad/assets/task_words.js";
import { html, set } from "../../../web/components/dom.js";
import { mounting } from "../../../web/components/mount.js";
import { serverNodes } from "../../../web/components/server_html.js";
import { tr } from "../../../web/components/words.js";

const WORDS = { page: "answer questions", kinds: ["choose"], items: QUESTIONS };
const OUT = "out"; // as in reader_tasks.py

export class QuestionPad extends TaskPad {
  constructor(place) {
    super(place, WORDS);
    this.question = html("div", { class: "question" });
    this.earlier = html("p", { class: "earlier", hidden: true });
    this.options = html("div", {
      class: "options",
      role: "radiogroup",
      "aria-label": tr("Options"),
    });
    this.solution = html("div", { class: "report", hidden: true });
    this.frame.body.append(this.question, this.earlier, this.options, this.solution);
    this.out = plain(tr("Leave out"), () => this.choose(OUT), {
      title: tr("Leave this question out (s)"),
    });
    this.solve = plain(tr("Show the right answer…"), () => this.reveal("solution"));
    this.hint = html("span", { class: "hint" });
    this.frame.feet.prepend(this.out, this.solve, this.hint);
  }

  put() {
    const { content, own } = this.case;
    this.question.replaceChildren(...serverNodes(content.question));
    this.buttons = content.options.map(({ letter, text }, place) =>
      html(
        "button",
        {
          type: "button",
          role: "radio",
          class: "option",
          "aria-checked": "false",
          onclick: () => this.choose(place),
        },
        html("b", {}, letter),
        html("span", {}, text),
      ),
    );
    this.options.replaceChildren(...this.buttons);
    const keys = content.options.map(({ letter }) => letter).slice(0, 5);
    this.hint.textContent = tr(
      "Keys {letters} or 1–{last}, s: leave out, j: next. Your time is recorded.",
      { letters: keys.join(" "), last: keys.length },
    );
    this.solution.replaceChildren(...serverNodes(content.solution ?? ""));
    this.solution.hidden = !content.solution;
    this.earlier.textContent = own.earlier ? earlierWords(own) : "";
  }

  /** The server's value, and the last answer of this tab, which the server may not know yet. */
  record() {
    const record = super.record();
    const since = this.last !== undefined && this.last !== this.case.case;
    return { ...record, settled: record.settled || (since && Number.isInteger(record.value)) };
  }

  choose(value) {
    const record = this.record();
    if (record.solved) return this.say(tr("The right answer was shown: yours is final"));
    if (record.settled)
      return this.say(tr("You have since answered another question: this is final"));
    if (record.value === value) return;
    this.add({ kind: "choose", value: { value, seconds: this.seconds }, was: record.value });
    this.last = this.case.case;
    this.say(value === OUT ? tr("Left out") : "");
    this.refresh();
  }

  reveal(subject) {
    this.add({ kind: "reveal", subject, value: true, was: false });
  }

  draw(record) {
    const { content } = this.case;
    const fixed = record.solved || record.settled;
    for (const [place, option] of this.buttons.entries()) {
      const chosen = record.value === place;
      set(option, { "aria-checked": String(chosen), disabled: fixed && !chosen });
      option.classList.toggle("right", content.correct === place);
    }
    set(this.out, { "aria-pressed": String(record.value === OUT), disabled: fixed });
    this.earlier.hidden = !this.earlier.textContent || record.value !== null;
    const given = record.value !== null && record.value !== undefined;
    this.frame.next.classList.toggle("strong", given && Boolean(this.case.next));
    this.hint.hidden = record.solved;
    this.out.hidden = record.solved && record.value !== OUT;
    this.solve.hidden = this.data.reveal !== "per_case" || record.solved || !given;
  }

  meaning({ key }) {
    if (key === "s") return () => this.choose(OUT);
    const count = this.buttons?.length ?? 0;
    const place = /^[1-9]$/.test(key) ? Number(key) - 1 : "abcde".indexOf(key.toLowerCase());
    if (key.length === 1 && place >= 0 && place < count) return () => this.choose(place);
    if (key === "ArrowRight") return () => this.turn(1);
    if (key === "ArrowLeft") return () => this.turn(-1);
    return null;
  }

  told({ value }) {
    return value?.value === OUT
      ? tr("Left out")
      : tr("Option {number}", { number: Number(value?.value) + 1 });
  }

  ending() {
    if (this.record().solved)
      return [html("span", {}, tr("The right answers are shown; yours can no longer be changed."))];
    if (this.data.reveal !== "at_end") return [];
    return [
      plain(tr("Show the right answers: yours can then no longer be changed"), () =>
        this.reveal("all solution"),
      ),
    ];
  }
}

function earlierWords(/** @type {Record<string, any>} */ { solved, earlier: option }) {
  return solved
    ? tr("The options were changed since you chose “{option}”: it is not counted.", { option })
    : tr("The options were changed since you chose “{option}”: please answer again.", { option });
}

export const mount = mounting((place) => new QuestionPad(place));

// Compare reports: two reports of one case under letters, the better one by click or keys, timed.

import { plain } from "../../../pad/assets/task_frame.js";
import { TaskPad } from "../../../pad/assets/task_pad.js";
import { PAIRS } from "../../../pad/assets/task_words.js";
import { html, set } from "../../../web/components/dom.js";
import { mounting } from "../../../web/components/mount.js";
import { serverNodes } from "../../../web/components/server_html.js";
import { tr } from "../../../web/components/words.js";
import { outbox } from "../../../web/saving/assets/outbox.js";

const WORDS = { page: "compare reports", kinds: ["prefer"], items: PAIRS };
const OUT = "out"; // as in reader_tasks.py
const SIDES = {
  left: tr("Report A is better"),
  tie: tr("No difference"),
  right: tr("Report B is better"),
};
const HINT = tr(
  "Keys a or ←, b or →, t: no difference, s: leave out, j: next. Your time is recorded.",
);

export class ComparisonPad extends TaskPad {
  constructor(place) {
    super(place, WORDS);
    this.question = html("div", { class: "question" });
    this.earlier = html("p", { class: "earlier", hidden: true });
    this.reports = ["A", "B"].map((letter) => {
      const text = html("div", { class: "text", tabindex: "0" });
      const node = html("article", {}, html("h3", {}, tr("Report {letter}", { letter })), text);
      return { node, text };
    });
    const pair = html("div", { class: "pair" }, ...this.reports.map(({ node }) => node));
    this.sides = Object.entries(SIDES).map(([side, words]) =>
      html(
        "button",
        {
          type: "button",
          role: "radio",
          class: "option side",
          "data-side": side,
          onclick: () => this.prefer(side),
        },
        words,
      ),
    );
    const label = {
      class: "sides",
      role: "radiogroup",
      "aria-label": tr("Which report is better?"),
    };
    this.comment = html("textarea", {
      class: "comment",
      rows: "2",
      placeholder: tr("Comment, if you like"),
      "aria-label": tr("Comment on the comparison"),
      oninput: () => outbox.keepTyped(this.#name, { kind: "prefer", text: this.comment.value }),
      onchange: () => this.commit(),
    });
    this.frame.body.append(
      this.question,
      this.earlier,
      pair,
      html("div", label, ...this.sides),
      this.comment,
    );
    this.out = plain(tr("Leave out"), () => this.prefer(OUT), {
      title: tr("Leave this pair out (s)"),
    });
    this.showReport = plain(tr("Radiologist's report"), () => this.report(), { title: "(g)" });
    this.frame.feet.prepend(this.out, this.showReport, html("span", { class: "hint" }, HINT));
  }

  put(kept) {
    const { content, own } = this.case;
    this.question.replaceChildren(...serverNodes(content.question));
    for (const [place, { text }] of this.reports.entries()) {
      text.replaceChildren(...serverNodes(content.reports[place]));
      if (!kept) text.scrollTop = 0;
    }
    this.earlier.textContent = own.earlier
      ? tr("One of these reports was changed since you compared them: please compare them again.")
      : "";
    if (kept) return;
    if (this.named && this.named !== this.#name) outbox.leaveTyped(this.named);
    this.named = this.#name;
    const draft = this.#draft();
    this.comment.value = draft ?? this.record().comment ?? "";
    if (draft !== null) outbox.typing.add(this.#name);
  }

  #give(value) {
    const { value: before, comment: words } = this.record();
    const comment = this.comment.value.trim();
    const was = { value: before, comment: words };
    this.add({ kind: "prefer", value: { value, comment, seconds: this.seconds }, was });
    outbox.dropTyped(this.#name);
  }

  prefer(side) {
    if (this.record().value === side) return;
    this.#give(side);
    this.say(side === OUT ? tr("Left out") : "");
    this.refresh();
  }

  /** The name of a comment in this browser while it waits for a choice. */
  get #name() {
    return `${this.words.page}/${this.case.own.shown}`;
  }

  #draft() {
    return outbox.drafts.get(outbox.owner, this.#name)?.text ?? null;
  }

  /** Typed text belongs to the choice, and waits for it. */
  commit() {
    if (!this.case) return;
    const { value, comment } = this.record();
    const text = this.comment.value.trim();
    if (text === (comment ?? "")) outbox.dropTyped(this.#name);
    else if (value) this.#give(value);
    else outbox.keepTyped(this.#name, { kind: "prefer", text });
  }

  draw(record) {
    for (const side of this.sides) {
      set(side, { "aria-checked": String(record.value === side.dataset.side) });
    }
    set(this.out, { "aria-pressed": String(record.value === OUT) });
    this.earlier.hidden = !this.earlier.textContent || Boolean(record.value);
    this.frame.next.classList.toggle("strong", Boolean(record.value && this.case.next));
    this.showReport.hidden = this.data.report !== "on_request";
  }

  meaning({ key }) {
    const side = { a: "left", ArrowLeft: "left", b: "right", ArrowRight: "right", t: "tie" }[key];
    if (side) return () => this.prefer(side);
    if (key === "s") return () => this.prefer(OUT);
    if (key === "e") return () => this.comment.focus();
    return null;
  }

  told({ value }) {
    const words = SIDES[value?.value] ?? tr("Left out");
    return value?.comment ? `${words}: ${value.comment}` : words;
  }
}

export const mount = mounting((place) => new ComparisonPad(place));

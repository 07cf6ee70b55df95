// The form for a comment: its target, the name, the text. It is created once, and its text is kept
// in the
// browser.

import { button, html } from "../../web/components/dom.js";
import { tr, trc } from "../../web/components/words.js";
import { newToken, outbox } from "../../web/saving/assets/outbox.js";
import { NameField, ScorerLine } from "../../web/saving/assets/scorer.js";
import { shorter } from "./threads.js";

/** @import { Panel } from "./comments.js" */

export class CommentForm {
  constructor(/** @type {Panel} */ panel) {
    this.panel = panel;
    this.about = {}; // the current subject: {spot} or {replyTo} or {comment} (one's own, edited)
    this.nameGiven = "";
    /** @type {string | null} */
    this.draft = null;
    this.where = html("select", {
      "aria-label": tr("Subject of the comment"),
      onchange: () => this.chose(),
    });
    this.context = html("p", { class: "rx-c-context" });
    this.scorer = new ScorerLine(tr("Commenting as {name}"));
    this.name = new NameField();
    this.name.input.maxLength = 80;
    this.name.input.addEventListener("input", () => this.draw());
    this.name.input.addEventListener("keydown", ({ key }) => key === "Enter" && this.write());
    this.naming = html("label", {}, tr("Your name"), this.name.node);
    this.field = html("textarea", {
      rows: 3,
      maxlength: 20000,
      "aria-label": tr("Comment"),
      placeholder: tr("Write a comment"),
      oninput: () => this.keepDraft(),
      onkeydown: (event) => {
        if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
        if (this.naming.hidden) this.write();
        else this.name.input.focus(); // a proposed name is not accepted unseen
      },
    });
    this.typed = html("p", { class: "rx-c-quiet", role: "status", hidden: true });
    this.send = button(trc("verb", "Comment"), () => this.write(), {
      class: "rx-c-strong",
      title: tr("Ctrl+Enter"),
    });
    this.cancel = button(tr("Cancel"), () => this.begin({}));
    this.node = html(
      "div",
      { class: "rx-c-form" },
      this.where,
      this.context,
      this.naming,
      this.field,
      this.typed,
      html("div", { class: "rx-c-row" }, this.send, this.cancel, this.scorer.node),
    );
  }

  /** The page sent new data; for another case its draft is restored. */
  update(another) {
    const { data } = this.panel;
    if (data.named || data.problem) this.nameGiven = "";
    if (!another) return;
    this.leave();
    const draft = outbox.drafts.get(outbox.owner, this.draftName());
    this.about = draft?.about ?? {};
    this.field.value = draft?.text ?? "";
    if (draft) this.keepDraft();
  }

  /** The case has left the page; text about it remains a draft. */
  leave() {
    if (this.draft) outbox.leaveTyped(this.draft);
    this.draft = null;
  }

  /** Send the page the given name, until it knows it. */
  giveName() {
    if (this.nameGiven) this.panel.tell("name", this.nameGiven);
  }

  write() {
    const { data, list } = this.panel;
    const text = this.field.value.trim();
    if (!text) return this.field.focus();
    if (!data.named && !this.nameGiven) {
      this.nameGiven = this.name.value;
      if (!this.nameGiven) return this.name.input.focus();
      this.giveName();
    }
    const { comment, replyTo, spot = {}, before } = this.about;
    const { key: slot = null, shown = null, ...where } = spot;
    const value = { text, replyTo, ...where };
    this.panel.add("comment", comment ?? newToken(), value, { slot, shown, was: before ?? null });
    this.field.value = "";
    this.begin({});
    return list.scrollTo({ top: list.scrollHeight });
  }

  draftName() {
    return `comment/${this.panel.data.case}`;
  }

  keepDraft() {
    const text = this.field.value;
    this.draft = this.draftName(); // of typed text
    if (text) outbox.keepTyped(this.draft, { kind: "comment", text, about: this.about });
    else outbox.dropTyped(this.draft);
    this.draw();
  }

  /** Start to write about something; typed text remains. */
  begin(about, text) {
    const { spot } = about; // which answer that is: later its letter may be another one's
    if (spot?.key) spot.shown = this.panel.data.targets.find(({ key }) => key === spot.key)?.shown;
    const wasChange = Boolean(this.about.comment);
    this.about = about;
    if (text !== undefined) this.field.value = text;
    else if (wasChange) this.field.value = "";
    this.keepDraft();
    this.draw();
  }

  chose() {
    const [key, box] = JSON.parse(this.where.value);
    this.begin(key === null ? {} : { spot: box === null ? { key } : { key, box } });
  }

  sendWords() {
    const { comment, replyTo } = this.about;
    const name = this.naming.hidden ? "" : this.name.value;
    if (comment) return tr("Save");
    if (replyTo) return name ? tr("Reply as {name}", { name }) : trc("verb", "Reply");
    return name ? tr("Comment as {name}", { name }) : trc("verb", "Comment");
  }

  draw() {
    const { data } = this.panel;
    this.node.hidden = !data.may;
    this.name.draw(outbox.scorer);
    this.scorer.draw(outbox.scorer);
    this.naming.hidden = data.named || Boolean(this.nameGiven);
    const { comment, replyTo, spot } = this.about;
    const nameOf = (key) => data.targets.find((one) => one.key === key)?.name ?? tr("the answer");
    const find = (id) => data.comments.find((one) => one.id === id);
    let context = "";
    if (comment) context = tr("Your comment, changed");
    else if (replyTo)
      context = find(replyTo)
        ? tr("Reply to {who}: {text}", {
            who: find(replyTo).who,
            text: shorter(find(replyTo).text),
          })
        : tr("Reply");
    else if (spot?.quote)
      context = tr("On {answer}: “{words}”", {
        answer: nameOf(spot.key),
        words: shorter(spot.quote),
      });
    this.context.textContent = context;
    this.context.hidden = !context;
    this.typed.hidden = !this.draft || !outbox.typing.has(this.draft);
    this.typed.textContent = this.typed.hidden ? "" : outbox.typedWords;
    this.where.hidden = Boolean(context);
    this.cancel.hidden = !context;
    this.send.textContent = this.sendWords();
    const state = JSON.stringify([data.case, data.targets]);
    if (this.targetsDrawn !== state) {
      this.targetsDrawn = state;
      const option = (value, words) => html("option", { value: JSON.stringify(value) }, words);
      const options = data.targets.flatMap(({ key, name, boxes }) => [
        option([key, null], tr("On {answer}", { answer: name })),
        ...boxes.map((box) =>
          option(
            [key, box.index],
            tr("On {answer}, box {n}: {label}", {
              answer: name,
              n: box.index + 1,
              label: shorter(box.label, 40),
            }),
          ),
        ),
      ]);
      this.where.replaceChildren(option([null, null], tr("On the case")), ...options);
    }
    const wanted = JSON.stringify(spot?.key ? [spot.key, spot.box ?? null] : [null, null]);
    if (!context && this.where.value !== wanted) this.where.value = wanted;
  }
}

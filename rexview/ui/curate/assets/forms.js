// Forms for a candidate: its edited question, its tags, a question of one's own. Typed text is kept
// in the
// browser's storage, and saved when the form is left.

import { plain } from "../../pad/assets/task_frame.js";
import { html } from "../../web/components/dom.js";
import { tr } from "../../web/components/words.js";
import { outbox } from "../../web/saving/assets/outbox.js";

/** @import { Tags } from "./types.d.ts" */

const LONGEST = 4000;

/** A form whose fields are kept as a draft; `save` gets the changed ones when it is left. */
export class Form {
  /**
   * @param {string} draft name of the draft
   * @param {Record<string, string>} values content of the fields before typing
   * @param {(changed: Record<string, string>) => void} save
   * @param {() => void} gone
   */
  constructor(draft, values, save, gone) {
    this.draft = draft;
    this.values = values;
    this.save = save;
    this.gone = gone;
    /** @type {Record<string, HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement>} */
    this.fields = {};
    /** @type {Record<string, string>} */
    this.before = {}; // the former content, as a field has it: with one kind of line ends
    this.typed = false;
    this.kept = draftOf(draft);
    if (this.kept) outbox.typing.add(draft);
    // with a tabindex: a press next to a field does not leave the form
    this.root = html("form", { class: "typed", tabindex: "-1" });
    this.root.addEventListener("submit", (event) => event.preventDefault());
    this.root.addEventListener("input", () => this.#keep());
    this.root.addEventListener("keydown", (event) => this.#key(event));
    this.root.addEventListener("focusout", ({ relatedTarget }) => {
      const stays = relatedTarget instanceof Node && this.root.contains(relatedTarget);
      if (!stays && document.hasFocus() && this.leaves) this.close();
    });
  }

  /** Whether it is saved and closed on losing the focus; otherwise typed text remains a draft. */
  leaves = true;

  field(name, label, /** @type {any} */ node) {
    this.fields[name] = node;
    node.value = this.values[name] ?? "";
    this.before[name] = node.value;
    node.value = this.kept?.[name] ?? node.value;
    return html("label", {}, html("span", {}, label), node);
  }

  text(name, label, rows = 2) {
    return this.field(name, label, html("textarea", { rows, maxlength: LONGEST }));
  }

  get now() {
    return Object.fromEntries(
      Object.entries(this.fields).map(([name, node]) => [name, node.value]),
    );
  }

  /** The changed fields; others may have changed the rest meanwhile. */
  get changed() {
    return Object.fromEntries(
      Object.entries(this.now).filter(([name, text]) => text !== this.before[name]),
    );
  }

  #keep() {
    this.typed = true;
    const { changed } = this;
    if (Object.keys(changed).length === 0) this.forget();
    else outbox.keepTyped(this.draft, { kind: "curate", fields: changed });
  }

  #key(/** @type {KeyboardEvent} */ event) {
    const { key, target } = event;
    const sends =
      key === "Enter" && (event.ctrlKey || event.metaKey || target instanceof HTMLInputElement);
    if (!sends && key !== "Escape") return;
    event.preventDefault();
    event.stopPropagation();
    this.close();
  }

  /**
   * Save typed text, if any, and delete the draft. A draft that was only reopened and no longer
   * exists was
   * saved by another window.
   */
  commit() {
    if (this.closed || !this.leaves) return;
    const { changed, now } = this;
    const isOurs = this.typed || draftOf(this.draft) !== null;
    if (isOurs && Object.keys(changed).length > 0) this.save(changed);
    this.before = now;
    this.typed = false;
    this.forget();
  }

  forget() {
    outbox.dropTyped(this.draft);
  }

  close() {
    if (this.closed) return;
    this.commit();
    this.closed = true;
    outbox.leaveTyped(this.draft);
    this.root.remove();
    this.gone();
  }
}

/** The changed and unsaved fields; an earlier version stored them directly. */
export function draftOf(/** @type {string} */ draft) {
  const kept = outbox.drafts.get(outbox.owner, draft) ?? null;
  return kept?.fields ?? kept;
}

/** Fields for editing a question. */
export function questionForm(
  draft,
  values,
  /** @type {Record<string, string>} */ categories,
  /** @type {boolean} */ isWithout,
  save,
  gone,
) {
  const form = new Form(draft, values, save, gone);
  form.root.append(
    form.text("question", tr("Question"), 3),
    form.text("boxes_question", tr("With an instruction to draw boxes, for models that can")),
    form.field("category", tr("Category"), choices(categories, isWithout)),
    form.text("comment", tr("Comment"), 1),
    html("p", { class: "hint" }, tr("Esc or Ctrl+Enter: done")),
  );
  return form;
}

/** Fields for a question of one's own: proposed with a button. */
export function ownForm(draft, /** @type {Record<string, string>} */ categories, propose, gone) {
  const form = new Form(draft, {}, () => {}, gone);
  form.leaves = false;
  const send = () => {
    if (form.now.question.trim() === "") return form.fields.question.focus();
    if (propose(form.now)) drop();
  };
  const drop = () => {
    form.forget();
    form.close();
  };
  form.root.addEventListener(
    "keydown",
    (event) => {
      if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      event.stopImmediatePropagation();
      send();
    },
    { capture: true },
  );
  form.root.append(
    form.text("question", tr("Your question"), 3),
    form.field("category", tr("Category"), choices(categories)),
    html(
      "div",
      { class: "actions" },
      plain(tr("Add it"), send, { class: "plain strong" }),
      plain(tr("Discard"), drop),
      html("span", { class: "hint" }, tr("Ctrl+Enter: add")),
    ),
  );
  return form;
}

/** Fields for the eight tags; semicolons separate values. `save` gets the changed ones. */
export function tagForm(draft, /** @type {Tags} */ tags, words, save, gone) {
  const values = Object.fromEntries(
    Object.keys(words.tags).map((name) => [name, (tags[name] ?? []).join("; ")]),
  );
  const form = new Form(draft, values, (changed) => save(read(changed)), gone);
  for (const [name, label] of Object.entries(words.tags)) {
    const list = `rx-tag-values-${name}`;
    const known = (words.values[name] ?? []).map((value) => html("option", { value }));
    const field = html("input", { type: "text", list, maxlength: 1000, autocomplete: "off" });
    form.root.append(form.field(name, label, field), html("datalist", { id: list }, ...known));
  }
  form.root.classList.add("tag-form");
  form.root.append(
    html("p", { class: "hint" }, tr("Separate several with a semicolon. Enter or Esc: done")),
  );
  return form;
}

/** @returns {Tags} */
function read(/** @type {Record<string, string>} */ fields) {
  const found = Object.entries(fields).map(([name, text]) => {
    const parts = text.split(";").map((one) => one.trim());
    return [name, [...new Set(parts.filter(Boolean))]];
  });
  return Object.fromEntries(found);
}

function choices(/** @type {Record<string, string>} */ categories, isWithout = true) {
  const options = Object.entries(categories).map(([value, name]) =>
    html("option", { value }, name),
  );
  const none = isWithout ? [html("option", { value: "" }, tr("No category"))] : [];
  return html("select", {}, ...none, ...options);
}

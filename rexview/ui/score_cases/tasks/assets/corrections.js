// Correct reports: one report, line by line, by keys or click.
//
// The edit of a line is an entry of its own, at its place (see store/kinds.py): "3" for the third
// line,
// "3+1" for an insertion after it. Nothing counts before the reader marks the report as done.

import { plain } from "../../../pad/assets/task_frame.js";
import { TaskPad } from "../../../pad/assets/task_pad.js";
import { REPORTS } from "../../../pad/assets/task_words.js";
import { html, set } from "../../../web/components/dom.js";
import { mounting } from "../../../web/components/mount.js";
import { serverNodes } from "../../../web/components/server_html.js";
import { tr } from "../../../web/components/words.js";
import { outbox } from "../../../web/saving/assets/outbox.js";
import { DONE, HINT, keptWords } from "./correction_words.js";
import { LineEditor } from "./line_editor.js";
import { lineRows } from "./line_rows.js";

const WORDS = {
  page: "correct reports",
  kinds: ["edit", "corrected", "reference"],
  items: REPORTS,
};
/** The numbers of a line and of an insertion. */
function parts(place) {
  const [line, added] = place.split("+").map(Number);
  return { line, added: added || 0 };
}

export class CorrectionPad extends TaskPad {
  constructor(place) {
    super(place, WORDS);
    this.question = html("div", { class: "question" });
    this.earlier = html("p", { class: "earlier", hidden: true });
    this.list = html("ol", { class: "lines", "aria-label": tr("Lines of the report") });
    this.editor = new LineEditor(this);
    this.frame.body.append(this.question, this.earlier, this.list);
    this.done = plain(tr("Finished"), () => this.finishReport(), {
      title: tr("All is corrected (f)"),
    });
    this.showReport = plain(tr("Radiologist's report"), () => this.report(), { title: "(g)" });
    this.reference = plain(tr("Keep as reference"), () => this.keep());
    this.kept = html("span", { class: "hint" });
    this.frame.feet.prepend(
      this.done,
      this.showReport,
      this.reference,
      this.kept,
      html("span", { class: "hint" }, HINT),
    );
    this.current = null; // the place that is marked
    this.drafts = new Map(); // place -> text being typed there that is no entry yet
  }

  put(kept) {
    const { content, own } = this.case;
    this.question.replaceChildren(...serverNodes(content.question));
    this.drawn = null;
    if (!kept) {
      this.#takeDrafts();
      this.current = content.lines.length > 0 ? "1" : "0";
    }
    this.earlier.textContent = own.earlier
      ? tr(
          "The report was changed since you corrected it: your corrections of the earlier version are not counted.",
        )
      : "";
    this.earlier.hidden = !own.earlier;
  }

  withEntry(record, entry) {
    if (entry.kind === "corrected") return { ...record, done: entry.value };
    if (entry.kind === "reference") return record; // reported when it is stored
    const lines = { ...record.lines };
    if (entry.value === null) delete lines[entry.subject];
    else lines[entry.subject] = entry.value;
    return { ...record, lines };
  }

  // --- typed text that is no entry yet ---------------------------------------------------------

  get #prefix() {
    return `${this.words.page}/${this.case.own.shown}/`;
  }

  /** Text typed before the page ended is in its line again. */
  #takeDrafts() {
    for (const place of this.drafts.keys()) outbox.leaveTyped(`${this.#prefix}${place}`);
    this.drafts.clear();
    const begin = `${outbox.drafts.prefix}${outbox.owner}:${this.#prefix}`;
    for (const [key, { edit }] of outbox.drafts.all(outbox.owner)) {
      if (!key.startsWith(begin) || !edit) continue;
      const place = key.slice(begin.length);
      this.drafts.set(place, edit);
      outbox.typing.add(`${this.#prefix}${place}`);
    }
  }

  keepDraft(/** @type {string} */ place, edit) {
    this.drafts.set(place, edit);
    outbox.keepTyped(`${this.#prefix}${place}`, { kind: "edit", edit });
  }

  #dropDraft(/** @type {string} */ place) {
    this.drafts.delete(place);
    outbox.dropTyped(`${this.#prefix}${place}`);
  }

  // --- lines -------------------------------------------------------------------------------------

  /** Every place in order: before the first line, the lines, and insertions. */
  places(record = this.record()) {
    const added = new Set(
      [...Object.keys(record.lines), ...this.drafts.keys()].filter((place) => place.includes("+")),
    );
    const lines = this.case.content.lines.map(({ number }) => String(number));
    return ["0", ...lines, ...added].sort((a, b) => {
      const [one, other] = [parts(a), parts(b)];
      return one.line - other.line || one.added - other.added;
    });
  }

  text(place) {
    return this.case.content.lines[Number(place) - 1]?.text ?? "";
  }

  edit(place, record = this.record()) {
    return this.drafts.get(place) ?? record.lines[place] ?? null;
  }

  select(place) {
    if (place === this.current) return;
    this.commit();
    this.current = place;
    this.refresh();
    this.list.querySelector("[data-current]")?.scrollIntoView({ block: "nearest" });
  }

  move(by) {
    const places = this.places();
    const next = places[places.indexOf(this.current) + by];
    if (next !== undefined) this.select(next);
  }

  /** Edit a line; null withdraws the edit. */
  give(place, value) {
    const record = this.record();
    const was = record.lines[place] ?? null;
    this.drafts.delete(place);
    if (JSON.stringify(was) !== JSON.stringify(value))
      this.add({ kind: "edit", subject: place, value, was });
    this.#dropDraft(place);
    if (JSON.stringify(was) === JSON.stringify(value)) return this.refresh();
    if (value === null && place.includes("+") && this.current === place)
      this.current = String(parts(place).line);
    this.refresh();
  }

  get closed() {
    if (!this.record().done) return false;
    this.say(tr("The report is finished. f: open it again"));
    return true;
  }

  act(action) {
    const { current } = this;
    if (this.closed) return;
    const record = this.record();
    if (action === "insert") {
      const { line } = parts(current);
      const taken = this.places(record).map(parts);
      const last = taken.filter((one) => one.line === line).map(({ added }) => added);
      const place = `${line}+${Math.max(0, ...last) + 1}`;
      this.commit();
      this.current = place;
      return this.#type(place, { action: "insert", edited: "" });
    }
    if (current === "0" || current.includes("+")) {
      if (action === "delete" && current !== "0") this.give(current, null);
      else this.say(tr("Choose a line first, or i to insert one here"));
      return;
    }
    const before = this.edit(current, record);
    if (action === "substitute")
      return this.#type(current, {
        ...whole(before, action),
        edited: before?.edited || this.text(current),
      });
    this.give(current, { ...whole(action === "keep" ? null : before, action), edited: null });
    if (action === "keep") this.move(1);
  }

  #type(place, value) {
    this.drafts.set(place, whole(value, value.action));
    this.refresh();
    this.editor.focus();
  }

  /** Change severity, kind or significance of the marked line's edit. */
  setPart(name, value) {
    const { current } = this;
    if (this.closed) return;
    const before = this.edit(current);
    if (!before || before.action === "keep")
      return this.say(tr("First mark what is wrong: s, d or i on the line"));
    const next = { ...before, [name]: value };
    if (this.drafts.has(current)) {
      this.drafts.set(current, next);
      this.commit();
    } else this.give(current, next);
    this.refresh();
  }

  /** Typed text becomes an entry; empty text withdraws it. */
  commit() {
    for (const [place, draft] of [...this.drafts]) {
      const edited = draft.edited?.trim();
      const nothing = !edited || (draft.action === "substitute" && edited === this.text(place));
      if (!nothing) this.give(place, { ...draft, edited });
      else {
        this.#dropDraft(place);
        if (place.includes("+") && this.current === place && !this.record().lines[place])
          this.current = String(parts(place).line);
      }
    }
  }

  // --- the whole report --------------------------------------------------------------------------

  finishReport() {
    this.commit();
    const { done, lines } = this.record();
    const open = Object.keys(lines).filter(
      (place) => lines[place].action !== "keep" && lines[place].severity === null,
    );
    if (!done && open.length > 0) {
      this.say(tr("Give every correction a severity (0–4) first"));
      this.select(open[0]);
      return;
    }
    this.add({ kind: "corrected", value: !done, was: done });
    this.say(done ? tr("Open again: not counted until finished") : tr("Finished. j: next report"));
    this.refresh();
  }

  keep() {
    this.add({ kind: "reference", value: true, was: null });
    this.refresh();
  }

  // --- drawing -----------------------------------------------------------------------------------

  draw(record) {
    set(this.done, { "aria-pressed": String(record.done) });
    this.done.textContent = record.done ? tr("Finished ✓") : tr("Finished");
    this.frame.next.classList.toggle("strong", record.done && Boolean(this.case.next));
    this.showReport.hidden = this.data.report !== "on_request";
    this.reference.hidden = !this.data.reference || !record.done;
    const { reference } = record;
    this.kept.textContent = reference && this.data.reference ? keptWords(reference.mine) : "";
    const places = this.places(record);
    if (!places.includes(this.current)) this.current = places[0];
    const state = JSON.stringify([
      places,
      record.lines,
      [...this.drafts.keys()],
      this.current,
      record.done,
    ]);
    if (state === this.drawn) return;
    this.drawn = state;
    const rows = lineRows(this, places, record);
    const typing = this.editor.holdsFocus();
    this.list.replaceChildren(...rows);
    this.editor.draw(this.edit(this.current, record), record.done);
    if (typing) this.editor.focus({ keep: true });
  }

  meaning({ key }) {
    const acts = {
      ArrowDown: () => this.move(1),
      ArrowUp: () => this.move(-1),
      y: () => this.act("keep"),
      s: () => this.act("substitute"),
      d: () => this.act("delete"),
      i: () => this.act("insert"),
      Enter: () => this.act("substitute"),
      f: () => this.finishReport(),
      u: () => this.closed || this.give(this.current, null),
    };
    if (/^[0-4]$/.test(key)) return () => this.setPart("severity", Number(key));
    return acts[key] ?? null;
  }

  told({ kind, subject, value }) {
    if (kind === "corrected") return value ? tr("Finished") : tr("Opened again");
    if (kind === "reference") return tr("Kept as reference");
    const words = value ? `${DONE[value.action]} ${value.edited ?? ""}` : tr("taken back");
    return tr("Line {number}: {words}", { number: subject, words });
  }
}

/** An edit with all fields that the server stores (reader_entries.py), in their order. */
function whole(edit, action) {
  const {
    edited = null,
    severity = null,
    kind = null,
    significance = null,
    comment = null,
  } = edit ?? {};
  return { action, edited, severity, kind, significance, comment };
}

export const mount = mounting((place) => new CorrectionPad(place));

// The marked row of the pad, the current answer, and how keys move among them.

/** @import { Row } from "./answer.js" */
/** @import { Pad } from "./pad.js" */

export class Selection {
  constructor(/** @type {Pad} */ pad) {
    this.pad = pad;
    this.key = null; // of the marked row
    this.slot = null; // of the current answer
  }

  get row() {
    return this.pad.rows.find(({ key }) => key === this.key) ?? null;
  }

  /** The current answer. */
  get view() {
    return this.pad.views.find(({ answer }) => answer.slot === this.slot) ?? null;
  }

  #firstOpen(/** @type {Row[]} */ rows) {
    const { scores } = this.pad.record();
    return rows.find(({ answer, key }) => answer.needed && !scores[key]?.score) ?? null;
  }

  /** Start a case with the first row that has no score yet. */
  begin() {
    const row = this.#firstOpen(this.pad.rows) ?? this.pad.rows[0];
    this.key = row?.key ?? null;
    this.slot = row?.answer.slot ?? this.pad.case.answers[0]?.slot;
  }

  /** Mark the row of the focus. */
  select(/** @type {Row} */ row) {
    if (this.key === row.key) return;
    this.key = row.key;
    this.slot = row.answer.slot;
    this.pad.refresh();
  }

  /** Mark a row, with the focus if that is in another one, and bring it into view. */
  goTo(/** @type {Row} */ row) {
    const { activeElement } = document;
    const inside = this.pad.root.contains(activeElement) && activeElement.closest(".row");
    this.key = row.key;
    this.slot = row.answer.slot;
    this.pad.refresh();
    if (inside) row.takeFocus();
    row.node.scrollIntoView({ block: "nearest" });
  }

  /**
   * After a score, mark the next row; after the last, one without a score. If there is none, no row
   * is
   * marked, so that further digits change nothing.
   */
  goOnFrom(/** @type {Row} */ row) {
    const { rows } = this.pad;
    const next = rows[rows.indexOf(row) + 1] ?? this.#firstOpen(rows);
    if (next) this.goTo(next);
    else this.key = null;
  }

  moveRow(step) {
    const { rows } = this.pad;
    const marked = rows.findIndex(({ key }) => key === this.key);
    const place = marked < 0 && step < 0 ? rows.length - 1 : marked + step;
    const next = rows[Math.min(Math.max(place, 0), rows.length - 1)];
    if (next) this.goTo(next);
  }

  moveAnswer(step) {
    const slots = this.pad.case.answers.map(({ slot }) => slot);
    const slot = slots[slots.indexOf(this.slot) + step];
    if (slot) this.showAnswer(slot);
  }

  showAnswer(slot) {
    this.slot = slot;
    const rows = this.pad.rows.filter(({ answer }) => answer.slot === slot);
    const row = this.#firstOpen(rows) ?? rows[0];
    if (row) this.goTo(row);
    else this.key = null;
    this.pad.refresh();
  }
}

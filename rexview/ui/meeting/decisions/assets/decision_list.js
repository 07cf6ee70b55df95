// Decisions of all meetings: each with its case; open ones can be marked as done in place, and all
// can be
// changed in the form that a row opens.

import { button, html, set } from "../../../web/components/dom.js";
import { mounting } from "../../../web/components/mount.js";
import { tr } from "../../../web/components/words.js";
import { outbox } from "../../../web/saving/assets/outbox.js";
import { OutboxView } from "../../../web/saving/assets/outbox_view.js";
import { DecisionForm, PAGE } from "./decision_form.js";
import { NOTHING, wordsFor } from "./decision_words.js";

class DecisionList extends OutboxView {
  constructor(/** @type {HTMLElement} */ place) {
    super(
      place,
      { class: "rx-d-list", role: "region", "aria-label": tr("Decisions") },
      { heard: (reply, batch) => this.#heard(reply, batch), refresh: () => {} },
    );
    this.back = html("div", { class: "rx-d-notice", role: "alert" });
    this.list = html("div", {});
    this.root.append(this.back, this.list);
    this.opened = ""; // the row with the open form
    this.slot = html("div", { class: "rx-d-opened" });
    this.form = new DecisionForm(this.slot, () => this.tell("refresh", Date.now()));
  }

  close() {
    super.close();
    this.form.close();
  }

  update(data, tell) {
    super.update(data, tell);
    this.#openForm();
  }

  /** A saved value counts at once: the next tick is based on it. */
  #heard(reply, batch) {
    const decided = batch.filter(({ kind }) => kind === "decide");
    for (const one of decided) {
      const name = rowName(entryAbout(one));
      const row = this.data?.rows.find((other) => rowName(other) === name);
      if (row && reply.saved.includes(one.token)) row.value = one.value ?? NOTHING;
    }
    if (decided.length > 0) this.tell("refresh", Date.now());
  }

  draw() {
    const { rows, may } = this.data;
    const waiting = outbox.pendingOf(PAGE, "decide");
    const state = JSON.stringify([rows, may, waiting.map(({ token }) => token)]);
    this.#drawReturned();
    if (state === this.drawn) return;
    this.drawn = state;
    const focused = document.activeElement?.closest("[data-focus]")?.getAttribute("data-focus");
    this.slot.remove();
    this.list.replaceChildren(...rows.map((row) => this.#rowNode(row, waiting)));
    this.list.querySelector(`[data-row="${CSS.escape(this.opened)}"]`)?.append(this.slot);
    const again = focused && this.list.querySelector(`[data-focus="${CSS.escape(focused)}"]`);
    if (again instanceof HTMLElement) again.focus({ preventScroll: true });
  }

  #rowNode(row, waiting) {
    const { choices, may } = this.data;
    const { value } = row;
    const name = rowName(row);
    const last = waiting.findLast((one) => rowName(entryAbout(one)) === name);
    const stands = last ? (last.value ?? NOTHING) : value;
    const isDone = Boolean(stands.done);
    const done = html("input", {
      type: "checkbox",
      "data-focus": `done ${name}`,
      "aria-label": tr("Done: {case}", { case: row.case }),
      disabled: !may,
      onchange: () => this.#give(row, stands, { ...stands, done: done.checked || null }),
    });
    done.checked = isDone;
    const due =
      value.due &&
      html("span", { "data-overdue": row.overdue }, tr("due {day}", { day: value.due }));
    const failure = [
      wordsFor(choices.failures, value.failure),
      value.severity === null ? "" : tr("harm {n}", { n: value.severity }),
    ];
    return html(
      "article",
      { "data-row": name, "data-done": isDone },
      html("label", { class: "rx-d-tick" }, done, html("span", {}, tr("Done"))),
      html(
        "div",
        {},
        html(
          "p",
          {},
          html("b", {}, wordsFor(choices.decisions, value.decision) || tr("No decision")),
          " ",
          html("a", { href: row.href, target: "_self" }, row.case),
          row.model ? ` · ${row.modelName}` : "",
        ),
        html("p", { class: "rx-d-question" }, row.question),
        html(
          "p",
          { class: "rx-d-facts" },
          [value.owner, ...failure, [row.meetingName, row.held].filter(Boolean).join(", ")]
            .filter(Boolean)
            .map((words) => html("span", {}, words)),
          due,
          row.replaced ? html("span", {}, tr("The answer has been changed since")) : null,
          last ? html("span", {}, tr("not saved yet")) : null,
        ),
        value.comment ? html("p", {}, value.comment) : null,
      ),
      may
        ? button(tr("Change"), () => this.#toggle(name), {
            "aria-expanded": String(this.opened === name),
            "data-focus": `change ${name}`,
          })
        : null,
    );
  }

  #give(row, was, value) {
    outbox.add({
      page: PAGE,
      kind: "decide",
      case: row.case,
      subject: row.meeting,
      slot: row.model,
      shown: row.shown,
      value,
      was,
      seen: this.data.revision,
    });
  }

  #toggle(name) {
    this.opened = this.opened === name ? "" : name;
    for (const one of this.list.children)
      set(one.querySelector("[aria-expanded]") ?? one, {
        "aria-expanded": String(one.getAttribute("data-row") === this.opened),
      });
    this.#openForm();
  }

  #openForm() {
    const row = this.data.rows.find((one) => rowName(one) === this.opened);
    const place = this.list.querySelector(`[data-row="${CSS.escape(this.opened)}"]`);
    if (!row || !place) {
      this.slot.remove();
      return;
    }
    place.append(this.slot);
    const { may, words, revision } = this.data;
    const { choices } = this.data;
    const decisions = [...choices.decisions, ...(words[row.meeting] ?? [])];
    this.form.update({ may, choices: { ...choices, decisions } });
    const key = row.model ?? "";
    const subjects = [{ key, name: row.modelName ?? tr("The case"), shown: row.shown }];
    this.form.open({ ...row, subjects, rows: { [key]: row }, revision });
  }

  /** Refused entries whose row is not here with its form open. */
  #drawReturned() {
    const back = outbox
      .returnedOf(PAGE, "decide")
      .filter(([, one]) => rowName(entryAbout(one)) !== this.opened);
    this.back.replaceChildren(
      ...back.flatMap(([key, one]) => [
        html(
          "p",
          {},
          tr("Not accepted, on {case}: {reason}", { case: one.case, reason: one.reason }),
        ),
        button(tr("Dismiss"), () => outbox.putAway([key])),
      ]),
    );
  }
}

function entryAbout({ subject, case: of, slot }) {
  return { meeting: subject, case: of, model: slot };
}

function rowName({ meeting, case: of, model }) {
  return JSON.stringify([meeting, of, model ?? null]);
}

export const mount = mounting((place) => new DecisionList(place));

// On the Case page: the meetings' decisions about the case, and the form if a meeting has it.

import { turning } from "../../../turning/assets/turning.js";
import { button, html, set } from "../../../web/components/dom.js";
import { mounting } from "../../../web/components/mount.js";
import { tr } from "../../../web/components/words.js";
import { outbox } from "../../../web/saving/assets/outbox.js";
import { DecisionForm } from "./decision_form.js";
import { historyNode, summary, when } from "./decision_words.js";

class CaseDecisions {
  constructor(/** @type {HTMLElement} */ place) {
    this.meeting = "";
    /** @type {import("../../../web/components/events.js").Tell} */
    this.tell = () => {};
    this.root = html("section", { class: "rx-d-case", "aria-label": tr("Meetings") });
    this.past = html("div", {});
    this.meetings = html("div", {
      class: "rx-d-tabs",
      role: "radiogroup",
      "aria-label": tr("Meeting"),
    });
    this.title = html("h3", {});
    this.slot = html("div", {});
    this.root.append(this.past, this.meetings, this.title, this.slot);
    this.form = new DecisionForm(this.slot, () => this.tell("refresh", Date.now()));
    this.unturn = turning.listen({ show: () => this.#align(), waiting: () => this.#align() });
    place.append(this.root);
  }

  close() {
    this.unturn();
    this.form.close();
    this.root.remove();
  }

  update(data, tell) {
    this.data = data;
    this.tell = tell;
    outbox.configure(data.outbox);
    const ids = data.meetings.map(({ id }) => id);
    if (!ids.includes(this.meeting)) this.meeting = ids[0] ?? "";
    this.slot.hidden = ids.length === 0;
    this.title.hidden = ids.length !== 1;
    this.title.textContent = tr("Decide in “{name}”", { name: data.meetings[0]?.name });
    this.meetings.hidden = ids.length < 2;
    this.meetings.replaceChildren(
      ...data.meetings.map(({ id, name }) =>
        button(name, () => this.#choose(id), { role: "radio", "data-id": id }),
      ),
    );
    this.past.replaceChildren(
      ...data.past.map((row) =>
        html(
          "article",
          { class: "rx-d-past" },
          html(
            "p",
            {},
            html("b", {}, `${row.meetingName}${row.model ? `, ${row.modelName}` : ""}: `),
            summary(row.value, data.choices),
          ),
          html(
            "small",
            {},
            [
              `${row.at ? `${when(row.at)}, ` : ""}${row.by}`,
              row.replaced ? `. ${tr("The answer has been changed since.")}` : "",
            ].join(""),
          ),
          historyNode(row, data.choices),
        ),
      ),
    );
    if (this.meeting) this.#show();
    this.#align();
  }

  /** Until the page has followed to the shown case, nothing can be decided on it. */
  #align() {
    this.root.inert = !turning.isOf(this.data?.case);
  }

  #choose(id) {
    this.meeting = id;
    this.#show();
  }

  #show() {
    const { data, meeting } = this;
    for (const tab of this.meetings.children)
      set(tab, { "aria-checked": String(/** @type {HTMLElement} */ (tab).dataset.id === meeting) });
    const words = data.meetings.find(({ id }) => id === meeting)?.decisions ?? [];
    const choices = { ...data.choices, decisions: [...data.choices.decisions, ...words] };
    this.form.update({ may: data.may, choices });
    const { case: of, subjects, revision, proposals } = data;
    const rows = data.rows[meeting] ?? {};
    this.form.open({ meeting, case: of, subjects, rows, revision, proposals });
  }
}

export const mount = mounting((place) => new CaseDecisions(place));

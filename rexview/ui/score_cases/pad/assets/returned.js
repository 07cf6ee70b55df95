// Entries that the server refused: the answers have changed since, or another window saved
// something
// first. They are shown until the reader dismisses them, so that they can be entered again.

import { button, html } from "../../../web/components/dom.js";
import { tr } from "../../../web/components/words.js";
import { outbox } from "../../../web/saving/assets/outbox.js";
import { skippedWords } from "./pad_words.js";

/** @import { Pad } from "./pad.js" */

const BEGINNING = 60;

/** The start of an answer's text: its letter may belong to another one by then. */
export function beginningOf(answer) {
  const page = new DOMParser().parseFromString(answer.html, "text/html"); // nothing in it is run
  const text = page.body.textContent.trim().replace(/\s+/g, " ");
  return text.length > BEGINNING ? `${text.slice(0, BEGINNING)}…` : text;
}

export class Returned {
  constructor(/** @type {Pad} */ pad) {
    this.pad = pad;
    this.node = html("div", { class: "returned", role: "alert", hidden: true });
    this.listed = "";
  }

  /** Show the refused entries: first those of the shown case. */
  refresh() {
    const here = this.pad.case.case;
    const every = outbox.returnedHere("score", "verdict", "skip");
    const listed = JSON.stringify([here, every]);
    if (listed === this.listed) return;
    this.listed = listed;
    const cases = [...new Set(every.map(([, entry]) => entry.case))];
    cases.sort((a, b) => Number(b === here) - Number(a === here));
    this.node.replaceChildren(
      ...cases.map((caseId) =>
        this.#block(
          caseId,
          every.filter(([, entry]) => entry.case === caseId),
        ),
      ),
    );
    this.node.hidden = cases.length === 0;
  }

  #block(caseId, kept) {
    const here = caseId === this.pad.case.case;
    const reasons = [...new Set(kept.map(([, { reason }]) => reason))];
    const entries = kept.map(([, entry]) => entry);
    const listed = this.pad.data.worklist.entries.some(([one]) => one === caseId);
    const putAway = () => outbox.putAway(kept.map(([key]) => key));
    return html(
      "section",
      { "data-case": caseId },
      html(
        "p",
        {},
        html("b", {}, here ? tr("Not saved") : tr("Not saved in {case}", { case: caseId })),
        ": ",
        reasons.join(" "),
      ),
      html("ul", {}, ...entries.map((entry) => html("li", {}, this.#words(entry)))),
      here || !listed
        ? null
        : button(tr("Go to the case"), () => this.pad.go(caseId), { class: "plain" }),
      button(tr("Dismiss"), putAway, { class: "plain" }),
    );
  }

  #words({ kind, slot, subject, picture, field, value, began }) {
    if (kind === "skip") return skippedWords(value);
    const whose = began
      ? tr("Answer {slot} (“{began}”)", { slot, began })
      : tr("Answer {slot}", { slot });
    if (kind === "verdict") return `${whose}: ${this.pad.data.failures[subject]?.name ?? subject}`;
    const where = this.pad.titleOf({ dimension: subject, picture });
    return field === "comment"
      ? tr("{answer}, {dimension}, comment: {words}", {
          answer: whose,
          dimension: where,
          words: value,
        })
      : `${whose}, ${where}: ${value}`;
  }
}

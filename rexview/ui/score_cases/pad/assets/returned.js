// What the reader gave and the server did not take: the answers were changed since, or another
// window had saved something first. It is kept in this browser's storage and shown until the reader
// puts it away, so that it can be given again. It holds up nothing that comes after it.

import { button, html } from "../../../components/dom.js";
import { drop, keysOf, put, read } from "./outbox.js";

/** @import { Pad } from "./pad.js" */

const PREFIX = "rexview:returned:";
const BEGINNING = 60;
const SAME = ["case", "kind", "slot", "shown", "subject", "picture", "field"];

/** How the text of an answer begins: its letter may stand for another one by then. */
export function beginningOf(answer) {
  const page = new DOMParser().parseFromString(answer.html, "text/html"); // nothing in it is run
  const text = page.body.textContent.trim().replace(/\s+/g, " ");
  return text.length > BEGINNING ? `${text.slice(0, BEGINNING)}…` : text;
}

export class Returned {
  constructor(/** @type {Pad} */ pad) {
    this.pad = pad;
    this.memory = new Map(); // what the storage did not take
    this.node = html("div", { class: "returned", role: "alert", hidden: true });
    this.listed = "";
  }

  get #begin() {
    return `${PREFIX}${this.pad.outbox.owner}:`;
  }

  /** Keep an entry that was not taken, in place of earlier ones on the same thing. */
  keep(entry, reason) {
    if (entry.kind === "reveal") return;
    for (const [key, before] of this.#all()) {
      if (SAME.every((name) => before[name] === entry[name])) this.#drop(key);
    }
    if (entry.value === null || entry.value === "" || entry.value === false) return; // took it back
    const key = `${this.#begin}${entry.order}-${entry.token}`;
    const kept = { ...entry, reason };
    if (!put(key, JSON.stringify(kept))) this.memory.set(key, kept);
  }

  #all() {
    const found = new Map(this.memory);
    for (const key of keysOf(this.#begin)) {
      const entry = read(key);
      if (entry) found.set(key, entry);
    }
    return [...found.entries()].sort(([a], [b]) => (a < b ? -1 : 1));
  }

  #drop(key) {
    this.memory.delete(key);
    drop(key);
  }

  /** Show what is kept: of the case on the screen first. */
  refresh() {
    const here = this.pad.case.case;
    const every = this.#all();
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
    const putAway = () => {
      for (const [key] of kept) this.#drop(key);
      this.refresh();
    };
    const listed = this.pad.data.worklist.entries.some(([one]) => one === caseId);
    return html(
      "section",
      { "data-case": caseId },
      html(
        "p",
        {},
        html("b", {}, here ? "Not saved" : `Not saved in ${caseId}`),
        ": ",
        reasons.join(" "),
      ),
      html("ul", {}, ...entries.map((entry) => html("li", {}, this.#words(entry)))),
      here || !listed
        ? null
        : button("Go to the case", () => this.pad.go(caseId), { class: "plain" }),
      button("Put away", putAway, { class: "plain" }),
    );
  }

  #words({ kind, slot, subject, picture, field, value, began }) {
    if (kind === "skip") return `Skipped: ${value}`;
    const whose = began ? `Answer ${slot} (“${began}”)` : `Answer ${slot}`;
    if (kind === "verdict") return `${whose}: ${this.pad.data.failures[subject]?.name ?? subject}`;
    const dimension = this.pad.dimension(subject)?.name ?? subject;
    const where = Number.isInteger(picture) ? `${dimension}, picture ${picture + 1}` : dimension;
    return field === "comment"
      ? `${whose}, ${where}, comment: ${value}`
      : `${whose}, ${where}: ${value}`;
  }
}

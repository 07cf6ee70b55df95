// A pad beside which the page shows what has come of its items so far: once the last entry is saved, the
// page is asked to count anew.

import { html } from "../../components/dom.js";
import { outbox } from "../../saving/assets/outbox.js";
import { TaskPad } from "./task_pad.js";

/** @import { ItemWords } from "./types.d.ts" */

const REST_MS = 700; // after the last entry

export class CountedPad extends TaskPad {
  /**
   * @param {HTMLElement} place
   * @param {{ page: string, kinds: string[], items: ItemWords }} words
   * @param {string} name its class
   * @param {string} hint its keys, in words
   */
  constructor(place, words, name, hint) {
    super(place, words);
    this.root.classList.add(name);
    this.undoable = []; // what was given in this tab, newest last
    this.frame.feet.prepend(html("span", { class: "hint" }, hint));
    const nothing = () => {};
    const heard = (_reply, batch) => this.#saved(batch);
    this.unhear = outbox.listen({ changed: nothing, refresh: nothing, heard });
  }

  close() {
    clearTimeout(this.rest);
    this.unhear();
    super.close();
  }

  /** Whether the page's counts change with an entry. */
  isCounted({ page, kind }) {
    return page === this.words.page && this.words.kinds.includes(kind);
  }

  #saved(batch) {
    if (!batch.some((entry) => this.isCounted(entry))) return;
    clearTimeout(this.rest);
    this.rest = setTimeout(() => this.tell("refresh", Date.now()), REST_MS);
  }
}

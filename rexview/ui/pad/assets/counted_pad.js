// A pad with a summary of its items on the page: once the last entry is saved, the page is asked to
// count again.

import { html } from "../../web/components/dom.js";
import { RepeatedRequest } from "../../web/components/repeated_request.js";
import { outbox } from "../../web/saving/assets/outbox.js";
import { TaskPad } from "./task_pad.js";

/** @import { ItemWords } from "./types.d.ts" */

const REST_MS = 700; // after the last entry
const PATIENCE_MS = 30_000;

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
    this.undoable = []; // entries made in this tab, newest last
    this.frame.feet.prepend(html("span", { class: "hint" }, hint));
    const nothing = () => {};
    this.counting = new RepeatedRequest();
    this.entered = -1; // revision of the reviews with the last entry
    const heard = (reply, batch) => this.#saved(reply, batch);
    this.unhear = outbox.listen({ changed: nothing, refresh: nothing, heard });
  }

  close() {
    clearTimeout(this.rest);
    this.counting.end();
    this.unhear();
    super.close();
  }

  update(data, tell) {
    if (data.case.own.revision >= this.entered) this.counting.end();
    super.update(data, tell);
  }

  /** Whether the page's counts change with an entry. */
  isCounted({ page, kind }) {
    return page === this.words.page && this.words.kinds.includes(kind);
  }

  #saved(reply, batch) {
    if (!batch.some((entry) => this.isCounted(entry))) return;
    this.entered = reply.revision;
    this.counting.end();
    clearTimeout(this.rest);
    const ask = () => this.tell("refresh", Date.now());
    this.rest = setTimeout(() => this.counting.begin(ask, PATIENCE_MS, () => {}), REST_MS);
  }
}

// Text typed into a field that is no entry yet. Each key press is stored in this browser at once,
// so
// that a tab that crashes loses nothing. It becomes an entry when the field is left, or after a
// pause.
// Until then every saved state reports it (`outbox.status`).

import { rootOf } from "../../components/dom.js";
import { outbox } from "./outbox.js";

/**
 * @typedef {object} TypedDraft
 * @property {string} kind
 * @property {string} text
 * @property {any} [known] the state known to its writer when they started to type
 */

export class TypedText {
  /**
   * @param {HTMLInputElement | HTMLTextAreaElement} field
   * @param {() => string} name names the current subject of the field, in this browser
   * @param {(text: string, known: any) => void} give makes an entry of the typed text
   * @param {{ known?: () => any, pauseMs?: number }} [options] `pauseMs` without a key makes one,
   * too
   */
  constructor(field, name, give, { known = () => null, pauseMs = 0 } = {}) {
    this.field = field;
    this.nameOf = name;
    this.give = give;
    this.known = known;
    this.pauseMs = pauseMs;
    /** @type {string | null} */
    this.name = null; // of typed text that is no entry yet
    field.addEventListener("input", () => this.#keep());
    field.addEventListener("change", () => this.commit());
    field.addEventListener("blur", () => this.commit());
  }

  #keep() {
    this.name ??= this.nameOf();
    const before = outbox.drafts.get(outbox.owner, this.name);
    const known = before ? before.known : this.known();
    outbox.keepTyped(this.name, { kind: "typed", text: this.field.value, known });
    clearTimeout(this.timer);
    if (this.pauseMs > 0) this.timer = setTimeout(() => this.commit(), this.pauseMs);
  }

  /** Make an entry of typed text, if any; it is in the outbox before the draft is deleted. */
  commit() {
    clearTimeout(this.timer);
    const { name } = this;
    if (name === null) return;
    const draft = outbox.drafts.get(outbox.owner, name);
    this.name = null;
    if (draft) this.give(this.field.value, draft.known);
    outbox.dropTyped(name);
  }

  /** Show the stored value, or the draft over it; a field in use is left alone. */
  fill(/** @type {string} */ text) {
    if (rootOf(this.field)?.activeElement === this.field) return;
    const name = this.nameOf();
    if (this.name !== null && this.name !== name) this.commit();
    const draft = outbox.drafts.get(outbox.owner, name);
    this.name = draft ? name : null;
    if (draft) outbox.typing.add(name);
    this.field.value = draft ? draft.text : text;
  }
}

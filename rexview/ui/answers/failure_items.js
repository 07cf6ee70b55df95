// The failures listed on the page: the one that keys apply to, and the focus across reruns.

import { every } from "../web/components/dom.js";

export class FailureItems {
  constructor() {
    this.current = null; // "model/failure"
    this.focusOn = null; // selector of the element that gets the focus after the page is redrawn
    this.bring = null; // "model/failure" to scroll into view once it is on the page
  }

  /** Continue with a failure's button: keys apply to the failure, and the focus returns to it. */
  goOn({ model, failure, verdict }) {
    this.current = `${model}/${failure}`;
    this.focusOn = Object.entries({ model, failure, verdict }).reduce(
      (selector, [name, value]) => `${selector}[data-rx-${name}="${CSS.escape(value)}"]`,
      "button",
    );
  }

  get all() {
    return every("[data-rx-item]");
  }

  /** The element of a failure, "model/failure", undefined without. */
  of(key) {
    return this.all.find((one) => one.dataset.rxItem === key);
  }

  /** The element with the buttons of a failure, and its entries so far. */
  buttonsOf(key) {
    const item = this.of(key);
    return item && every(".rx-verdicts", item)[0];
  }

  /** The model of the current answer, else of the first one. */
  get model() {
    if (this.of(this.current)) return this.buttonsOf(this.current)?.dataset.rxModel;
    return every("[data-rx-add]")[0]?.dataset.rxAdd;
  }

  /** Go to the next or previous failure and unfold it; first to one of the filter. */
  step(by) {
    const { all } = this;
    if (all.length === 0) return;
    const at = all.findIndex((one) => one.dataset.rxItem === this.current);
    const asked = Math.max(
      all.findIndex((one) => one.dataset.rxAsked !== undefined),
      0,
    );
    const first = by > 0 ? asked : all.length - 1;
    const item = all[at < 0 ? first : (at + by + all.length) % all.length];
    this.current = item.dataset.rxItem;
    let folded = item.querySelector("details") ?? item.closest("details");
    for (; folded; folded = folded.parentElement.closest("details")) folded.open = true;
    item.querySelector("summary")?.focus({ preventScroll: true });
    item.scrollIntoView({ block: "nearest", inline: "nearest" });
    this.align();
  }

  press(selector) {
    const item = this.of(this.current);
    if (item) every(selector, item)[0]?.click();
    else this.step(1); // first shows which failure the key would apply to
  }

  /** The focus moved to an element: keys apply to its failure. */
  enter(element) {
    const item = element.closest?.("[data-rx-item]");
    if (!item) return;
    this.current = item.dataset.rxItem;
    this.align();
  }

  /** Update the page, which may have been redrawn. */
  align() {
    for (const one of this.all) {
      one.toggleAttribute("data-rx-current", one.dataset.rxItem === this.current);
    }
    const brought = this.bring && this.of(this.bring);
    if (brought) {
      brought.scrollIntoView({ block: "nearest", inline: "nearest" });
      this.bring = null;
    }
    const lost = document.activeElement === null || document.activeElement === document.body;
    if (this.focusOn && lost) every(this.focusOn)[0]?.focus({ preventScroll: true });
  }
}

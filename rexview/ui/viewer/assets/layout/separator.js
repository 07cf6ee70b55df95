// A movable divider between two parts of the screen: with the mouse, a finger or the arrow keys; a
// double click restores the usual sizes. The choice is stored in this browser.

import { html, set } from "../../../web/components/dom.js";
import { tr } from "../../../web/components/words.js";
import { forget, remember, remembered } from "../storage.js";

const STEP = 0.02; // share of the whole that an arrow key moves it
const LONG_STEP = 0.1;

/**
 * Limit a share so that both parts keep their least pixels; without enough room, in proportion.
 */
export function limitShare(share, whole, /** @type {number[]} */ least) {
  const [first, second] = least;
  if (whole < first + second) return first / (first + second);
  return Math.min(Math.max(share, first / whole), 1 - second / whole);
}

export class Separator {
  /**
   * @param {object} options
   * @param {string} options.name its label for a screen reader
   * @param {string} options.key the browser's key for it
   * @param {number[]} options.least pixels that each of the two parts keeps
   * @param {() => {start: number, size: number}} options.frame the whole on the screen, CSS pixels
   * @param {(share: number | null) => void} options.changed the share of the first part, null for the
   *   usual one
   */
  constructor({ name, key, least, frame, changed }) {
    this.key = key;
    this.least = least;
    this.frame = frame;
    this.changed = changed;
    this.upright = true; // divides left from right
    this.share = shareIn(remembered(key));
    this.node = html("div", {
      class: "separator",
      tabindex: "0",
      role: "separator",
      "aria-label": name,
      title: tr("{name}: drag; double click for the default size", { name }),
      onpointerdown: (event) => this.#press(event),
      onpointermove: (event) => this.#move(event),
      onpointerup: () => this.#release(),
      onlostpointercapture: () => this.#release(),
      ondblclick: () => this.reset(),
      onkeydown: (event) => this.#key(event),
    });
    this.dragging = false;
  }

  /** Update it to the arrangement of the parts and the size of the first one. */
  refresh(upright, share) {
    this.upright = upright;
    this.now = share;
    const percent = (value) => Math.round(value * 100);
    const { size } = this.frame();
    set(this.node, {
      "aria-orientation": upright ? "vertical" : "horizontal",
      "aria-valuenow": percent(share),
      "aria-valuemin": percent(limitShare(0, size, this.least)),
      "aria-valuemax": percent(limitShare(1, size, this.least)),
    });
  }

  reset() {
    this.share = null;
    forget(this.key);
    this.changed(null);
  }

  #to(share) {
    this.share = limitShare(share, this.frame().size, this.least);
    this.changed(this.share);
  }

  #keep() {
    if (this.share !== null) remember(this.key, Number(this.share.toFixed(4)));
  }

  #press(event) {
    if (event.button !== 0) return;
    event.preventDefault();
    this.node.focus({ preventScroll: true });
    this.node.setPointerCapture(event.pointerId);
    this.dragging = true;
    this.node.classList.add("dragging");
  }

  #move(event) {
    if (!this.dragging) return;
    const { start, size } = this.frame();
    if (size > 0) this.#to(((this.upright ? event.clientX : event.clientY) - start) / size);
  }

  #release() {
    if (!this.dragging) return;
    this.dragging = false;
    this.node.classList.remove("dragging");
    this.#keep();
  }

  #key(event) {
    const [back, on] = this.upright ? ["ArrowLeft", "ArrowRight"] : ["ArrowUp", "ArrowDown"];
    const step = event.shiftKey ? LONG_STEP : STEP;
    if (event.key === back) this.#to(this.now - step);
    else if (event.key === on) this.#to(this.now + step);
    else if (event.key === "Home") this.#to(0);
    else if (event.key === "End") this.#to(1);
    else if (event.key === "Enter" || event.key === "Delete") this.reset();
    else return;
    if (this.share !== null) this.#keep();
    event.preventDefault();
    event.stopPropagation();
  }
}

function shareIn(kept) {
  return typeof kept === "number" && kept > 0 && kept < 1 ? kept : null;
}

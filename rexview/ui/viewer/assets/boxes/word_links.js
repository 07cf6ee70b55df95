// Findings in the page and their boxes highlight each other.
//
// An element with `data-rx-finding="KEY"`, or a link to "#finding-KEY", belongs to the boxes whose
// `finding` is KEY; either may name several keys, separated by spaces. Pointing at it or focusing
// it
// highlights these boxes, and marks the other words of these findings with `data-rx-lit`. Pointing
// at a
// box marks its words. Other components highlight boxes by the events "light" and "evidence" of the
// page; the latter keeps the boxes of the pinned flag highlighted, with their group shown, until
// another flag is pinned.

import { listenToPage } from "../../../web/components/events.js";

/** @import { BoxGroups } from "./box_groups.js" */

const ANCHOR = "#finding-";
const SELECTOR = `[data-rx-finding], a[href^="${ANCHOR}"]`;

function findingsOf(element) {
  const { rxFinding } = element.dataset;
  return rxFinding
    ? split(rxFinding)
    : [decodeURIComponent(element.getAttribute("href").slice(ANCHOR.length))];
}

function split(keys) {
  return (keys ?? "").split(" ").filter(Boolean);
}

function shows(box, findings) {
  return split(box.finding).some((key) => findings.has(key));
}

export class WordLinks {
  constructor(/** @type {BoxGroups} */ groups, /** @type {AbortSignal} */ signal) {
    this.groups = groups;
    this.light = (isLit) => groups.lightWhere(isLit);
    this.lit = [];
    for (const [starts, ends] of [
      ["pointerover", "pointerout"],
      ["focusin", "focusout"],
    ]) {
      document.addEventListener(starts, (event) => this.#start(event), { signal });
      document.addEventListener(ends, (event) => this.#end(event), { signal });
    }
    document.addEventListener("click", (event) => this.#click(event), { signal, capture: true });
    const named = (detail) => this.light(detail && ((box) => detail.boxes.includes(box.id)));
    listenToPage("light", named, signal);
    listenToPage("evidence", (detail) => this.#lightEvidence(detail), signal);
  }

  #findings(event) {
    const element = event.target instanceof Element ? event.target.closest(SELECTOR) : null;
    return element ? new Set(findingsOf(element)) : null;
  }

  #start(event) {
    const findings = this.#findings(event);
    if (findings === null) return;
    this.light((box) => shows(box, findings));
    this.#lightWords(findings);
  }

  #end(event) {
    if (this.#findings(event) === null) return;
    this.light(null);
    this.#lightWords(new Set());
  }

  /** A click on such a link remains on the page and keeps the address. */
  #click(event) {
    const link =
      event.target instanceof Element ? event.target.closest(`a[href^="${ANCHOR}"]`) : null;
    if (link) event.preventDefault();
  }

  #lightEvidence({ flags, pinned }) {
    const carries = (keys) => (box) => (box.flags ?? []).some((key) => keys.includes(key));
    this.groups.pin(pinned, pinned ? carries([pinned]) : null);
    this.light(flags.length > 0 ? carries(flags) : null);
  }

  /** Highlight the words on the page that belong to these boxes. */
  lightWordsOf(boxes) {
    this.#lightWords(new Set(boxes.flatMap((box) => split(box.finding))));
  }

  #lightWords(findings) {
    for (const element of this.lit) delete element.dataset.rxLit;
    const all = findings.size === 0 ? [] : [...document.querySelectorAll(SELECTOR)];
    this.lit = all.filter((one) => findingsOf(one).some((key) => findings.has(key)));
    for (const element of this.lit) element.dataset.rxLit = "";
  }
}

// Turning to a neighbouring case ahead of the page: the picture is there at once, and the texts
// beside it, still those of the case before, are dimmed until the page has followed.

import { listenToPage } from "../../components/events.js";
import { RepeatedRequest } from "../../components/repeated_request.js";

/** @import { Direction } from "./types.d.ts" */

// Then what the page says counts again, whatever it is. Long, since until then the texts are those of
// another case and stay dimmed, and keys pressed meanwhile are kept: a busy server may need seconds.
const PATIENCE_MS = 30_000;
const MOST_KEPT = 9;
const MARK = "rxTurning";
/** @type {Record<Direction, string>} */
const BUTTONS = { next: ".st-key-case_next button", previous: ".st-key-case_previous button" };

export class CaseTurning {
  /**
   * @param {(direction: Direction) => void} turn called when the page's own button is pressed, and by
   *   the event "turn"
   */
  constructor(turn, /** @type {AbortSignal} */ signal) {
    this.target = null;
    this.later = [];
    this.request = new RepeatedRequest();
    const pressed = (event) => {
      for (const direction of /** @type {Direction[]} */ (["next", "previous"])) {
        const button = event.target.closest?.(BUTTONS[direction]);
        if (button && !button.disabled) turn(direction);
      }
    };
    document.addEventListener("click", pressed, { capture: true, signal });
    listenToPage("turn", turn, signal);
  }

  /** Keep a turn for later while the case asked for is not on the screen; whether it was kept. */
  keep(direction, shown) {
    if (this.target === null || this.target === shown) return false;
    if (this.later.length < MOST_KEPT) this.later.push(direction);
    return true;
  }

  /** The turn that was kept first, if the page has followed. */
  kept() {
    return this.target === null ? this.later.shift() : undefined;
  }

  /** Wait for the page to show a case; `ask` asks for it, unless the page goes there by itself. */
  begin(target, ask) {
    this.target = target;
    this.until = performance.now() + PATIENCE_MS;
    document.documentElement.dataset[MARK] = "";
    this.request.begin(ask, PATIENCE_MS, () => {
      this.later = [];
      this.end();
    });
  }

  /** Whether data of this case may be shown now; the awaited case ends the turning. */
  accepts(caseId) {
    if (this.target === null) return true;
    if (caseId !== this.target && performance.now() < this.until) return false;
    this.end();
    return true;
  }

  end() {
    this.target = null;
    this.request.end();
    delete document.documentElement.dataset[MARK];
  }
}

// The time for which each case has been shown, against the planned minutes. The elapsed time is
// reported
// regularly, so that a closed window loses little.

import { outbox } from "../../../web/saving/assets/outbox.js";

const TELL_MS = 30_000;
const PAGE = "meeting page";

export class Timer {
  /**
   * @param {{ tick: () => void, passed: (id: string, seconds: number) => void }} on called each
   * second,
   *   and with the time elapsed since the last report
   */
  constructor(on) {
    this.on = on;
    this.case = "";
    this.running = true;
    /** @type {Map<string, number>} milliseconds by case, of earlier showings too */
    this.shown = new Map();
    this.untold = 0;
    this.from = performance.now();
    this.beat = setInterval(() => this.#beat(), 1000);
    this.leave = () => this.tell();
    window.addEventListener("pagehide", this.leave);
  }

  close() {
    this.tell();
    clearInterval(this.beat);
    window.removeEventListener("pagehide", this.leave);
  }

  /** Start with the earlier time of a case, in seconds. */
  know(/** @type {string} */ id, /** @type {number} */ seconds) {
    if (!this.shown.has(id)) this.shown.set(id, seconds * 1000);
  }

  /** Another case is shown. */
  turn(/** @type {string} */ id) {
    if (id === this.case) return;
    this.tell();
    this.case = id;
  }

  toggle() {
    this.#count();
    this.running = !this.running;
    this.on.tick();
  }

  get seconds() {
    this.#count();
    return (this.shown.get(this.case) ?? 0) / 1000;
  }

  /** Report the elapsed time of the shown case. */
  tell() {
    this.#count();
    if (this.untold >= 1000 && this.case) this.on.passed(this.case, this.untold / 1000);
    this.untold = 0;
  }

  #count() {
    const now = performance.now();
    if (this.running && this.case) {
      this.shown.set(this.case, (this.shown.get(this.case) ?? 0) + now - this.from);
      this.untold += now - this.from;
    }
    this.from = now;
  }

  #beat() {
    this.#count();
    if (this.untold >= TELL_MS) this.tell();
    this.on.tick();
  }
}

/** Store the time of a case if it is longer than before. */
export function keepShown({ id: subject, closed }, /** @type {string} */ id, seconds) {
  if (closed) return;
  const value = { more_seconds: Math.round(seconds * 10) / 10 };
  outbox.add({ page: PAGE, kind: "discussed", case: id, subject, slot: null, value });
}

/** Minutes and seconds: 2:05. */
export function minutes(/** @type {number} */ seconds) {
  const whole = Math.floor(seconds);
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, "0")}`;
}

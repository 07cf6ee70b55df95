// When the page behind the pad is gone: the server was started anew, or the ticket ended while the
// computer slept. The page is asked for new data; if none comes though the server answers, the page
// is loaded anew. Nothing is lost by that: what was entered is in the browser's storage.

/** @import { Pad } from "./pad.js" */

const PATIENCE_MS = 4000;
const FOLLOW_MS = 12_000; // a busy server takes its time
const FOLLOW_AGAIN_MS = 3000;
const AGAIN_MS = 1500;
const AT_MOST_EVERY_MS = 20_000;
const LAST = "rexview:reloaded";

export class Renewal {
  constructor(/** @type {Pad} */ pad) {
    this.pad = pad;
  }

  close() {
    clearTimeout(this.timer);
    this.#stop();
  }

  #stop() {
    clearTimeout(this.waiting);
    clearInterval(this.asking);
  }

  /** The ticket is not good any more. */
  begin() {
    if (this.timer) return;
    const { ticket } = this.pad.data;
    this.pad.tell("refresh", Date.now());
    this.timer = setTimeout(() => {
      this.timer = null;
      if (this.pad.data.ticket === ticket) this.#reload();
    }, PATIENCE_MS);
  }

  /** Ask the page for another case, again and again: what is asked while it runs anew can be lost. */
  await(ask) {
    this.#stop();
    ask();
    this.asking = setInterval(ask, FOLLOW_AGAIN_MS);
    this.waiting = setTimeout(() => {
      clearInterval(this.asking);
      this.stuck = true;
      this.pad.outbox.ask(); // is the server there at all?
    }, FOLLOW_MS);
  }

  /** The page has followed. */
  came(data) {
    if (this.pad.awaited && this.pad.awaited.case !== data.case.case) return;
    this.#stop();
    this.stuck = false;
  }

  /** The server has answered; the page may be gone all the same. */
  reached() {
    if (this.stuck) this.#reload();
  }

  #reload() {
    const { pad } = this;
    const last = Number(sessionStorage.getItem(LAST) ?? 0);
    const soon = Math.abs(Date.now() - last) < AT_MOST_EVERY_MS; // also after a clock was set back
    if (pad.typing || pad.outbox.memory.size > 0 || pad.returned.memory.size > 0 || soon) {
      clearTimeout(this.timer);
      this.timer = setTimeout(() => {
        this.timer = null;
        pad.outbox.ask();
      }, AGAIN_MS);
      return;
    }
    pad.settle();
    sessionStorage.setItem(LAST, String(Date.now()));
    const address = new URL(location.href);
    address.searchParams.set("case", pad.case.case);
    history.replaceState(history.state, "", address);
    location.reload();
  }
}

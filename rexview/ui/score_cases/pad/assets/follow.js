// The page follows the pad to another case; where it does not, though the server answers, it is gone
// and is loaded anew.

import { outbox } from "../../../saving/assets/outbox.js";

const PATIENCE_MS = 12_000; // a busy server takes its time
const AGAIN_MS = 3000;

export class Follow {
  constructor(pad) {
    this.pad = pad;
    this.stuck = false;
  }

  close() {
    clearTimeout(this.waiting);
    clearInterval(this.asking);
  }

  /** Ask the page for another case, again and again: what is asked while it runs anew can be lost. */
  await(ask) {
    this.close();
    ask();
    this.asking = setInterval(ask, AGAIN_MS);
    this.waiting = setTimeout(() => {
      clearInterval(this.asking);
      this.stuck = true;
      outbox.ask(); // is the server there at all?
    }, PATIENCE_MS);
  }

  /** The page has followed. */
  came(data) {
    if (this.pad.awaited && this.pad.awaited.case !== data.case.case) return;
    this.close();
    this.stuck = false;
  }

  /** The server has answered; the page may be gone all the same. */
  reached() {
    if (this.stuck) outbox.renewal.reload();
  }
}

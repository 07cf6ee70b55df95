// The page follows the pad to another case; where it does not, though the server answers, it is gone
// and is loaded anew.

import { turning } from "../../turning/assets/turning.js";
import { RepeatedRequest } from "../../web/components/repeated_request.js";
import { outbox } from "../../web/saving/assets/outbox.js";

const PATIENCE_MS = 12_000; // a busy server takes its time

export class Follow {
  constructor(pad) {
    this.pad = pad;
    this.stuck = false;
    this.number = null; // of the request that is being made
    this.request = new RepeatedRequest();
  }

  close() {
    this.request.end();
  }

  /** Ask the page for another case until it has come. */
  await(wanted) {
    if (this.number === wanted.number) return; // it is being asked
    this.number = wanted.number;
    const ask = () => this.pad.tell("go", wanted);
    this.request.begin(ask, PATIENCE_MS, () => {
      this.stuck = true;
      outbox.ask(); // is the server there at all?
    });
  }

  /** The page has followed. */
  came(data) {
    if (turning.unmet || turning.isBehind(data.case.case)) return;
    this.close();
    this.stuck = false;
  }

  /** The server has answered; the page may be gone all the same. */
  reached() {
    if (this.stuck) outbox.renewal.reload();
  }
}

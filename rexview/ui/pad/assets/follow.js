// Makes the page follow the pad to another case; if it does not, although the server answers, the
// page
// is dead and is reloaded.

import { turning } from "../../turning/assets/turning.js";
import { RepeatedRequest } from "../../web/components/repeated_request.js";
import { outbox } from "../../web/saving/assets/outbox.js";

const PATIENCE_MS = 12_000; // a busy server takes its time

export class Follow {
  constructor(pad) {
    this.pad = pad;
    this.stuck = false;
    this.number = null; // of the pending request
    this.request = new RepeatedRequest();
  }

  close() {
    this.request.end();
  }

  /** Request another case from the page until it has followed. */
  await(wanted) {
    if (this.number === wanted.number) return; // already requested
    this.number = wanted.number;
    const ask = () => this.pad.tell("go", wanted);
    this.request.begin(ask, PATIENCE_MS, () => {
      this.stuck = true;
      outbox.ask(); // is the server reachable?
    });
  }

  /** The page has followed. */
  came(data) {
    if (turning.unmet || turning.isBehind(data.case.case)) return;
    this.close();
    this.stuck = false;
  }

  /** The server has answered, but the page may still be dead. */
  reached() {
    if (this.stuck) outbox.renewal.reload();
  }
}

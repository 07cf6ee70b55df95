// A request to the page, repeated until it is met: a rerun of the script may lose a request.

const AGAIN_MS = 3000;

export class RepeatedRequest {
  /** Repeat `ask`; after `patience` ms stop and call `giveUp`. Without `ask`, wait. */
  begin(ask, patience, giveUp) {
    this.end();
    if (ask) {
      ask();
      this.asking = setInterval(ask, AGAIN_MS);
    }
    this.waiting = setTimeout(() => {
      this.end();
      giveUp();
    }, patience);
  }

  end() {
    clearTimeout(this.waiting);
    clearInterval(this.asking);
  }
}

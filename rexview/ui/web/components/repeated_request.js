// A request to the page, made again until it is met: what is asked of a script that runs anew is lost.

const AGAIN_MS = 3000;

export class RepeatedRequest {
  /** Ask now and again; after `patience` ms no more, and `giveUp` is called. Without `ask`, wait. */
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

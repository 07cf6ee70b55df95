// Renews an outdated page: the server restarted, or the ticket expired while the computer slept.
// The
// page is asked for new data; if there is none although the server answers, the page is reloaded.
// Nothing is lost by that: entries are in the browser's storage.

const PATIENCE_MS = 4000;
const AGAIN_MS = 1500;
const AT_MOST_EVERY_MS = 20_000;
const LAST = "rexview:reloaded";

export class Renewal {
  constructor(outbox) {
    this.outbox = outbox;
    this.timer = null;
  }

  /** The ticket is no longer valid. */
  begin() {
    if (this.timer) return;
    const { ticket, listeners } = this.outbox;
    for (const { refresh } of listeners) refresh();
    this.timer = setTimeout(() => {
      this.timer = null;
      if (this.outbox.ticket === ticket) this.reload();
    }, PATIENCE_MS);
  }

  /** Reload the page, unless the user is typing or it was just reloaded. */
  reload() {
    const listeners = [...this.outbox.listeners];
    const last = Number(sessionStorage.getItem(LAST) ?? 0);
    const soon = Math.abs(Date.now() - last) < AT_MOST_EVERY_MS; // also after a clock was set back
    if (soon || this.outbox.fleeting || listeners.some(({ busy }) => busy?.())) {
      clearTimeout(this.timer ?? undefined);
      this.timer = setTimeout(() => {
        this.timer = null;
        this.outbox.ask();
      }, AGAIN_MS);
      return;
    }
    if (listeners.length === 0) return; // a page that saves nothing
    for (const { leave } of listeners) leave?.();
    sessionStorage.setItem(LAST, String(Date.now()));
    location.reload();
  }
}

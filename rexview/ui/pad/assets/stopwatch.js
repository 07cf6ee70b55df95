// Measures the time for which an item was on the screen in a visible tab, since its first showing,
// also
// across reloads.

const PREFIX = "rexview:time:";

export class Stopwatch {
  constructor(/** @type {AbortSignal} */ signal) {
    this.name = null; // the timed item
    this.before = 0; // seconds before the current showing
    this.since = null; // start of the current showing, null while the tab is hidden
    const options = { signal };
    document.addEventListener("visibilitychange", () => this.#turn(), options);
    window.addEventListener("pagehide", () => this.stop(), options);
  }

  /** Time an item; the time continues from its last value. */
  begin(/** @type {string} */ name) {
    if (name === this.name) return;
    this.stop();
    this.name = name;
    this.before = read(name);
    this.#turn();
  }

  stop() {
    if (this.name === null) return;
    this.before = this.seconds;
    this.since = null;
    keep(this.name, this.before);
    this.name = null;
  }

  get seconds() {
    return this.before + (this.since === null ? 0 : (performance.now() - this.since) / 1000);
  }

  #turn() {
    this.before = this.seconds;
    this.since = document.hidden || this.name === null ? null : performance.now();
  }
}

function read(name) {
  try {
    return Number(sessionStorage.getItem(PREFIX + name)) || 0;
  } catch {
    return 0;
  }
}

function keep(name, seconds) {
  try {
    sessionStorage.setItem(PREFIX + name, String(seconds));
  } catch {
    // no storage in this browser: the time restarts
  }
}

// A window's memory across a reload: its name and, if it led, what was shown and revealed. A
// restarted
// server knows nothing, and its pages are reloaded if it has no secret.

/** @import { Cases, State } from "./types.d.ts" */

const WINDOW = "rexview:meeting:window";
const LED = "rexview:meeting:led:";

/** The name of this window, the same after a reload; a duplicated tab gets its own. */
export function ownWindow() {
  let name = wasReloaded() ? sessionStorage.getItem(WINDOW) : null;
  if (!name) {
    name = randomName();
    sessionStorage.setItem(WINDOW, name);
  }
  return name;
}

function wasReloaded() {
  const [entry] = performance.getEntriesByType("navigation");
  return entry instanceof PerformanceNavigationTiming && entry.type === "reload";
}

/** 32 hexadecimal digits. */
export function randomName() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

/**
 * The view shared by the leading window; `closed` are the cases whose opinions were shown.
 *
 * @typedef {{ cases: Cases, state: State | null, closed: string[] }} Led
 */

export function remember(/** @type {string} */ room, /** @type {Led} */ led) {
  sessionStorage.setItem(LED + room, JSON.stringify(led));
}

/** @returns {Led | null} null if another window led */
export function remembered(/** @type {string} */ room) {
  return wasReloaded() ? JSON.parse(sessionStorage.getItem(LED + room) ?? "null") : null;
}

// What a window remembers over a reload: its name, and if it led, what was shown and revealed. A
// server that was started anew knows nothing, and its pages are loaded anew where it has no secret.

/** @import { Cases, State } from "./types.d.ts" */

const WINDOW = "rexview:meeting:window";
const LED = "rexview:meeting:led:";

/** The name of this window, the same after a reload; a tab that was copied gets one of its own. */
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
 * What the window that led had shown; `closed` are the cases of which the opinions were.
 *
 * @typedef {{ cases: Cases, state: State | null, closed: string[] }} Led
 */

export function remember(/** @type {string} */ room, /** @type {Led} */ led) {
  sessionStorage.setItem(LED + room, JSON.stringify(led));
}

/** @returns {Led | null} null: another window is not this one's business */
export function remembered(/** @type {string} */ room) {
  return wasReloaded() ? JSON.parse(sessionStorage.getItem(LED + room) ?? "null") : null;
}

// Times by the user's own clock.

/** The time of day: 14:05. */
export function clock(/** @type {Date} */ at) {
  return at.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
}

/** The day as Python's pages write it, empty for today: 22 Nov 2026. */
export function dayUnlessToday(/** @type {Date} */ at) {
  if (at.toDateString() === new Date().toDateString()) return "";
  return at.toLocaleDateString("en-GB", { day: "numeric", month: "short", year: "numeric" });
}

// Which cases somebody saw with their models named, for the record of those who score.

import { outbox } from "./outbox.js";

/** Send that these cases were seen, or keep it until there is a name under which it can be sent. */
export function noteSeen(/** @type {Iterable<string>} */ cases) {
  const known = new Set(outbox.pendingOf("case page", "seen").map((one) => one.case));
  for (const one of cases)
    if (!known.has(one)) outbox.add({ page: "case page", case: one, kind: "seen", value: null });
}

/** Ask how the case in hand is now, where it was sent just now that cases were seen. */
export function askWhereSeen(/** @type {{ kind: string }[]} */ batch) {
  if (batch.some(({ kind }) => kind === "seen")) outbox.ask();
}

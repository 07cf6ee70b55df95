// Records the cases that a reader saw with their models named.

import { outbox } from "./outbox.js";

/** Send that these cases were seen, or store it until there is a name to send it with. */
export function noteSeen(/** @type {Iterable<string>} */ cases) {
  const known = new Set(outbox.pendingOf("case page", "seen").map((one) => one.case));
  for (const one of cases)
    if (!known.has(one)) outbox.add({ page: "case page", case: one, kind: "seen", value: null });
}

/** Request the state of the current case if its exposure was just sent. */
export function askWhereSeen(/** @type {{ kind: string }[]} */ batch) {
  if (batch.some(({ kind }) => kind === "seen")) outbox.ask();
}

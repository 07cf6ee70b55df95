// Texts about the correction of a report.

import { tr } from "../../../web/components/words.js";

export const HINT = tr(
  "↑ ↓ line · y keep · s substitute · d delete · i insert after · 0–4 severity · u take back · f finished · j next",
);
/** The edit of a line in words. */
export const DONE = {
  keep: tr("keep"),
  substitute: tr("substitute"),
  delete: tr("delete"),
  insert: tr("insert"),
};

export function keptWords(/** @type {boolean} */ mine) {
  return mine
    ? tr("Your corrected report is kept as reference.")
    : tr("Another reader's corrected report is kept as reference.");
}

// Sentences of the score pad about a case.

import { clock, dayUnlessToday } from "../../../web/components/clock.js";
import { tr, trn } from "../../../web/components/words.js";

export const ANSWERS_CHANGED = tr(
  "The answers to this case were changed. You now see the new version.",
);
/** Offered reasons for skipping: as stored, and in the reader's language. */
export const SKIP_REASONS = [
  ["Image cannot be judged", tr("Image cannot be judged")],
  ["Question is unclear", tr("Question is unclear")],
  ["Outside my field", tr("Outside my field")],
  ["I know this case", tr("I know this case")],
];
const SAW_REPORT = {
  before: (/** @type {string} */ when) =>
    tr("You saw the report {when}, before scoring.", { when }),
  during: (/** @type {string} */ when) => tr("You saw the report {when}, while scoring.", { when }),
  after: (/** @type {string} */ when) => tr("You saw the report {when}, after scoring.", { when }),
};

/** When something was seen, by the reader's clock: with the day only if it is not today. */
function at({ at: moment }) {
  const time = new Date(moment);
  if (Number.isNaN(time.getTime())) return "";
  const day = dayUnlessToday(time);
  return day
    ? tr("on {day} at {time}", { day, time: clock(time) })
    : tr("at {time}", { time: clock(time) });
}

export function sawNamed(seen) {
  return tr("You have seen this case with the models named {when}.", { when: at(seen) });
}

export function sawReport(seen) {
  return SAW_REPORT[seen.timing](at(seen));
}

/** The reason for skipping a case, as stored or typed. */
export function skippedWords(/** @type {string} */ kept) {
  const [, reason = kept] = SKIP_REASONS.find(([one]) => one === kept) ?? [];
  return tr("Skipped: {reason}", { reason });
}

export function tallyOf({ done, skipped }) {
  const words = tr("{n} scored", { n: done });
  return skipped ? `${words} · ${tr("{n} skipped", { n: skipped })}` : words;
}

export function allScored({ total, skipped }) {
  return skipped
    ? trn("The one case is scored or skipped.", "All {n} cases are scored or skipped.", total)
    : trn("The one case is scored.", "All {n} cases are scored.", total);
}

/** The message about a started case: `open` is [[letter, names of missing scores or null]]. */
export function unfinishedWords(state, open) {
  if (state === "skipped") return tr("Skipped: the scores given are not counted.");
  const parts = open.map(([slot, names]) => {
    const answer = tr("Answer {slot}", { slot });
    return names ? `${answer} (${names.join(", ")})` : answer;
  });
  return tr("Not finished: not counted yet. Missing: {missing}", { missing: parts.join("; ") });
}

export function edgeWords(/** @type {"next" | "previous"} */ direction) {
  return direction === "next" ? tr("This is the last case") : tr("This is the first case");
}

/** A dimension of one of several pictures; `picture` counts from 0. */
export function ofPicture(/** @type {string} */ name, /** @type {number} */ picture) {
  return tr("{name}, picture {picture}", { name, picture: picture + 1 });
}

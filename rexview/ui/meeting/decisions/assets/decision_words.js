// A decision in words, and its history.

import { clock, dayUnlessToday } from "../../../web/components/clock.js";
import { html } from "../../../web/components/dom.js";
import { tr } from "../../../web/components/words.js";

/**
 * @typedef {{ failure: string | null, severity: number | null, decision: string | null,
 *   owner: string | null, due: string | null, done: true | null, comment: string | null }} DecisionValue
 * @typedef {{ value: DecisionValue, by: string, at: string | null, replaced: boolean, open: boolean,
 *   history: { by: string, at: string, value: DecisionValue | null }[], earlier: number }} DecisionRow
 * @typedef {{ failures: [string, string][], harm: [number, string][], decisions: [string, string][],
 *   people: string[] }} Choices
 * @typedef {{ failure: string | null, severity: number, suggested: boolean }} Proposal
 */

/** @type {DecisionValue} */
export const NOTHING = Object.freeze({
  failure: null,
  severity: null,
  decision: null,
  owner: null,
  due: null,
  done: null,
  comment: null,
});

export function sameValue(/** @type {DecisionValue} */ one, /** @type {DecisionValue} */ other) {
  return Object.keys(NOTHING).every((name) => (one[name] ?? null) === (other[name] ?? null));
}

export function wordsFor(/** @type {[string, string][]} */ known, /** @type {string | null} */ id) {
  return known.find(([one]) => one === id)?.[1] ?? id ?? "";
}

/** One line: "Retrain · Omission · harm 3 · Ann · due 2026-12-24". */
export function summary(/** @type {DecisionValue | null} */ value, /** @type {Choices} */ choices) {
  if (!value) return tr("taken back");
  const parts = [
    wordsFor(choices.decisions, value.decision),
    wordsFor(choices.failures, value.failure),
    value.severity === null ? "" : tr("harm {n}", { n: value.severity }),
    value.owner,
    value.due && tr("due {day}", { day: value.due }),
    value.done && tr("done"),
    value.comment && `“${value.comment}”`,
  ];
  return parts.filter(Boolean).join(" · ") || tr("nothing");
}

export function when(/** @type {string} */ at) {
  const moment = new Date(at);
  return `${dayUnlessToday(moment)} ${clock(moment)}`.trim();
}

/** Earlier values, folded; nothing if there is only the current one. */
export function historyNode(/** @type {DecisionRow} */ row, /** @type {Choices} */ choices) {
  if (row.history.length < 2) return [];
  const total = row.history.length + row.earlier;
  return [
    html(
      "details",
      { class: "rx-d-history" },
      html("summary", {}, tr("History ({n})", { n: total })),
      html(
        "ol",
        {},
        row.history.map(({ at, by, value }) =>
          html(
            "li",
            {},
            html("small", {}, `${when(at)}, ${by}`),
            html("span", {}, summary(value, choices)),
          ),
        ),
      ),
      row.earlier
        ? html("small", {}, tr("{n} earlier ones are not listed.", { n: row.earlier }))
        : null,
    ),
  ];
}

// The current values of a candidate: as sent, overlaid by what was written since; and their counts.

import { tr } from "../../web/components/words.js";

/** @import { Candidate, Counts, Rate, Rows, Select, Tags } from "./types.d.ts" */

const NOTHING = {
  decision: null,
  question: null,
  boxes_question: null,
  category: null,
  comment: null,
};

/** The current value of one kind: what was written, including withdrawals, else what was sent. */
export function latestOf(/** @type {Candidate} */ candidate, kind, /** @type {Rows} */ rows = {}) {
  return (Object.hasOwn(rows, kind) ? rows[kind] : candidate.given[kind]) ?? null;
}

/** @returns {Select} */
export function selectOf(candidate, rows) {
  return { ...NOTHING, ...latestOf(candidate, "select", rows) };
}

/** A decision with some fields changed; null if nothing of it is left. */
export function changed(/** @type {Select} */ select, /** @type {Partial<Select>} */ changes) {
  const value = { ...select, ...changes };
  return Object.values(value).some((one) => one !== null) ? value : null;
}

/** The person's scores with some changed: all of them are sent each time. */
export function rated(/** @type {string[]} */ criteria, /** @type {Rate | null} */ rate, changes) {
  const blank = Object.fromEntries(
    [...criteria, "risk", "comment", "after_model"].map((name) => [name, null]),
  );
  return { ...blank, ...rate, ...changes };
}

/** @returns {Tags} the person's own tags, else those that count for everybody. */
export function tagsOf(candidate, rows) {
  return latestOf(candidate, "tag", rows)?.tags ?? candidate.tags;
}

export const questionOf = (candidate, rows) =>
  selectOf(candidate, rows).question ?? candidate.question;
export const categoryOf = (candidate, rows) =>
  selectOf(candidate, rows).category ?? candidate.category;

/** The sum of all criteria; null if one is missing. */
export function sumOf(/** @type {string[]} */ criteria, /** @type {Rate | null} */ rate) {
  const scores = criteria.map((name) => rate?.[name] ?? null);
  return scores.some((one) => typeof one !== "number")
    ? null
    : scores.reduce((sum, one) => Number(sum) + Number(one), 0);
}

/**
 * Add the chosen questions of a study to counts, or with -1 subtract them.
 *
 * @param {Counts} counts
 * @param {Candidate[]} candidates
 * @param {Record<string, Rows>} rows
 * @param {1 | -1} by
 */
export function count(counts, candidates, rows, by) {
  for (const one of candidates) {
    const written = rows[one.id];
    if (selectOf(one, written).decision !== "chosen") continue;
    counts.chosen += by;
    add(counts.categories, categoryOf(one, written) ?? "", by);
    for (const [name, values] of Object.entries(tagsOf(one, written))) {
      counts.tags[name] ??= {};
      for (const value of new Set(values)) add(counts.tags[name], value, by);
    }
  }
}

function add(counts, key, by) {
  counts[key] = (counts[key] ?? 0) + by;
}

export function same(one, other) {
  return JSON.stringify(sorted(one)) === JSON.stringify(sorted(other));
}

function sorted(value) {
  if (Array.isArray(value) || value === null || typeof value !== "object") return value ?? null;
  const given = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return given.map(([name, inner]) => [name, sorted(inner)]);
}

/**
 * A user's own question, which the page does not know yet.
 *
 * @returns {Candidate}
 */
export function ownCandidate(id, { question, category }, by = tr("You")) {
  return {
    ...{ id, question, category, by, source: "reader", given: {}, tags: {}, model: null },
    ...{
      hidden: false,
      others: [],
      blocked: null,
      judged: question,
      alike: [],
      alike_count: 0,
      history: [],
    },
  };
}

/**
 * The existing candidates: those of the page that were not withdrawn, and own ones that it does not
 * know
 * yet.
 *
 * @param {Candidate[]} known
 * @param {Record<string, Rows & { by?: string }>} rows
 */
export function withOwn(known, rows) {
  const ids = new Set(known.map(({ id }) => id));
  const added = Object.entries(rows).filter(([id, { propose }]) => propose && !ids.has(id));
  const own = added.map(([id, { propose, by }]) => ownCandidate(id, propose, by));
  return [...known.filter(({ id }) => rows[id]?.propose !== null), ...own];
}

// The number of cases of an agenda and their duration, in words.

import { tr, trn } from "../../../web/components/words.js";

const cases = (/** @type {number} */ n) =>
  trn("{n} case", "{n} cases", n, { n: n.toLocaleString("en") });

/**
 * The line above the agenda, and whether it takes longer than planned.
 *
 * @param {{ minutes: number | null }[]} values of its cases
 * @param {number | null} planned minutes
 */
export function totalOf(values, planned) {
  const given = values.map(({ minutes }) => minutes).filter((one) => one !== null);
  const sum = Math.round(given.reduce((one, other) => one + other, 0) * 100) / 100;
  const without = values.length - given.length;
  const parts = [cases(values.length)];
  if (given.length > 0 && without > 0)
    parts.push(tr("{minutes} min expected, {n} without time", { minutes: sum, n: without }));
  else if (given.length > 0) parts.push(tr("{minutes} min expected", { minutes: sum }));
  if (planned) parts.push(tr("{minutes} min planned", { minutes: planned }));
  return { words: parts.join(" · "), over: Boolean(planned && sum > planned) };
}

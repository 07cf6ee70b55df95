// Numbers that are equal but for rounding, and numbers that look random and are always the same.

import assert from "node:assert/strict";

/**
 * Check that numbers, or lists of numbers, are close: by 1e-6 of what is expected unless a share or
 * a distance is given.
 */
export function assertClose(found, expected, { share = 1e-6, distance = null } = {}) {
  if (Array.isArray(expected)) {
    assert.equal(found.length, expected.length);
    for (const [at, one] of expected.entries()) assertClose(found[at], one, { share, distance });
    return;
  }
  const most = distance ?? Math.max(share * Math.abs(expected), 1e-12);
  assert.ok(Math.abs(found - expected) <= most, `${found} is not close to ${expected}`);
}

/** Return a function that gives numbers from 0 to 1, always the same ones for a seed (mulberry32). */
export function randomNumbers(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

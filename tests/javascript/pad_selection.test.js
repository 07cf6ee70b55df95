// Which row of the score pad the next digit scores.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Selection } from "../../rexview/ui/score_cases/pad/assets/selection.js";

/** A pad of one answer with rows a, b, c, of which some have a score. */
function padWith(...scored) {
  const answer = { slot: "A", needed: true };
  const node = { scrollIntoView: () => {} };
  const rows = ["a", "b", "c"].map((key) => ({ key, answer, node, takeFocus: () => {} }));
  const scores = Object.fromEntries(scored.map((key) => [key, { score: 3 }]));
  const pad = { rows, case: { answers: [answer] }, record: () => ({ scores }), refresh: () => {} };
  pad.root = { contains: () => false };
  pad.selection = new Selection(/** @type {any} */ (pad));
  pad.selection.begin();
  return pad;
}

globalThis.document = /** @type {any} */ ({ activeElement: null });

test("a case begins with the first row that has no score", () => {
  assert.equal(padWith().selection.key, "a");
  assert.equal(padWith("a", "b").selection.key, "c");
  assert.equal(padWith("a", "b", "c").selection.key, "a");
});

test("a score marks the next row, and the last one goes back to what is missing", () => {
  const pad = padWith("a", "c");
  pad.selection.goOnFrom(pad.rows[0]);
  assert.equal(pad.selection.key, "b");
  pad.selection.goOnFrom(pad.rows[2]);
  assert.equal(pad.selection.key, "b");
});

test("after the last score no row is marked, until an arrow marks one", () => {
  const pad = padWith("a", "b", "c");
  pad.selection.goOnFrom(pad.rows[2]);
  assert.equal(pad.selection.row, null);
  pad.selection.moveRow(-1);
  assert.equal(pad.selection.key, "c");
  pad.selection.goOnFrom(pad.rows[2]);
  pad.selection.moveRow(1);
  assert.equal(pad.selection.key, "a");
});

// Lengths on a film: measured, calibrated by hand, and kept for their image.

import "./support/page.js";
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  cardiothoracic,
  distance,
  keepScale,
  lengthNote,
  readLength,
  scaleFor,
  scaleOf,
  withGiven,
  withScale,
} from "../../rexview/ui/viewer/assets/measure/lengths.js";
import { assertClose } from "./support/numbers.js";

const SPACING = { row_mm: 0.5, col_mm: 0.2, at: "patient" };
const header = (/** @type {any} */ one) => one;

describe("distance", () => {
  for (const [aspect, spacing, value, unit] of /** @type {[number, any, number, string][]} */ ([
    // from (0, 0) to (30, 40): legs of 6 and 20 mm; 3-4-5; legs of 30 and 80 pixel widths
    [1, SPACING, 20.8806, "mm"],
    [1, null, 50, "px"],
    [2, null, 85.44, "px"],
  ]))
    test(`length: ${value} ${unit}`, () => {
      const found = distance(header({ aspect, spacing }), [0, 0], [30, 40]);
      assertClose(found.value, value, { share: 1e-5 });
      assert.equal(found.unit, unit);
    });

  for (const axis of ["x", "y"])
    test(`ratio runs across the patient: ${axis}`, () => {
      const [heart, thorax] = [
        { from: 400, to: 550 },
        { from: 800, to: 500 },
      ];
      const given = header({ aspect: 1, spacing: SPACING });
      const found = cardiothoracic(given, /** @type {any} */ (axis), heart, thorax);
      assertClose(found.ratio, 0.5);
      assertClose(found.heart.value, 150 * (axis === "x" ? 0.2 : 0.5));
    });
});

describe("calibration", () => {
  for (const [typed, mm] of /** @type {[string, number][]} */ ([
    ["25", 25],
    [" 25,4 ", 25.4],
    ["2.5 cm", 25],
    [".5", 0.5],
    ["30MM", 30],
    ["1000", 1000],
  ]))
    test(`a length as it is typed: ${typed}`, () => {
      const found = /** @type {any} */ (readLength(typed));
      assert.deepEqual(Object.keys(found), ["mm"]);
      assertClose(found.mm, mm);
    });

  for (const typed of ["", "abc", "0", "-3", "1e3", "25 in", "1001", "2 5", "NaN"])
    test(`what is no length is reported: ${typed}`, () => {
      const found = /** @type {any} */ (readLength(typed));
      assert.deepEqual(Object.keys(found), ["problem"]);
      assert.ok(found.problem.endsWith("."));
    });

  test("a line of known length gives every other its own", () => {
    const one = header({ aspect: 2, spacing: null });
    const scale = /** @type {any} */ (
      scaleOf(
        one,
        /** @type {any} */ ([
          [5, 5],
          [45, 20],
        ]),
        25,
      )
    );
    const given = withScale(one, scale);
    const lengths = [
      [
        [5, 5],
        [45, 20],
      ],
      [
        [0, 0],
        [0, 10],
      ],
      [
        [0, 0],
        [10, 0],
      ],
    ].map(([from, to]) => distance(given, /** @type {any} */ (from), /** @type {any} */ (to)));
    assertClose(
      lengths.map(({ value }) => value),
      [25, 10, 5],
    );
    assert.deepEqual([...new Set(lengths.map(({ unit }) => unit))], ["mm"]);
    assert.equal(lengthNote(given), "calibrated by hand: a line of 50 px is 25 mm");
  });

  for (const spacing of [null, { row_mm: 0.3, col_mm: 0.3, at: "patient" }])
    test(`a spacing of the set is used where the file has none: ${spacing?.at}`, () => {
      const given = withGiven(header({ aspect: 1, spacing, note: null }), 0.2);
      const length = distance(given, [0, 0], [30, 40]);
      assertClose(length.value, spacing ? 15 : 10);
      assert.deepEqual(length, { value: length.value, unit: "mm" });
      assert.ok(lengthNote(given).startsWith(spacing ? "calibrated" : "at the detector"));
    });

  test("a line too short is reported", () => {
    const line = /** @type {any} */ ([
      [0, 0],
      [9, 0],
    ]);
    const found = /** @type {any} */ (scaleOf(header({ aspect: 1 }), line, 25));
    assert.ok(found.problem.includes("too short"));
  });

  test("kept for its image until removed", () => {
    keepScale("one", { mm: 25, px: 50 });
    keepScale("two", { mm: 10, px: 80 });
    keepScale("one", { mm: 30, px: 60 });
    const before = ["one", "two", "three"].map((key) => scaleFor(key));
    assert.deepEqual(before, [{ mm: 30, px: 60 }, { mm: 10, px: 80 }, null]);
    keepScale("one", null);
    assert.deepEqual(
      ["one", "two"].map((key) => scaleFor(key)),
      [null, before[1]],
    );
    localStorage.setItem("rexview-viewer-calibrations", '[["two", "x", -1], 7, {}]');
    assert.equal(scaleFor("two"), null);
  });
});

// What is drawn: levels of a picture, boxes, and how films share the room.

import "./support/page.js";
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { inkOn, smallestUnder } from "../../rexview/ui/viewer/assets/boxes/box_layer.js";
import { levelFor } from "../../rexview/ui/viewer/assets/image/painter.js";
import { pyramid } from "../../rexview/ui/viewer/assets/image/pyramid.js";
import { bestColumns } from "../../rexview/ui/viewer/assets/layout/layout.js";
import { limitShare } from "../../rexview/ui/viewer/assets/layout/separator.js";
import { assertClose } from "./support/numbers.js";

describe("pyramid", () => {
  test("halves down to a thumbnail and keeps the mean", () => {
    const codes = new Uint16Array(401 * 300).map((_, i) => (i * 31) % 4096);
    const header = /** @type {any} */ ({ width: 401, height: 300, format: "u16" });
    const { levels } = pyramid(header, codes);
    const mean = (/** @type {any} */ all) => all.reduce((sum, one) => sum + one, 0) / all.length;
    assert.deepEqual(
      levels.map(({ width, height, factor }) => [width, height, factor]),
      [
        [401, 300, 1],
        [201, 150, 2],
      ],
    );
    assertClose(mean(levels[1].codes), mean(levels[0].codes), { share: 0.01 });
  });

  for (const [scale, factor] of [
    [3, 1],
    [1, 1],
    [0.6, 1],
    [0.5, 2],
    [0.2, 4],
  ])
    test(`level is never coarser than the screen: ${scale}`, () => {
      const levels = /** @type {any} */ ([1, 2, 4].map((one) => ({ factor: one })));
      assert.equal(levelFor(levels, scale).factor, factor);
    });
});

describe("boxes", () => {
  test("smallest under the pointer", () => {
    const entry = (name, x, y, width, height) => ({ name, rect: { x, y, width, height } });
    const all = [entry("small", 40, 40, 10, 10), entry("large", 0, 0, 100, 100)];
    const at = (x, y) => /** @type {any} */ (smallestUnder(all, x, y))?.name ?? null;
    assert.deepEqual(
      [at(45, 45), at(45, 53), at(20, 20), at(103, 50), at(200, 200)],
      ["small", "small", "large", "large", null],
    );
  });

  for (const [colour, ink] of [
    ["#F0E442", "#08090a"],
    ["#E69F00", "#08090a"],
    ["#0072B2", "#ffffff"],
    ["#000000", "#ffffff"],
  ])
    test(`the key on a box can be read: ${colour}`, () => {
      assert.equal(inkOn(colour), ink);
    });
});

describe("arrangement", () => {
  for (const [
    ratios,
    width,
    height,
    columns,
  ] of /** @type {[number[], number, number, number][]} */ ([
    [[1], 600, 500, 1],
    [[1, 1], 1400, 500, 2],
    [[1, 1], 400, 900, 1],
    [[2, 2], 600, 620, 1], // landscape films: one above the other is twice as large
    [[0.8, 0.8], 700, 500, 2],
    [[1, 1, 1, 1], 900, 900, 2],
    [[0.8, 0.8, 0.8], 1500, 500, 3],
  ]))
    test(`films are as large as they can be: ${ratios} in ${width} x ${height}`, () => {
      assert.equal(bestColumns(ratios, { width, height }), columns);
    });

  for (const [share, held] of [
    [0.4, 0.4],
    [0.1, 0.32],
    [0.95, 0.44],
    [0, 0.32],
    [1, 0.44],
  ])
    test(`a divider leaves both sides what they need: ${share}`, () => {
      assertClose(limitShare(share, 1000, [320, 560]), held);
    });

  test("a divider without room stays in proportion", () => {
    assert.equal(limitShare(0.9, 500, [320, 320]), 0.5);
  });
});

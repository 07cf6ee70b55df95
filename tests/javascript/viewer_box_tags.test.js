// Tags of boxes lie over no other tag, where there is room.

import "./support/page.js";
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { freest } from "../../rexview/ui/viewer/assets/image/burned_in.js";
import { FITTED, Projection } from "../../rexview/ui/viewer/assets/image/geometry.js";

const SIZE = { width: 30, height: 15 };
const PLACES = [
  [100, 85],
  [170, 85],
  [100, 200],
];

function projection() {
  const header = /** @type {any} */ ({ width: 400, height: 400, aspect: 1, format: "u8" });
  return new Projection(header, { width: 400, height: 400 }, FITTED);
}

describe("tags of boxes", () => {
  test("the first place is taken where nothing lies there", () => {
    assert.deepEqual(freest(PLACES, SIZE, null, projection()), PLACES[0]);
  });

  test("the next one is taken where another tag lies", () => {
    const other = { x: 110, y: 80, ...SIZE };
    assert.deepEqual(freest(PLACES, SIZE, null, projection(), [other]), PLACES[1]);
  });

  test("where all are taken the least is covered", () => {
    const taken = [
      { x: 100, y: 85, ...SIZE },
      { x: 180, y: 85, ...SIZE },
      { x: 125, y: 200, ...SIZE },
    ];
    assert.deepEqual(freest(PLACES, SIZE, null, projection(), taken), PLACES[2]);
  });
});

// Grey levels of the viewer, on the vectors of tests/data/windowing.json that Python is tested on.

import "./support/page.js";
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { adjusted, greyLevels } from "../../rexview/ui/viewer/assets/image/windowing.js";

const { vectors } = JSON.parse(
  readFileSync(new URL("../data/windowing.json", import.meta.url), "utf8"),
);

describe("windowing", () => {
  for (const { name, header, preset, codes, grey } of vectors)
    test(`same grey levels as Python: ${name}`, () => {
      const all = greyLevels(header, preset, Math.max(...codes) + 1);
      assert.deepEqual(
        codes.map((code) => all[code]),
        grey,
      );
    });

  test("inverting turns every level round", () => {
    const [{ header, preset }] = vectors;
    const [plain, inverted] = [false, true].map((on) => [...greyLevels(header, preset, 256, on)]);
    assert.deepEqual(
      plain.map((level) => 255 - level),
      inverted,
    );
    assert.notDeepEqual(plain, inverted);
  });

  test("a dragged window keeps its formula and its least width", () => {
    const made = ["linear", "linear_exact", "sigmoid", "lut"].map((kind) =>
      adjusted(
        /** @type {any} */ ({ kind, centre: 100, width: 50, name: "x", table: null }),
        1e-9,
        0.5,
      ),
    );
    assert.deepEqual(
      made.map(({ kind }) => kind),
      ["linear", "linear_exact", "sigmoid", "linear_exact"],
    );
    assert.deepEqual(
      made.map(({ centre }) => centre),
      [125, 125, 125, 125],
    );
    assert.equal(made[0].width, 1);
    assert.ok(made.slice(1).every(({ width }) => 0 < width && width < 1));
    assert.ok(made.every(({ name }) => name === null));
  });
});

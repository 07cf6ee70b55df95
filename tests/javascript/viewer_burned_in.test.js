// Letters that are burned into a film are found, so that labels do not cover them.

import "./support/page.js";
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { describe, test } from "node:test";
import { burnedIn, coveredBy, freest } from "../../rexview/ui/viewer/assets/image/burned_in.js";
import { FITTED, Projection } from "../../rexview/ui/viewer/assets/image/geometry.js";
import { pyramid } from "../../rexview/ui/viewer/assets/image/pyramid.js";
import { readGrey } from "./support/png.js";

const SIDE = 1000;
const FILMS = new URL("../../../shared/data/nih/", import.meta.url); // real ones, beside the checkout

const letters = (name) => readGrey(new URL(`../data/letters/${name}.png`, import.meta.url)).codes;

/** What is found on a film; places on the screen are halves of its pixels. */
function foundOn({ width, height, codes }, invert = false) {
  const header = /** @type {any} */ ({ width, height, aspect: 1, format: "u8", invert });
  const found = burnedIn(pyramid(header, codes));
  const projection = new Projection(header, { width: width / 2, height: height / 2 }, FITTED);
  const covered = ([x, y, w, h]) =>
    coveredBy(found, { x, y, width: w, height: h }, /** @type {any} */ (projection));
  return { found, projection, covered };
}

/** A film with letters, made of a grey value for each place. */
function lettered(name, grey, ink) {
  const written = letters(name);
  const codes = Uint8Array.from(written, (letter, at) =>
    letter ? ink : grey(at % SIDE, Math.floor(at / SIDE)),
  );
  return { width: SIDE, height: SIDE, codes };
}

describe("burned in", () => {
  for (const invert of [false, true])
    test(`letters are found and anatomy is not, inverted ${invert}`, () => {
      const heart = (x, y) => 190 * Math.exp(-(((x - 500) / 260) ** 4) - ((y - 600) / 300) ** 4);
      const film = lettered("side_and_time", (x, y) => Math.trunc(20 + heart(x, y)), 250);
      if (invert) film.codes = film.codes.map((code) => 255 - code);
      const { covered } = foundOn(film, invert);
      const boxes = [
        [25, 430, 90, 24],
        [240, 290, 90, 24],
        [180, 120, 90, 24],
        [240, 400, 90, 24],
      ];
      assert.deepEqual(
        boxes.map((box) => covered(box) > 0),
        [true, true, false, false],
      );
    });

  test("a label goes where it covers nothing", () => {
    const { found, projection } = foundOn(lettered("portable", () => 30, 240));
    const places = [
      [110, 80],
      [130, 85],
      [110, 140],
    ];
    const at = (one) => freest(places, { width: 80, height: 16 }, one, projection);
    assert.deepEqual(at(found), [110, 140]);
    assert.deepEqual(at(null), [110, 80]);
  });

  for (const [name, box] of /** @type {[string, number[]][]} */ ([
    ["00001369_000", [958, 145, 52, 65]], // L and initials on white
    ["00013125_000", [600, 930, 200, 40]], // AP PORTABLE, dark outline on white
    ["00022084_000", [945, 40, 35, 45]], // L on black
    ["00026911_000", [835, 213, 95, 26]], // SUPINE on soft tissue
    ["00026911_000", [861, 310, 125, 28]], // PORTABLE
  ])) {
    const path = new URL(`${name}.png`, FILMS);
    const skip = existsSync(path) ? false : "the real radiographs are not here";
    test(`what is burned into real films is found: ${name} at ${box}`, { skip }, () => {
      const { covered } = foundOn(readGrey(path));
      assert.ok(covered(box.map((side) => side / 2)) >= 3);
    });
  }
});

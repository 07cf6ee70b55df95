// Where a point of a picture is on the screen, and back; which side of the patient is where.

import "./support/page.js";
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import {
  compose,
  FITTED,
  Projection,
  TURN,
} from "../../rexview/ui/viewer/assets/image/geometry.js";
import {
  advice,
  seenFromBehind,
  shownEdges,
  standardOrientation,
} from "../../rexview/ui/viewer/assets/image/orientation.js";
import { assertClose, randomNumbers } from "./support/numbers.js";

const ORIENTATIONS = [0, 1, 2, 3, 4, 5, 6, 7];
const { mirrored } = JSON.parse(
  readFileSync(new URL("../data/mirrored_edges.json", import.meta.url), "utf8"),
);

/** Images, panes, poses and points, always the same ones. */
function poses(count = 60) {
  const next = randomNumbers(4);
  const between = (low, high) => low + next() * (high - low);
  const whole = (low, high) => low + Math.floor(next() * (high - low + 1));
  const one = (/** @type {number[]} */ choices) => choices[whole(0, choices.length - 1)];
  return Array.from({ length: count }, (_, number) => ({
    image: { width: whole(1, 4000), height: whole(1, 4000), aspect: one([1, 1, 0.5, 2, 1.37]) },
    port: { width: between(40, 2000), height: between(40, 1400) },
    pose: {
      zoom: one([1, 0.3, 2.5, 7]),
      x: between(-0.5, 0.5),
      y: between(-0.5, 0.5),
      orientation: number % 8,
    },
    at: [next(), next()],
    factor: between(0.7, 1.4),
    to: whole(0, 7),
  }));
}

const distanceIn = (image) => ({ distance: 1e-6 * Math.max(...Object.values(image)) });

describe("projection", () => {
  for (const [number, { image, port, pose, at }] of poses().entries())
    test(`screen to image and back ${number}`, () => {
      const projection = new Projection(image, port, pose);
      const point = [at[0] * image.width, at[1] * image.height];
      const back = projection.toImage(...projection.toScreen(point[0], point[1]));
      assertClose(back, point, distanceIn(image));
    });

  for (const [number, { image: smaller, port, pose, at, factor }] of poses().entries())
    test(`zoom holds the point under the pointer ${number}`, () => {
      const image = { ...smaller, width: 300 + smaller.width, height: 300 + smaller.height };
      const before = { ...pose, x: 0.05, y: -0.1, zoom: Math.max(1, pose.zoom) };
      const p = new Projection(image, port, before);
      const near = (share) => 0.5 + (share - 0.5) * 0.2;
      const place = p.toScreen(near(at[0]) * image.width, near(at[1]) * image.height);
      const after = p.zoomedAt(factor, ...place);
      const q = new Projection(image, port, after);
      assertClose(q.toImage(...place), p.toImage(...place), distanceIn(image));
      assertClose(after.zoom, before.zoom * factor);
    });

  for (const [number, { image, port, pose, to }] of poses(24).entries())
    test(`turning keeps the middle and the size ${number}`, () => {
      const p = new Projection(image, port, pose);
      const q = new Projection(image, port, p.oriented(to));
      const [x, y] = [port.width / 2, port.height / 2];
      assertClose(q.toImage(x, y), p.toImage(x, y), distanceIn(image));
    });

  for (const aspect of [1, 0.5, 2])
    for (const orientation of ORIENTATIONS)
      test(`a fitted picture fills one side of the pane: ${aspect}, ${orientation}`, () => {
        const image = { width: 300, height: 200, aspect };
        const p = new Projection(image, { width: 500, height: 400 }, { ...FITTED, orientation });
        const rect = p.boxToScreen({ x: 0, y: 0, width: 300, height: 200 });
        const lying = orientation % 2 === 0;
        const [across, down] = lying ? [300, 200 * aspect] : [200 * aspect, 300];
        const scale = Math.min(500 / across, 400 / down);
        assertClose([rect.width, rect.height], [across * scale, down * scale]);
        assertClose(rect.x + rect.width / 2, 250);
        assertClose(rect.y + rect.height / 2, 200);
      });

  test("orientations are the eight of a square", () => {
    const table = ORIENTATIONS.map((x) => ORIENTATIONS.map((y) => compose(x, y)));
    for (const row of table)
      assert.deepEqual(
        [...row].sort((a, b) => a - b),
        ORIENTATIONS,
      );
    assert.deepEqual(table[0], ORIENTATIONS);
    // mirrors undo themselves
    assert.deepEqual(
      [4, 5, 6, 7].map((x) => table[x][x]),
      [0, 0, 0, 0],
    );
    assert.equal(table[1][3], 0);
    assert.equal(table[1][1], 2);
  });

  test("a quarter turn is clockwise", () => {
    const image = { width: 100, height: 100, aspect: 1 };
    const p = new Projection(image, { width: 100, height: 100 }, { ...FITTED, orientation: TURN });
    assertClose(p.toScreen(0, 0), [100, 0]);
  });
});

const edgesOf = (/** @type {string | null} */ letters) =>
  Object.fromEntries(
    ["left", "right", "top", "bottom"].map((name, at) => [name, letters?.[at] ?? null]),
  );

describe("orientation", () => {
  for (const letters of [...Object.keys(mirrored), "APHF", "FHAP"])
    test(`standard has head up and right on the left: ${letters}`, () => {
      const edges = /** @type {any} */ (edgesOf(letters));
      const shown = shownEdges(edges, standardOrientation(edges));
      assert.equal(shown.top, "H");
      if (letters.includes("R")) {
        assert.equal(shown.left, "R");
        assert.equal(shown.right, "L");
      }
    });

  for (const [letters, is] of Object.entries(mirrored))
    test(`agrees with Python on what is mirrored: ${letters}`, () => {
      assert.equal(seenFromBehind(/** @type {any} */ (edgesOf(letters))), is);
    });

  test("a lateral view is turned but never mirrored for the reader", () => {
    assert.equal(standardOrientation(/** @type {any} */ (edgesOf("PAFH"))), 2);
  });

  for (const [letters, orientation, warns, says] of /** @type {const} */ ([
    ["RLHF", 0, null, null],
    ["LRHF", 0, true, "mirrored"],
    ["LRHF", 4, false, "standard orientation"],
    ["RLHF", 4, true, "mirrored"],
    ["LRFH", 0, true, "feet at the top"],
    ["HFLR", 0, true, "turned"],
    [null, 0, true, "unknown"],
  ]))
    test(`advice on ${letters} shown as ${orientation}`, () => {
      const stored = /** @type {any} */ ({ ...edgesOf(letters), known: letters !== null });
      const given = advice(stored, orientation);
      if (says === null) assert.equal(given, null);
      else {
        assert.equal(given.warn, warns);
        assert.ok(given.text.includes(says), given.text);
      }
    });
});

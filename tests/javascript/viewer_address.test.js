// The state of the viewer in the address of its page.

import "./support/page.js";
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { decode, encode } from "../../rexview/ui/viewer/assets/address.js";

describe("address", () => {
  for (const name of ["pa", "a b;c~d*e&f=g,h#é", "~*;"])
    test(`round trip: ${name}`, () => {
      const seen = {
        caseId: `case ${name}`,
        active: name,
        views: [
          {
            id: name,
            pose: { zoom: 1.75, x: 0.125, y: -0.5, orientation: 5 },
            window: { centre: -12.5, width: 2048 },
            inverted: true,
          },
          {
            id: "other",
            pose: { zoom: 1, x: 0, y: 0, orientation: 0 },
            window: { preset: "Näme ~ 1,5" },
            inverted: false,
          },
        ],
        groups: [name, "reference"],
        linked: false,
      };
      assert.deepEqual(decode(`#${encode(/** @type {any} */ (seen))}`), seen);
    });

  test("no groups is not the usual groups", () => {
    const seen = { caseId: "c", active: "v", views: [], linked: true };
    const again = (groups) => decode(encode({ ...seen, groups })).groups;
    assert.deepEqual([[], null].map(again), [[], null]);
  });

  const foreign = [
    "",
    "#report",
    "#v",
    "#v=%",
    "#v=c;a~zx,y",
    "#v=c;a~z0,0,0",
    "#v=;;~~;*",
    "#x=1",
  ];
  for (const text of foreign)
    test(`what is not ours does no harm: ${text}`, () => {
      for (const { pose } of decode(text)?.views ?? []) {
        assert.ok(Number.isFinite(pose.zoom));
        assert.ok(pose.zoom > 0);
      }
    });
});

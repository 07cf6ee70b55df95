// Pixels of images: asked for once, kept while they fit; and unpacked here where there is no worker.

import "./support/page.js";
import assert from "node:assert/strict";
import { beforeEach, describe, test } from "node:test";
import { inBackground } from "../../rexview/ui/viewer/assets/image/background.js";
import { burnedIn } from "../../rexview/ui/viewer/assets/image/burned_in.js";
import { rasterOf } from "../../rexview/ui/viewer/assets/image/payload.js";
import { PixelStore } from "../../rexview/ui/viewer/assets/image/pixels.js";

/** A picture as the server sends it. */
function frame(side) {
  const text = JSON.stringify({ width: side, height: side, format: "u8", presets: [] }).padEnd(96);
  const body = new Uint8Array(8 + 96 + side * side);
  new DataView(body.buffer).setUint32(0, 0x31565852, true);
  new DataView(body.buffer).setUint32(4, 96, true);
  body.set(new TextEncoder().encode(text), 8);
  return body;
}

let asked = [];

function answer(url) {
  const name = url.pathname.slice(1);
  asked.push(name);
  if (name === "gone") {
    const headers = { "Content-Type": "text/plain" };
    return new Response("No such picture.", { status: 403, headers });
  }
  if (name === "cut") return new Response(frame(100).slice(0, 500));
  if (name === "html") return new Response("<html></html>");
  return new Response(frame(100));
}

beforeEach(() => {
  asked = [];
  globalThis.fetch = async (url) => answer(new URL(/** @type {URL} */ (url)));
});

describe("pixel store", () => {
  test("asks once and forgets the oldest first", async () => {
    const store = new PixelStore(25000);
    await Promise.all([store.load("a", "a"), store.load("a", "a")]);
    await store.load("b", "b");
    await store.load("a", "a");
    await store.load("c", "c");
    assert.deepEqual(asked, ["a", "b", "c"]);
    assert.deepEqual(
      ["a", "b", "c"].map((key) => Boolean(store.loaded(key))),
      [true, false, true],
    );
    assert.equal(store.bytes, 20000);
  });

  for (const [url, reason, stale] of /** @type {[string, string, boolean][]} */ ([
    ["gone", "No such picture.", true],
    ["cut", "did not load completely", false],
    ["html", "not an image", false],
  ]))
    test(`says why there is no image: ${url}`, async () => {
      const error = await new PixelStore(25000).load(url, url).then(
        () => null,
        (one) => one,
      );
      assert.ok(error.message.includes(reason), error.message);
      assert.equal(Boolean(error.stale), stale);
    });

  test("looking ahead does not insist on what failed", async () => {
    const store = new PixelStore(25000);
    const wanted = /** @type {any} */ ([
      { key: "gone", url: "gone" },
      { key: "a", url: "a" },
    ]);
    await store.prefetch(wanted);
    await store.prefetch(wanted);
    assert.deepEqual(asked, ["gone", "a"]);
  });
});

describe("background without a worker", () => {
  const film = () => {
    const body = frame(900);
    for (let at = 104; at < body.length; at += 1) body[at] = at % 7 ? 20 : (at * 31) % 256;
    return body.buffer;
  };
  const plain = ({ header, levels }) => [header, levels.map(({ codes }) => [...codes])];

  beforeEach(() => {
    inBackground.worker = null;
  });

  test("makes the same as the page would", async () => {
    const here = rasterOf(film());
    const there = await inBackground.rasterOf(film());
    assert.equal(JSON.stringify(plain(there)), JSON.stringify(plain(here)));
    await new Promise((done) => assert.equal(inBackground.foundIn(there, done), null));
    const cells = [...inBackground.foundIn(there).cells];
    assert.equal(inBackground.worker, null);
    assert.ok(cells.some(Boolean));
    assert.deepEqual(cells, [...burnedIn(here).cells]);
  });

  test("is used where a worker cannot be begun", async () => {
    inBackground.worker = undefined; // node has none
    await inBackground.rasterOf(film());
    assert.equal(inBackground.worker, null);
  });

  test("says why there is no image", async () => {
    const reason = await inBackground
      .rasterOf(film().slice(0, 500))
      .catch(({ message }) => message);
    assert.ok(reason.includes("did not load completely"), reason);
  });
});

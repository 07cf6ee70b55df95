// Turning to other cases faster than the page can follow: it ends where the keys say.

import "./support/page.js";
import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, test } from "node:test";
import { Turning } from "../../rexview/ui/turning/assets/turning.js";
import { holdTime, letTimeGo, passes } from "./support/time.js";

const CASES = Array.from({ length: 60 }, (_, at) => `c${String(at + 1).padStart(2, "0")}`);
const AT_ONCE = 20; // cases that the route gives
const SLOW_MS = 700; // until the page's script has followed

const recordOf = (name, more) => {
  const at = CASES.indexOf(name);
  const neighbours = { previous: CASES[at - 1] ?? null, next: CASES[at + 1] ?? null };
  return /** @type {any} */ ({ case: name, viewer: { case: name, neighbours }, ...more });
};

/** The page of a case: its script, its route to the cases around, and what is on its screen. */
class FakePage {
  constructor(first, route) {
    this.turning = new Turning();
    this.case = first;
    this.number = null; // of the request that it answers
    this.task = null;
    this.version = "1";
    this.asked = []; // what it was asked for
    this.follows = true;
    this.leads = (name) => name; // to another case, where the one asked for is theirs no more
    this.route = route;
    this.waiting = []; // requests of the route that are held
    this.screen = [];
    this.words = []; // whether a case is waited for, each time that it was said
    this.leftWith = null;
    this.turning.enter(this);
    this.turning.listen({
      has: ({ texts }) => texts !== undefined,
      show: (record) => this.screen.push(record.case),
      waiting: (waits) => this.words.push(waits),
    });
    globalThis.fetch = (url) => this.#fetch(new URL(/** @type {URL} */ (url)));
    this.sends();
  }

  left(cases) {
    this.leftWith = cases;
  }

  ask(wanted) {
    this.asked.push(wanted);
    if (this.follows) setTimeout(() => this.meets(wanted), SLOW_MS);
  }

  meets({ case: name, number }) {
    this.case = this.leads(name);
    this.number = number;
    this.sends();
  }

  /** Send what the page shows, as the viewer takes it. */
  sends() {
    const { turning, task, version } = this;
    const data = { address: "rexview/cases", version, asked: this.number, task };
    turning.configure(data, [recordOf(this.case)]);
    if (turning.isBehind(this.case)) return false;
    if (this.screen.at(-1) !== this.case) this.screen.push(this.case);
    turning.came(this.case);
    return true;
  }

  // also what was given up may come: its answer was on its way already
  async #fetch(url) {
    const { version } = this;
    if (this.route === "broken") throw new TypeError("cut off");
    if (this.route === "held") await new Promise((done) => this.waiting.push(done));
    const at = CASES.indexOf(url.searchParams.get("beside"));
    const forwards = url.searchParams.get("direction") === "next";
    const names = forwards
      ? CASES.slice(at + 1, at + 1 + AT_ONCE)
      : CASES.slice(Math.max(at - AT_ONCE, 0), at).reverse();
    const cases = names.map((name) => recordOf(name, { texts: { answers: version } }));
    return new Response(JSON.stringify({ cases }));
  }

  async press(keys) {
    for (const key of keys) {
      this.turning.step(key === "j" ? 1 : -1);
      await passes(100);
      this.isOfOneCase();
    }
  }

  /** The texts beside a picture are of its case. */
  isOfOneCase() {
    assert.equal(this.turning.isOf(this.screen.at(-1)), true);
  }
}

const marks = () => Object.keys(document.documentElement.dataset);

/** Let time pass until the page has followed; it is then, with the screen, at a case. */
async function endsAt(page, name) {
  for (let turn = 0; turn < 100 && marks().length > 0; turn += 1) {
    await passes(200);
    page.isOfOneCase();
  }
  assert.deepEqual(marks(), []);
  assert.equal(page.case, name);
  assert.equal(page.screen.at(-1), name);
  assert.equal(page.turning.shown, name);
  assert.equal(page.turning.waits, false);
}

beforeEach(() => {
  holdTime();
  for (const mark of marks()) delete document.documentElement.dataset[mark];
});

afterEach(() => {
  open.turning.leave(open);
  letTimeGo();
});

/** @type {FakePage} */
let open;

async function openAt(first, route = "answers") {
  open = new FakePage(first, route);
  await passes(1000);
  return open;
}

describe("keys", () => {
  for (const keys of ["j".repeat(20), "jjjjjjkkkkjjjk", "kkjk"])
    test(`ten a second end where they say: ${keys}`, async () => {
      const page = await openAt(CASES[2]);
      await page.press(keys);
      let place = 2;
      for (const key of keys) place = Math.max(place + (key === "j" ? 1 : -1), 0);
      await endsAt(page, CASES[place]);
    });

  test("each case that is here is shown at once, and the page is asked when they rest", async () => {
    const page = await openAt(CASES[0]);
    await page.press("jjj");
    assert.deepEqual(page.screen, CASES.slice(0, 4));
    assert.deepEqual(page.asked, []);
    await passes(300);
    assert.equal(page.asked.length, 1);
    assert.equal(page.asked[0].case, CASES[3]);
    await endsAt(page, CASES[3]);
    const { texts } = page.turning.store.get(CASES[3]);
    assert.deepEqual(texts, { answers: "1" }, "what the page says comes beside it");
  });

  test("a reader who does not rest is followed all the same", async () => {
    const page = await openAt(CASES[0]);
    page.follows = false;
    await page.press("j".repeat(40));
    assert.deepEqual(page.asked, []);
    await page.press("jj");
    assert.ok(page.asked.length > 0);
  });

  test("there is none before the first and after the last", async () => {
    const page = await openAt(CASES[0]);
    assert.equal(page.turning.step(-1), false);
    assert.equal(page.turning.goTo(CASES.at(-1)), false);
    await endsAt(page, /** @type {string} */ (CASES.at(-1)));
    assert.equal(page.turning.step(1), false);
  });

  test("a case is not shown before all parts of the page have what they show of it", async () => {
    const page = await openAt(CASES[0], "held");
    page.turning.store.add(recordOf(CASES[1])); // the picture alone
    page.turning.step(1);
    assert.deepEqual(page.screen, [CASES[0]]);
    assert.equal(page.turning.waits, true);
    page.turning.store.add(recordOf(CASES[1], { texts: { answers: "all" } }));
    page.turning.store.arrived();
    assert.deepEqual(page.screen, CASES.slice(0, 2));
    assert.equal(page.turning.waits, false);
  });

  for (const route of ["held", "broken"])
    test(`cases that do not come are waited for, and keys keep counting: ${route}`, async () => {
      const page = await openAt(CASES[0], route);
      page.words.length = 0;
      await page.press("jjjjjkj");
      assert.ok(page.words.includes(true), "it is said that a case is loading");
      if (route === "held") {
        assert.equal(page.turning.waits, true);
        assert.deepEqual(marks(), ["rxWaiting"]);
        page.route = "answers";
        for (const done of page.waiting) done();
      }
      await endsAt(page, CASES[5]);
      assert.equal(page.words.at(-1), false);
    });
});

describe("the page's script", () => {
  test("leaves cases complete while it is held back", async () => {
    const page = await openAt(CASES[0]);
    page.follows = false;
    await page.press("jj");
    assert.deepEqual(page.screen, CASES.slice(0, 3));
    assert.equal(page.sends(), false, "it still shows the first case, which is left aside");
    assert.deepEqual(marks(), ["rxTurning"]);
    assert.equal(page.turning.isOf(CASES[2]), true);
    assert.equal(page.turning.isOf(CASES[0]), false);
    await passes(300);
    page.meets(page.asked.at(-1));
    await endsAt(page, CASES[2]);
  });

  test("what it sent before leads nowhere", async () => {
    const page = await openAt(CASES[1]);
    page.follows = false;
    await page.press("j");
    await passes(300);
    const [late] = page.asked;
    assert.equal(late.case, CASES[2]);
    page.screen.length = 0;
    page.turning.step(-1);
    assert.equal(page.sends(), true, "it says once more what it said before the keys");
    assert.equal(page.number, null);
    page.meets(late); // and is then on its way to a case that the reader has left again
    page.follows = true;
    await endsAt(page, CASES[1]);
    assert.deepEqual([...new Set(page.screen)], [CASES[1]]);
  });

  test("is asked again until it has met the request, and given up at last", async () => {
    const page = await openAt(CASES[0]);
    page.follows = false;
    await page.press("j");
    await passes(300);
    assert.equal(page.asked.length, 1);
    await passes(3000);
    assert.equal(page.asked.length, 2);
    assert.deepEqual(page.asked[1], page.asked[0]);
    assert.equal(page.turning.isBehind(CASES[0]), true);
    for (let turn = 0; turn < 10; turn += 1) await passes(3000);
    assert.equal(page.turning.isBehind(CASES[0]), false);
    assert.deepEqual(marks(), []);
    const { length } = page.asked;
    await passes(6000);
    assert.equal(page.asked.length, length);
  });

  test("hears of the cases that were only passed, until it has met that", async () => {
    const page = await openAt(CASES[0]);
    await page.press("jjk");
    await passes(300);
    assert.deepEqual(page.asked[0].passed, [CASES[1], CASES[2], CASES[1]]);
    await endsAt(page, CASES[1]);
    await page.press("j");
    await passes(300);
    assert.deepEqual(page.asked.at(-1).passed, [CASES[2]]);
    assert.ok(page.asked.at(-1).number > page.asked[0].number);
  });

  for (const leaves of ["the app", "for another page"])
    test(`cases passed just before the page was left are handed over: ${leaves}`, async () => {
      const page = await openAt(CASES[0]);
      await page.press("jj");
      if (leaves === "the app") window.dispatchEvent(new Event("pagehide"));
      else page.turning.leave(page);
      assert.deepEqual([...page.leftWith], [CASES[1], CASES[2]]);
    });

  test("leads to another case when the one asked for is another reader's", async () => {
    const page = await openAt(CASES[0]);
    page.leads = () => CASES[0];
    await page.press("j");
    assert.equal(page.screen.at(-1), CASES[1]);
    await endsAt(page, CASES[0]);
  });

  test("going on counts while it is behind", async () => {
    const page = await openAt(CASES[0]);
    await page.press("j");
    page.leads = (name) => name || CASES[9];
    page.turning.goOn();
    assert.equal(page.turning.waits, true);
    await endsAt(page, CASES[9]);
  });

  test("what it shows counts after the browser's own back", async () => {
    const page = await openAt(CASES[0]);
    page.follows = false;
    await page.press("jjj");
    assert.equal(page.turning.isBehind(CASES[0]), true);
    window.dispatchEvent(new Event("popstate"));
    assert.equal(page.sends(), true);
    await endsAt(page, CASES[0]);
    await passes(1000);
    assert.deepEqual(page.asked, [], "it is not asked for what was left");
  });

  test("another list of cases ends what was asked for", async () => {
    const page = await openAt(CASES[0]);
    page.follows = false;
    await page.press("j");
    page.task = "compare";
    assert.equal(page.sends(), true);
    await endsAt(page, CASES[0]);
  });

  test("cases that are made of something else by now are fetched again", async () => {
    const page = await openAt(CASES[0]);
    const { store } = page.turning;
    assert.deepEqual(store.get(CASES[3]).texts, { answers: "1" });
    store.clear();
    page.route = "held";
    page.sends();
    await passes();
    page.version = "2";
    page.sends();
    await passes();
    assert.equal(store.get(CASES[3]), undefined);
    assert.equal(page.waiting.length, 2);
    for (const done of page.waiting.reverse()) {
      done(); // what was asked for before comes last
      await passes();
    }
    assert.deepEqual(store.get(CASES[3]).texts, { answers: "2" });
  });
});

// What people entered is sent in order, again and again, until the server has it, and counts once.

import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, test } from "node:test";
import {
  changedElsewhere,
  closeBrowser,
  FakeServer,
  newBrowser,
  openTab,
  unsentKeys,
} from "./support/tabs.js";
import { passes } from "./support/time.js";

const KINDS = ["verdict", "comment", "adjudicate"];
const KEPT = "Not saved yet: kept on this computer, will be sent.";
const NOT_KEPT = "Not saved yet, and this browser stores nothing: leave this page open.";
const TYPED = "Typed, not saved yet: kept on this computer.";

/** @type {FakeServer} */
let server;
let tabs = [];

beforeEach(() => {
  newBrowser();
  server = new FakeServer();
  tabs = [];
});

afterEach(() => closeBrowser(tabs));

async function open(options = {}) {
  const tab = await openTab(server, options);
  tabs.push(tab);
  return tab;
}

/** Give the first or second of a kind. */
const give = ({ outbox }, kind, value) => outbox.add({ kind, case: "c1", subject: "s", value });

/** A component of the page that asks for nothing, with what it was told of. */
function listen({ outbox }, more = {}) {
  const told = { heard: [], changed: 0, refreshed: 0, left: 0 };
  outbox.listen({
    changed: () => {
      told.changed += 1;
    },
    heard: (reply, batch) => told.heard.push([reply, batch]),
    refresh: () => {
      told.refreshed += 1;
    },
    leave: () => {
      told.left += 1;
    },
    ...more,
  });
  return told;
}

describe("what fails on the way", () => {
  for (const kind of KINDS)
    test(`a tab that is closed before its ${kind} is sent`, async () => {
      const tab = await open();
      server.reached = false;
      give(tab, kind, "first");
      assert.equal(unsentKeys().length, 1, "kept before anything else");
      await passes();
      assert.deepEqual(server.saved, []);
      tab.close();
      const again = await open();
      assert.deepEqual(
        again.outbox.pendingHere(kind).map(({ value }) => value),
        ["first"],
      );
      server.reached = true;
      await passes(10_000);
      assert.deepEqual(server.saved, [["anna", "first"]]);
      assert.equal(unsentKeys().length, 0);
    });

  for (const kind of KINDS)
    test(`a tab that is closed while the server hangs: ${kind}`, async () => {
      const tab = await open();
      give(tab, kind, "first");
      await passes();
      assert.deepEqual(server.saved, [["anna", "first"]]);
      server.hold();
      give(tab, kind, "second");
      await passes();
      assert.equal(server.requests.length, 2);
      assert.equal(tab.outbox.status(kind).state, "saving");
      tab.close();
      assert.equal(unsentKeys().length, 1);
      server.letGo();
      await open();
      await passes();
      assert.equal(server.requests.length, 3, "the next tab sends it, too");
      assert.deepEqual(server.saved, [
        ["anna", "first"],
        ["anna", "second"],
      ]);
      assert.equal(unsentKeys().length, 0);
    });

  for (const kind of KINDS)
    test(`a server that is killed: ${kind}`, async () => {
      const tab = await open();
      const told = listen(tab);
      server.answers = false; // it saves the first and is killed before it answers
      give(tab, kind, "first");
      await passes();
      server.reached = false;
      give(tab, kind, "second");
      await passes();
      assert.ok(unsentKeys().length >= 1);
      const { state, message, reason } = tab.outbox.status(kind);
      assert.deepEqual([state, message], ["waiting", KEPT]);
      assert.equal(reason, "The server cannot be reached.");
      server.restart();
      server.answers = true;
      await passes(10_000);
      assert.equal(told.refreshed, 1, "the ticket of the old server is not good any more");
      tab.outbox.configure({ ...tab.outbox, ticket: server.ticketOf("anna") });
      await passes();
      assert.deepEqual(server.saved, [
        ["anna", "first"],
        ["anna", "second"],
      ]);
      assert.equal(unsentKeys().length, 0);
      assert.equal(tab.outbox.status(kind).state, "saved");
    });

  test("it is tried again ever less often, and at once when there is a network", async () => {
    const tab = await open();
    server.reached = false;
    give(tab, "score", 1);
    await passes();
    for (const wait of [400, 800, 1600, 3200, 6400, 10_000, 10_000]) {
      const before = server.requests.length;
      await passes(wait - 1);
      assert.equal(server.requests.length, before);
      await passes(1);
      assert.equal(server.requests.length, before + 1);
    }
    server.reached = true;
    tab.window.dispatchEvent(new Event("online"));
    await passes();
    assert.deepEqual(server.saved, [["anna", 1]]);
    server.reached = false;
    give(tab, "score", 2);
    await passes();
    const before = server.requests.length;
    await passes(400);
    assert.equal(server.requests.length, before + 1, "the waits begin anew");
  });

  test("a server that does not answer is given up and asked again", async () => {
    const tab = await open();
    server.hold();
    give(tab, "score", 1);
    await passes();
    await passes(19_999);
    assert.equal(tab.outbox.status("score").state, "saving");
    server.held = null;
    await passes(1);
    assert.equal(tab.outbox.status("score").reason, "The server cannot be reached.");
    await passes(400);
    assert.deepEqual(server.saved, [["anna", 1]]);
  });

  test("what is wrong with the server is shown, and nothing is lost", async () => {
    const tab = await open();
    server.error = "The disk with the reviews database is full.";
    give(tab, "score", 1);
    await passes();
    assert.equal(tab.outbox.status("score").reason, server.error);
    assert.equal(unsentKeys().length, 1);
    server.error = null;
    await passes(400);
    assert.deepEqual(server.saved, [["anna", 1]]);
  });

  for (const [what, reply] of /** @type {[string, object | null][]} */ ([
    ["an answer that names fewer entries", { saved: [], refused: {}, replaced: {} }],
    ["an answer of something else", { hello: "there" }],
    ["an empty answer", null],
  ]))
    test(`${what} confirms nothing`, async () => {
      const tab = await open();
      const { fetch } = globalThis;
      globalThis.fetch = async () => new Response(JSON.stringify(reply));
      give(tab, "score", 1);
      await passes();
      assert.equal(tab.outbox.status("score").state, "waiting");
      assert.equal(unsentKeys().length, 1);
      globalThis.fetch = fetch;
      await passes(400);
      assert.deepEqual(server.saved, [["anna", 1]]);
    });

  test("one part of a page that fails keeps nothing from being sent", async (context) => {
    context.mock.method(console, "error", () => undefined);
    const tab = await open();
    const fail = () => {
      throw new Error("a part of a page that fails");
    };
    listen(tab, { changed: fail, heard: fail });
    const told = listen(tab);
    give(tab, "score", 1);
    await passes();
    assert.deepEqual(server.saved, [["anna", 1]]);
    assert.equal(unsentKeys().length, 0);
    assert.equal(told.heard.length, 1);
  });
});

describe("order", () => {
  test("entries are sent in the order in which they were given, though the clock was set back", async (context) => {
    const tab = await open();
    server.reached = false;
    for (const value of [1, 2, 3]) give(tab, "score", value);
    context.mock.method(Date, "now", () => 1000);
    for (const value of [4, 5]) give(tab, "score", value);
    server.reached = true;
    await passes(10_000);
    assert.deepEqual(
      server.saved.map(([, value]) => value),
      [1, 2, 3, 4, 5],
    );
  });

  test("tabs share one order, also after one was closed", async () => {
    const [first, second] = [await open(), await open()];
    server.reached = false;
    give(first, "score", 1);
    give(second, "score", 2);
    give(first, "score", 3);
    first.close();
    second.close();
    const third = await open();
    give(third, "score", 4);
    server.reached = true;
    await passes(10_000);
    assert.deepEqual(
      server.saved.map(([, value]) => value),
      [1, 2, 3, 4],
    );
    third.close();
    const { order } = give(await open(), "score", 5);
    assert.equal(Number(order), 5, "also when nothing waits any more");
  });

  test("what waits from an older version, numbered by the clock, goes first", async () => {
    server.reached = false;
    const old = { kind: "score", value: "old", token: "t", order: "001764370000000" };
    localStorage.setItem("rexview:unsent:anna:001764370000000-t", JSON.stringify(old));
    const tab = await open();
    give(tab, "score", "new");
    server.reached = true;
    await passes(10_000);
    assert.deepEqual(
      server.saved.map(([, value]) => value),
      ["old", "new"],
    );
  });

  test("at most fifty are sent at once, the others right after", async () => {
    const tab = await open();
    for (let value = 1; value <= 120; value += 1) give(tab, "score", value);
    for (let turn = 0; turn < 4; turn += 1) await passes();
    assert.deepEqual(
      server.requests.map(({ entries }) => entries.length),
      [50, 50, 20],
    );
    assert.deepEqual(
      server.saved.map(([, value]) => value),
      Array.from({ length: 120 }, (_, at) => at + 1),
    );
  });

  test("what is for this browser only is not sent, and each has a token of its own", async () => {
    const tab = await open();
    tab.outbox.add({ kind: "score", value: 1, began: 12 });
    tab.outbox.add({ kind: "score", value: 2 });
    await passes();
    const sent = server.requests.flatMap(({ entries }) => entries);
    assert.ok(sent.every((entry) => !("order" in entry) && !("began" in entry)));
    assert.ok(sent.every(({ page }) => page === "case page"));
    const tokens = sent.map(({ token }) => token);
    assert.equal(new Set(tokens).size, 2);
    for (const token of tokens)
      assert.match(token, /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  });
});

describe("whose entries", () => {
  test("nobody sends what somebody else gave in the same browser", async () => {
    server.reached = false;
    const first = await open({ owner: "anna" });
    give(first, "comment", "Comment 1");
    await passes();
    assert.equal(unsentKeys().length, 1);
    first.close();

    server.restart();
    const second = await open({ owner: "bert" });
    assert.deepEqual(second.outbox.pending(), []);
    give(second, "comment", "Comment 2");
    await passes(10_000);
    assert.deepEqual(server.saved, [["bert", "Comment 2"]]);
    assert.equal(unsentKeys().length, 1, "the other's is kept");
    second.close();

    await open({ owner: "anna" });
    await passes();
    assert.deepEqual(server.saved, [
      ["bert", "Comment 2"],
      ["anna", "Comment 1"],
    ]);
    assert.equal(unsentKeys().length, 0);
  });

  test("what was entered before a name was given is saved under it", async () => {
    const tab = await open({ owner: "anna" });
    tab.close();
    tab.outbox.configure({ owner: null, unowned: "set", ticket: null, address: "a", page: "p" });
    give(tab, "verdict", "rejected");
    tab.outbox.keepTyped("note", { text: "half" });
    await passes(10_000);
    assert.deepEqual(server.saved, []);
    const ticket = server.ticketOf("anna");
    tab.outbox.configure({ owner: "anna", unowned: "set", ticket, address: "a", page: "p" });
    assert.deepEqual(tab.outbox.drafts.get("anna", "note"), { text: "half" });
    await passes();
    assert.deepEqual(server.saved, [["anna", "rejected"]]);
    assert.equal(unsentKeys().length, 0);
  });

  test("a page of before the name was given takes nothing back", async () => {
    const tab = await open({ owner: "anna" });
    tab.outbox.configure({ owner: null, unowned: "set", ticket: null, address: "a", page: "p" });
    give(tab, "verdict", "rejected");
    await passes();
    assert.deepEqual(server.saved, [["anna", "rejected"]]);
  });
});

describe("what the server does not take", () => {
  test("is given back with its reason and holds up nothing", async () => {
    server.refused = { no: "You may not score this." };
    const tab = await open();
    const told = listen(tab);
    for (const value of ["first", "no", "last"]) give(tab, "score", value);
    await passes();
    assert.deepEqual(server.saved, [
      ["anna", "first"],
      ["anna", "last"],
    ]);
    assert.equal(unsentKeys().length, 0);
    const [[key, returned]] = tab.outbox.returnedHere("score");
    assert.deepEqual([returned.value, returned.reason], ["no", "You may not score this."]);
    assert.equal(returned.overtaken, false);
    assert.deepEqual(Object.values(told.heard[0][0].reasons), ["You may not score this."]);
    tab.close();
    const again = await open();
    assert.deepEqual(again.outbox.returnedHere("verdict"), []);
    assert.deepEqual(again.outbox.returnedOf("another page", "score"), []);
    assert.equal(again.outbox.returnedHere("score").length, 1, "kept until it is put away");
    again.outbox.putAway([key]);
    assert.deepEqual(again.outbox.returnedHere("score"), []);
  });

  for (const [kind, there, reason] of /** @type {[string, object, string][]} */ ([
    ["adjudicate", { score: 5 }, "Another consensus was recorded meanwhile."],
    ["verdict", {}, "Another window had saved another verdict, which was kept."],
    ["comment", {}, "Another window had saved other words, which were kept."],
    ["score", { score: 3 }, "Another window had saved 3, which was kept."],
    ["score", { score: null }, "Another window had saved no score, which was kept."],
    ["decide", { by: "Bob" }, "Bob decided something else meanwhile."],
    ["decide", {}, "Someone decided something else meanwhile."],
    ["agenda", { by: "Bob" }, "Bob changed it meanwhile."],
    ["presenter_note", {}, "Another window changed it meanwhile."],
    ["pin", {}, "Another window had saved another one, which was kept."],
  ]))
    test(`says what another window did to a ${kind} given ${JSON.stringify(there)}`, async () => {
      server.replaced = { mine: there };
      const tab = await open();
      give(tab, kind, "mine");
      await passes();
      const [[, returned]] = tab.outbox.returnedHere(kind);
      assert.equal(returned.reason, reason);
      assert.equal(returned.overtaken, true);
      assert.deepEqual(server.saved, []);
      assert.equal(tab.outbox.status(kind).state, "idle", "it is not called saved");
    });

  test("is kept once for each thing, and only what somebody has typed", async () => {
    server.refused = { 1: "No.", 2: "No.", null: "No.", "": "No." };
    const tab = await open();
    for (const value of [1, 2]) give(tab, "score", value);
    tab.outbox.add({ kind: "score", case: "c2", subject: "s", value: 1 });
    tab.outbox.add({ kind: "reveal", case: "c1", value: 1 });
    tab.outbox.add({ kind: "discussed", case: "c1", value: 1 });
    await passes();
    const given = tab.outbox.returnedHere("score", "reveal", "discussed").map(([, one]) => one);
    assert.deepEqual(
      given.map((one) => [one.case, one.value]),
      [
        ["c1", 2],
        ["c2", 1],
      ],
    );
    give(tab, "score", null);
    await passes();
    assert.deepEqual(
      tab.outbox.returnedHere("score").map(([, one]) => one.case),
      ["c2"],
      "what takes something back leaves nothing",
    );
  });
});

describe("tabs beside each other", () => {
  test("what one gives is shown by the other, and sent once", async () => {
    const [first, second] = [await open(), await open()];
    await passes();
    const told = listen(second);
    const { token } = give(first, "score", 1);
    const [key] = unsentKeys();
    changedElsewhere(second, key, localStorage.getItem(key));
    assert.equal(told.changed, 1);
    assert.equal(second.outbox.pending()[0].token, token);
    await passes();
    assert.deepEqual(server.saved, [["anna", 1]]);
    changedElsewhere(second, "rexview:unsent:bert:1", null);
    changedElsewhere(second, "something else", null);
    assert.equal(told.changed, 1, "another's entries are nothing to it");
  });

  test("the other asks how its case is when something was confirmed", async () => {
    const [first, second] = [await open(), await open()];
    second.outbox.asked = "c1";
    second.outbox.askedPage = "meeting page";
    second.outbox.askedMeeting = "m1";
    give(first, "score", 1);
    const [key] = unsentKeys();
    await passes();
    const before = server.requests.length;
    changedElsewhere(second, key, null);
    await passes();
    const [{ entries, ...asked }] = server.requests.slice(before);
    assert.deepEqual(entries, []);
    assert.deepEqual(asked, {
      ticket: second.outbox.ticket,
      case: "c1",
      page: "meeting page",
      meeting: "m1",
    });
  });

  test("asks again when it is looked at, and not while it is hidden", async () => {
    const tab = await open();
    tab.outbox.asked = "c1";
    tab.document.hidden = true;
    tab.document.dispatchEvent(new Event("visibilitychange"));
    await passes();
    assert.equal(server.requests.length, 0);
    tab.document.hidden = false;
    tab.document.dispatchEvent(new Event("visibilitychange"));
    await passes();
    assert.equal(server.requests.length, 1);
    tab.window.dispatchEvent(new Event("focus"));
    await passes();
    assert.equal(server.requests.length, 2);
  });

  test("a page read before the newest answer is past", async () => {
    const tab = await open();
    assert.equal(tab.outbox.isPast(0), false);
    give(tab, "score", 1);
    give(tab, "score", 2);
    await passes();
    assert.equal(tab.outbox.isPast(1), true);
    assert.equal(tab.outbox.isPast(2), false);
    tab.outbox.configure({ ...tab.outbox, unowned: "another set" });
    assert.equal(tab.outbox.isPast(0), false);
  });
});

describe("a browser that keeps nothing", () => {
  test("says so, holds the page, and sends all the same", async (context) => {
    context.mock.method(Object.getPrototypeOf(localStorage), "setItem", () => {
      throw new Error("quota");
    });
    const tab = await open();
    const leaves = () => !tab.window.dispatchEvent(new Event("beforeunload", { cancelable: true }));
    assert.equal(leaves(), false);
    server.reached = false;
    give(tab, "score", 1);
    await passes();
    assert.equal(tab.outbox.status("score").message, NOT_KEPT);
    assert.equal(tab.outbox.fleeting, true);
    assert.equal(leaves(), true);
    server.reached = true;
    await passes(400);
    assert.deepEqual(server.saved, [["anna", 1]]);
    assert.equal(leaves(), false);
    tab.outbox.keepTyped("note", { text: "half" });
    assert.match(tab.outbox.status().message, /this browser stores nothing: leave the field/);
  });
});

describe("words that are being typed", () => {
  test("outlive the tab, and wait on the page until they are an entry", async () => {
    const tab = await open();
    const told = listen(tab);
    tab.outbox.keepTyped("note", { text: "hal" });
    tab.outbox.keepTyped("note", { text: "half" });
    assert.equal(told.changed, 1, "once for each field");
    assert.deepEqual(tab.outbox.status("comment"), { state: "draft", message: TYPED, reason: "" });
    tab.close();
    const again = await open();
    assert.deepEqual(again.outbox.drafts.get("anna", "note"), { text: "half" });
    again.outbox.keepTyped("note", { text: "half a thought" });
    again.outbox.leaveTyped("note");
    assert.equal(again.outbox.status("comment").state, "idle");
    assert.deepEqual(again.outbox.drafts.get("anna", "note"), { text: "half a thought" });
    again.outbox.dropTyped("note");
    assert.equal(again.outbox.drafts.get("anna", "note"), null);
    assert.deepEqual(server.saved, []);
  });
});

describe("a page whose ticket is not good any more", () => {
  let reloads = 0;

  beforeEach(() => {
    reloads = 0;
    const reload = () => {
      reloads += 1;
    };
    Object.assign(globalThis, { location: { reload } });
  });

  test("is loaded anew when no new data come, and not again right after", async () => {
    const tab = await open();
    const told = listen(tab);
    server.restart();
    give(tab, "score", 1);
    await passes();
    assert.deepEqual([told.refreshed, told.left, reloads], [1, 0, 0]);
    await passes(4000);
    assert.deepEqual([told.left, reloads], [1, 1]);
    await passes(10_000);
    await passes(4000);
    assert.equal(reloads, 1);
    assert.equal(unsentKeys().length, 1);
  });

  test("is not loaded anew while somebody types", async () => {
    const tab = await open();
    let busy = true;
    listen(tab, { busy: () => busy });
    server.restart();
    give(tab, "score", 1);
    await passes();
    await passes(4000);
    assert.equal(reloads, 0);
    busy = false;
    for (let turn = 0; turn < 4 && reloads === 0; turn += 1) await passes(4000);
    assert.equal(reloads, 1);
  });

  test("goes on when new data come", async () => {
    const tab = await open();
    listen(tab);
    server.restart();
    give(tab, "score", 1);
    await passes();
    tab.outbox.configure({ ...tab.outbox, ticket: server.ticketOf("anna") });
    await passes(4000);
    assert.equal(reloads, 0);
    assert.deepEqual(server.saved, [["anna", 1]]);
  });
});

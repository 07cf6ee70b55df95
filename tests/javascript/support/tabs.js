// Tabs of one browser, each with its own outbox, and a server that saves what they send.

import { newDocument } from "./page.js";
import { holdTime, letTimeGo } from "./time.js";

const OUTBOX = new URL("../../../rexview/ui/web/saving/assets/outbox.js", import.meta.url);
const UNSENT = "rexview:unsent:";
let opened = 0;

/** Empty the browser's storage, and let time pass only by `passes`. */
export function newBrowser() {
  localStorage.clear();
  sessionStorage.clear();
  holdTime();
}

/** Close what is open, and let time pass again by itself. */
export function closeBrowser(tabs) {
  for (const tab of tabs) tab.close();
  letTimeGo();
}

/** The entries in the browser's storage that no server has confirmed, by their keys. */
export const unsentKeys = () => Object.keys(localStorage).filter((key) => key.startsWith(UNSENT));

/** Open a tab: the page's module with a window and a document of its own. */
export async function openTab(
  server,
  { owner = "anna", unowned = "set", page = "case page" } = {},
) {
  const window = new EventTarget();
  const document = newDocument();
  Object.assign(globalThis, { window, document });
  opened += 1;
  const { outbox } = await import(`${OUTBOX}?tab=${opened}`);
  const ticket = server.ticketOf(owner);
  outbox.configure({ owner, unowned, ticket, address: "rexview/reviews", page });
  const close = () => {
    clearTimeout(outbox.timer);
    clearTimeout(outbox.renewal.timer);
    outbox.ticket = null;
    server.gone.add(ticket);
  };
  return { outbox, window, document, close };
}

/** Tell a tab, as a browser does, that another one has changed the storage. */
export function changedElsewhere({ window }, key, newValue) {
  window.dispatchEvent(Object.assign(new Event("storage"), { key, newValue }));
}

/** What takes entries, each token once, as `rexview/ui/web/saving/route.py` answers. */
export class FakeServer {
  constructor() {
    this.rows = []; // [person, entry], in the order in which they were saved
    this.requests = []; // what was sent, whether it was answered or not
    this.refused = {}; // by what an entry's value is: why it is not taken
    this.replaced = {}; // by what an entry's value is: what is there instead
    this.people = new Map(); // by ticket, of which each tab has its own
    this.gone = new Set(); // tickets of tabs that are closed: no answer gets to them
    this.tickets = 0;
    this.reached = true; // the request gets here
    this.answers = true; // its answer gets back
    this.error = null; // what is wrong with the server itself
    this.held = null; // how those end that wait for a server that hangs
    globalThis.fetch = (_url, { body, signal }) => this.#fetch(JSON.parse(body), signal);
  }

  ticketOf(person) {
    this.tickets += 1;
    const ticket = `${person} ${this.tickets}`;
    this.people.set(ticket, person);
    return ticket;
  }

  /** Start anew, with another secret: no ticket is good any more. */
  restart() {
    this.people.clear();
    this.reached = true;
  }

  /** Take requests, and answer none until `letGo`. */
  hold() {
    this.held = [];
  }

  letGo() {
    const held = this.held;
    this.held = null;
    for (const act of held) act();
  }

  async #fetch(request, signal) {
    this.requests.push(request);
    if (!this.reached) throw new TypeError("cut off");
    if (this.held !== null) await this.#isLetGo(signal);
    const [status, reply] = this.#reply(request);
    if (this.gone.has(request.ticket)) await new Promise(() => undefined);
    if (!this.answers) throw new TypeError("cut off");
    return new Response(JSON.stringify(reply), { status });
  }

  #isLetGo(signal) {
    return new Promise((done, fail) => {
      this.held.push(done);
      signal.addEventListener("abort", () => fail(signal.reason));
    });
  }

  #reply({ ticket, entries }) {
    if (this.error !== null) return [503, { error: this.error }];
    const person = this.people.get(ticket);
    if (person === undefined) return [403, { error: "Another server.", renew: true }];
    const reply = { saved: [], refused: {}, replaced: {}, revision: this.rows.length };
    for (const { token, ...entry } of entries) {
      if (entry.value in this.refused) reply.refused[token] = this.refused[entry.value];
      else if (entry.value in this.replaced) reply.replaced[token] = this.replaced[entry.value];
      else {
        reply.saved.push(token);
        const known = this.rows.some(([, row]) => row.token === token);
        if (!known) this.rows.push([person, { token, ...entry }]);
      }
    }
    return [200, { ...reply, revision: this.rows.length }];
  }

  /** What is saved: [person, value]. */
  get saved() {
    return this.rows.map(([person, { value }]) => [person, value]);
  }
}

// What the modules use of a page, for tests without a browser. Import it before them.

import { FakeStorage } from "./storage.js";

/** A document that is empty. */
export const newDocument = () =>
  Object.assign(new EventTarget(), {
    hidden: false,
    baseURI: "http://rexview.invalid/",
    getElementById: () => null,
    documentElement: { dataset: {} },
  });

const ofPage = {
  window: globalThis,
  document: newDocument(),
  localStorage: new FakeStorage(),
  sessionStorage: new FakeStorage(),
};
const events = new EventTarget();
for (const name of ["addEventListener", "removeEventListener", "dispatchEvent"]) {
  globalThis[name] = events[name].bind(events);
}
for (const [name, value] of Object.entries(ofPage)) {
  Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
}
globalThis.navigator ??= /** @type {any} */ ({});

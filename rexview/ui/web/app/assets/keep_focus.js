// Keeps the focus when a run of the page replaces elements: a filter value with another count, a
// removed chip, a link with another address. The focus goes to the nearest element with the same
// words, ignoring numbers, or else to the element that is now in its place. Otherwise the next Tab
// would start at the top of the page.

import { every, whenPageChanges } from "../../components/dom.js";

const PLACE = "[class*='st-key-'], .rx-linked, [data-testid='stSidebar'], [data-testid='stMain']";
const FIRST = ["a[href]", "button", "input", "summary"]
  .map((one) => `[data-testid='stMain'] ${one}`)
  .join(", ");
const LONGEST_MS = 20_000; // the user is elsewhere after a longer run
const SETTLED_MS = 700; // without a change: removed elements will not return

/** @typedef {{ node: HTMLElement, place: string, kind: string, words: string, at: number }} Held */

/** @type {Held | null} */
let held = null;
let lostAt = 0;
/** @type {ReturnType<typeof setTimeout> | undefined} */
let settling;

/** The words of an element without its numbers, which change. */
function wordsOf(/** @type {Element} */ node) {
  const words = node.getAttribute("aria-label") ?? node.textContent ?? "";
  return words.replace(/[\d\s.,]+/g, " ").trim();
}

function placeOf(/** @type {Element} */ node) {
  const place = node.closest(PLACE);
  const key = [...(place?.classList ?? [])].find((name) => name.startsWith("st-key-"));
  if (key) return `.${CSS.escape(key)}`;
  if (place?.matches(".rx-linked")) return ".rx-linked";
  return place ? `[data-testid="${place.getAttribute("data-testid")}"]` : "";
}

/** The candidates' kind: same tag, same role and same first class of ours. */
function kindOf(/** @type {Element} */ node) {
  const ours = [...node.classList].find((name) => name.startsWith("rx-"));
  const role = node.getAttribute("role");
  return `${node.localName}${role ? `[role="${role}"]` : ""}${ours ? `.${ours}` : ""}`;
}

function ofKind(/** @type {{ place: string, kind: string }} */ { place, kind }) {
  return every(place)
    .flatMap((root) => every(kind, root))
    .filter(isShown);
}

function isShown(/** @type {Element} */ node) {
  return node.getClientRects().length > 0 && getComputedStyle(node).visibility === "visible";
}

function focused(/** @type {FocusEvent} */ event) {
  const node = /** @type {HTMLElement} */ (event.target);
  const place = node.shadowRoot ? "" : placeOf(node);
  held = null;
  if (!place) return;
  const kind = kindOf(node);
  held = { node, place, kind, words: wordsOf(node), at: ofKind({ place, kind }).indexOf(node) };
}

function restore() {
  if (!held || held.node.isConnected) {
    lostAt = 0;
    return;
  }
  if (document.activeElement && document.activeElement !== document.body) return;
  lostAt ||= Date.now();
  if (Date.now() - lostAt > LONGEST_MS) {
    held = null;
    return;
  }
  const { words, at } = held;
  const found = ofKind(held);
  const same = found.filter((node) => wordsOf(node) === words);
  const [near] = same.sort((a, b) => distance(found, a, at) - distance(found, b, at));
  clearTimeout(settling);
  if (near) near.focus({ preventScroll: true });
  else settling = setTimeout(() => takeItsPlace(found, at), SETTLED_MS);
}

/** No element has its words: focus what is in its place, or else the page's content. */
function takeItsPlace(/** @type {HTMLElement[]} */ found, at) {
  if (!held || document.activeElement !== document.body) return;
  const there = found.filter((node) => node.isConnected);
  const next = there[Math.min(at, there.length - 1)];
  (next ?? every(FIRST).find(isShown))?.focus({ preventScroll: true });
}

function distance(/** @type {HTMLElement[]} */ all, /** @type {HTMLElement} */ node, at) {
  return Math.abs(all.indexOf(node) - at);
}

let begun = false;

/** Start, once for all pages. */
export function keepFocus() {
  if (begun) return;
  begun = true;
  document.addEventListener("focusin", focused);
  // leaving an element that remains, or pressing elsewhere, ends it
  document.addEventListener("focusout", ({ target, relatedTarget }) => {
    if (relatedTarget !== null) return;
    setTimeout(() => {
      if (held?.node === target && held.node.isConnected && document.hasFocus()) held = null;
    }, 0);
  });
  document.addEventListener("pointerdown", ({ target }) => {
    if (!held?.node.contains(/** @type {Node} */ (target))) held = null;
  });
  whenPageChanges(restore);
}

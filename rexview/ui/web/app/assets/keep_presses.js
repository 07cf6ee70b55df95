// A press counts for the element it started on, even if the page changed before the mouse button
// was
// released: a table above arrived and moved it, or it was drawn again, for example after the
// response
// to somebody else's entry. The browser then gives the click to neither element, and nothing would
// happen: no file, no page, no message.
//
// The mouse itself must stay in place: moving it away cancels the press. A redrawn element must
// have
// the same words in the same place. Touches are left to the browser, which looks for the element
// below them only once.

const PRESSED = "button, summary, a[href], label, [role='button'], [role='tab'], [role='radio']";
const STILL_PX = 4;

/** @typedef {{ node: HTMLElement, root: Node, words: string, x: number, y: number }} Press */

/** @type {Press | null} */
let held = null;

/** @returns {HTMLElement | undefined} */
function pressedIn(/** @type {Event} */ event) {
  const path = /** @type {HTMLElement[]} */ (event.composedPath());
  return path.find((node) => node instanceof HTMLElement && node.matches(PRESSED));
}

/** What distinguishes an element from the others of its page. */
function wordsOf(/** @type {HTMLElement} */ node) {
  const { localName, textContent } = node;
  const named = ["aria-label", "href"].map((name) => node.getAttribute(name));
  return JSON.stringify([localName, textContent, ...named]);
}

function pressed(/** @type {PointerEvent} */ event) {
  const { button, pointerType, clientX: x, clientY: y } = event;
  const otherwise = event.ctrlKey || event.metaKey || event.shiftKey || event.altKey;
  const node = pressedIn(event);
  held =
    node && button === 0 && pointerType === "mouse" && !otherwise
      ? { node, root: node.getRootNode(), words: wordsOf(node), x, y }
      : null;
}

function released(/** @type {PointerEvent} */ event) {
  const press = held;
  held = null;
  if (!press || event.button !== 0 || event.composedPath().includes(press.node)) return;
  const { x, y } = press;
  if (Math.abs(event.clientX - x) >= STILL_PX || Math.abs(event.clientY - y) >= STILL_PX) return;
  const node = press.node.isConnected ? press.node : drawnAnew(press, pressedIn(event));
  if (node) clickUnlessHeard(node);
}

function drawnAnew(
  /** @type {Press} */ { root, words },
  /** @type {HTMLElement | undefined} */ there,
) {
  return there?.getRootNode() === root && wordsOf(there) === words ? there : null;
}

function clickUnlessHeard(/** @type {HTMLElement} */ node) {
  const heard = new AbortController();
  const { signal } = heard;
  const hear = (/** @type {Event} */ event) => event.composedPath().includes(node) && heard.abort();
  window.addEventListener("click", hear, { capture: true, signal });
  setTimeout(() => {
    if (signal.aborted) return;
    heard.abort();
    node.click();
  }, 0);
}

let begun = false;

/** Start, once for all pages. */
export function keepPresses() {
  if (begun) return;
  begun = true;
  window.addEventListener("pointerdown", pressed, true);
  window.addEventListener("pointerup", released, true);
  window.addEventListener("pointercancel", () => (held = null), true);
}

// Making elements. Data only ever becomes text or an attribute, never markup.

const SVG = "http://www.w3.org/2000/svg";

/**
 * "on…" are listeners, "style" holds properties; null, undefined and false leave an attribute out.
 *
 * @typedef {Record<string, any>} Attributes
 * @typedef {Node | string | null | undefined} Child
 */

/** Set or remove attributes of an existing element. */
export function set(/** @type {Element} */ element, /** @type {Attributes} */ attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) element.removeAttribute(name);
    else element.setAttribute(name, value === true ? "" : value);
  }
}

/**
 * @template {HTMLElement | SVGElement} T
 * @param {T} element
 * @param {Attributes} attributes
 * @param {(Child | Child[])[]} children
 */
function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) {
      if (value) element.addEventListener(name.slice(2), value);
    } else if (name === "style") {
      for (const [key, text] of Object.entries(value)) element.style.setProperty(key, text);
    } else set(element, { [name]: value });
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return element;
}

/**
 * An HTML element: `html("p", { class: "note" }, "Text")`.
 *
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag
 * @param {Attributes} attributes
 * @param {(Child | Child[])[]} children
 */
export function html(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

/**
 * Give an element these children. Existing ones are not touched: an element that is removed for a
 * moment loses the focus, and a press that started on it.
 */
export function arrange(/** @type {Element} */ parent, /** @type {Node[]} */ children) {
  const stay = new Set(children);
  for (const child of [...parent.childNodes]) if (!stay.has(child)) child.remove();
  children.forEach((child, at) => {
    const there = parent.childNodes[at] ?? null;
    if (there !== child) parent.insertBefore(child, there);
  });
}

/**
 * A button that submits nothing: `button("Fit", () => pane.fit())`.
 *
 * @param {Child | Child[]} content
 * @param {((event: MouseEvent) => void) | null} onclick
 * @param {Attributes} attributes
 */
export function button(content, onclick, attributes = {}) {
  return html("button", { type: "button", onclick, ...attributes }, content);
}

/**
 * @template {keyof SVGElementTagNameMap} K
 * @param {K} tag
 * @param {Attributes} attributes
 * @param {(Child | Child[])[]} children
 */
export function svg(tag, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

/**
 * All elements of a part of the page that match a selector.
 *
 * @returns {HTMLElement[]}
 */
export function every(selector, /** @type {ParentNode} */ within = document) {
  return [...within.querySelectorAll(selector)];
}

/** The shadow root that contains an element of a component, or the document, which has no host. */
export function rootOf(/** @type {Node} */ node) {
  return /** @type {ShadowRoot} */ (node.getRootNode());
}

/** The element that has the focus, even inside the shadow root of another. */
export function focusedElement() {
  let found = document.activeElement;
  while (found?.shadowRoot?.activeElement) found = found.shadowRoot.activeElement;
  return /** @type {HTMLElement | null} */ (found);
}

/**
 * Call a function in the first frame after elements of the page were added or removed.
 *
 * @returns {() => void} ends it
 */
export function whenPageChanges(/** @type {() => void} */ act) {
  let due = 0;
  const run = () => {
    due = 0;
    act();
  };
  const observer = new MutationObserver(() => {
    due ||= requestAnimationFrame(run);
  });
  observer.observe(document.body, { childList: true, subtree: true });
  return () => {
    observer.disconnect();
    cancelAnimationFrame(due);
  };
}

/** Whether the system asks for reduced motion. */
export const wantsLessMotion = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

/** Call a function when the browser is idle, at the latest after some milliseconds. */
export function whenIdle(/** @type {() => void} */ act, timeout = 2000) {
  if (window.requestIdleCallback) requestIdleCallback(act, { timeout });
  else setTimeout(act, 100);
}

/**
 * Scroll a box so that an element in it is a third below its upper edge.
 *
 * @param {Element} box
 * @param {Element | Range} target
 * @param {ScrollBehavior} behavior
 */
export function scrollWithin(box, target, behavior = "auto") {
  const by = target.getBoundingClientRect().top - box.getBoundingClientRect().top;
  box.scrollTo({ top: box.scrollTop + by - box.clientHeight / 3, behavior });
}

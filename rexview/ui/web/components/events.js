// What the components of a page tell each other, and what they tell the page: all names, once.

/**
 * On the browser's window, with their details. Whoever listens does not know who tells.
 *
 * @typedef {{
 *   painted: { case: string },
 *   group: { case: string, group: string | null },
 *   evidence: { flags: string[], pinned: string | null },
 *   light: { boxes: string[] } | null,
 *   comment: { key?: string },
 * }} PageEvents
 *
 * - painted: the viewer has drawn a picture of a case.
 * - group: the answer in hand; where one answer at a time is shown, only its boxes may be.
 * - evidence: flags to be lit, and the one that stays lit.
 * - light: ids of boxes to be lit, null for none.
 * - comment: somebody wants to comment on an answer.
 */

/**
 * Told to the page's script, which takes them as `on_<name>_change`.
 *
 * @typedef {"navigate" | "report" | "refresh" | "go" | "name" | "unsaved" | "leads" | "headlines"} Trigger
 * @typedef {(name: Trigger, value: unknown) => void} Tell
 * @typedef {{ parentElement: HTMLElement, data: any, setTriggerValue: Tell }} Component
 */

/**
 * @template {keyof PageEvents} K
 * @param {K} name
 * @param {PageEvents[K]} detail
 */
export function tellPage(name, detail) {
  window.dispatchEvent(new CustomEvent(`rexview:${name}`, { detail }));
}

/**
 * @template {keyof PageEvents} K
 * @param {K} name
 * @param {(detail: PageEvents[K]) => void} act
 * @param {AbortSignal} signal ends it
 */
export function listenToPage(name, act, signal) {
  const heard = (/** @type {any} */ event) => act(event.detail);
  window.addEventListener(`rexview:${name}`, heard, { signal });
}

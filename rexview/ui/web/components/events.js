// The messages between components, and to the page: all names in one place.

/**
 * On the browser's window, with their details. Listeners do not know the sender.
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
 * - group: the current answer; where one answer at a time is shown, only its boxes may be shown.
 * - evidence: flags to highlight, and the one that remains highlighted.
 * - light: ids of boxes to highlight, null for none.
 * - comment: the user wants to comment on an answer.
 */

/**
 * Sent to the page's script, which receives them as `on_<name>_change`.
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

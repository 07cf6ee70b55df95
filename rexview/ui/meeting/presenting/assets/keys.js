// The keys of a meeting, as they are listed and as they work. None is Streamlit's (r, c, Esc) or
// the
// viewer's: j, k and q have the same meaning there, and Shift with a letter has none there. No key
// that
// writes on the page Case (a confirms, d rejects) has a meaning here, because users press it by
// habit.

import { dialogIsOpen, isPlain, TYPING } from "../../../web/components/key_guards.js";
import { tr, trc } from "../../../web/components/words.js";

/** @import { Presenting } from "./presenting.js" */

/** @type {[key: string, meaning: string, leads: boolean][]} */
export const KEYS = [
  [tr("space, →, Page Down"), tr("next step"), true],
  [tr("Shift + space, ←, Page Up"), tr("step before"), true],
  ["j  k", tr("next case, case before"), true],
  ["g", tr("go to a case"), false],
  [tr("Shift + S"), tr("show all steps of this case"), true],
  [tr("Shift + D"), tr("decide"), true],
  ["↑ ↓", tr("read on in a long text"), false],
  ["q", tr("text beside the film, or the film alone"), false],
  [tr("Shift + P"), tr("pointer"), true],
  [tr("Shift + V"), tr("arrow"), true],
  [tr("Shift + F"), tr("draw freehand"), true],
  [trc("key", "Delete"), tr("remove arrows and lines"), true],
  [tr("Shift + T"), tr("timer: pause, go on"), true],
  [tr("Shift + N"), tr("notes in a window of their own"), true],
  [tr("Shift + J"), tr("how others follow"), true],
  [tr("Shift + L"), tr("light or dark"), false],
  ["u", tr("tools of the picture"), false],
  ["?", tr("this list"), false],
];
/** The meaning elsewhere of a meeting's key, where it cannot be the same. */
export const ELSEWHERE = [
  tr(
    "On the Case page, g goes to the report, u keeps words highlighted, Shift + N comments on an answer.",
  ),
  tr("Its keys for failures (e, a, d) do nothing here: failures are shown, not judged."),
].join(" ");
const LEADS = {
  " ": "nextStep",
  ArrowRight: "nextStep",
  PageDown: "nextStep",
  ArrowLeft: "stepBefore",
  PageUp: "stepBefore",
  j: "nextCase",
  k: "caseBefore",
  S: "showAll",
  D: "decide",
  P: "pointer",
  V: "arrow",
  F: "draw",
  Delete: "clear",
  T: "timer",
  N: "notes",
  J: "join",
};
const ALL = {
  g: "goTo",
  ArrowDown: "readOn",
  ArrowUp: "readBack",
  q: "alone",
  L: "look",
  u: "tools",
  "?": "help",
};
/** Elements that need the space bar and Enter while they have the focus. */
export const PRESSABLE = "button, a[href], summary, [role='button'], [role='separator']";
const MOVES_PICTURE = /^Arrow/; // while the image has the focus and is zoomed in

/**
 * The current meaning of a key, null if it is for another component.
 *
 * @param {KeyboardEvent} event
 * @param {Presenting} presenting
 */
export function meaning(event, { leads, root, film }) {
  const { viewer, node } = film;
  if (!isPlain(event) || viewer.help.open || dialogIsOpen(root)) return null;
  const path = event.composedPath().filter((node) => node instanceof Element);
  const [target] = path;
  if (target?.closest(TYPING)) return null;
  const pressable = target?.closest(PRESSABLE);
  if (pressable && [" ", "Enter"].includes(event.key)) return null;
  if (pressable?.matches("[role='separator']")) return null;
  const onFilm = path.includes(node);
  if (onFilm && target?.closest(".handle, .box") && /^(Arrow|Delete)/.test(event.key)) return null;
  if (onFilm && viewer.activePane?.isZoomed && MOVES_PICTURE.test(event.key)) return null;
  if (viewer.views.blink.on && event.key === " ") return null;
  if (event.repeat && !/^Arrow(Up|Down)$/.test(event.key)) return null;
  if (event.key === " " && event.shiftKey) return leads ? "stepBefore" : null;
  const found = (leads ? LEADS[event.key] : undefined) ?? ALL[event.key];
  if (!found) return null;
  return event.shiftKey && MOVES_PICTURE.test(event.key) ? null : found;
}

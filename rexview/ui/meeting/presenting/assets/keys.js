// The keys of a meeting, as they are listed and as they work. None of them is Streamlit's (r, c, Esc) or
// the viewer's: j, k, g and q mean there what they mean here, Shift and a letter means nothing there.

import { dialogIsOpen, isPlain, TYPING } from "../../../components/page_keys.js";

/** @import { Presenting } from "./presenting.js" */

/** @type {[key: string, meaning: string, leads: boolean][]} */
export const KEYS = [
  ["space, →, Page Down", "next step", true],
  ["Shift + space, ←, Page Up", "step before", true],
  ["j  k", "next case, case before", true],
  ["g", "go to a case", false],
  ["Shift + E", "show all steps of this case", true],
  ["Shift + D", "decide", true],
  ["↑ ↓", "read on in a long text", false],
  ["q", "text beside the film, or the film alone", false],
  ["e", "pointer", true],
  ["a", "arrow", true],
  ["d", "draw", true],
  ["Delete", "remove arrows and lines", true],
  ["Shift + T", "timer: pause, go on", true],
  ["Shift + N", "notes in a window of their own", true],
  ["Shift + J", "how others follow", true],
  ["Shift + L", "light or dark", false],
  ["u", "tools of the picture", false],
  ["?", "this list", false],
];
const LEADS = {
  " ": "nextStep",
  ArrowRight: "nextStep",
  PageDown: "nextStep",
  ArrowLeft: "stepBefore",
  PageUp: "stepBefore",
  j: "nextCase",
  k: "caseBefore",
  E: "showAll",
  D: "decide",
  e: "pointer",
  a: "arrow",
  d: "draw",
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
const MOVES_PICTURE = /^Arrow/; // while the picture has the focus and is zoomed in

/**
 * What a key means now, null where it is for somebody else.
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
  const pressable = target?.closest(
    "button, a[href], summary, [role='button'], [role='separator']",
  );
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

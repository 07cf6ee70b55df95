// Keys: anywhere on the page, but never while something is being typed or a dialog is open.
//
// Keys that the page needs itself (takenKeys of the data) are the viewer's only with Shift.
//
// Listens on the window in the capture phase, so that Streamlit's own keys (R runs the script
// again, C
// clears its cache) do not fire for the viewer's keys.

import { dialogIsOpen, isPlain, TYPING } from "../../../web/components/key_guards.js";

/** @import { Viewer } from "../viewer.js" */

const ANYWHERE = {
  r: "reference",
  0: "allBoxes",
  i: "invert",
  f: "fit",
  o: "actualSize",
  w: "resetWindow",
  p: "nextPreset",
  h: "mirror",
  t: "turn",
  n: "standard",
  m: "ruler",
  c: "ratio",
  z: "knownLength",
  v: "nextView",
  s: "beside",
  y: "link",
  b: "blink",
  l: "labels",
  x: "fullScreen",
  q: "texts",
  j: "next",
  k: "previous",
  g: "report",
  "?": "help",
  "+": "zoomIn",
  "=": "zoomIn",
  "-": "zoomOut",
};
/** Keys that work only while the focus is on an image or a box, because the page needs them. */
const IN_PANE = {
  ArrowLeft: "left",
  ArrowRight: "right",
  ArrowUp: "up",
  ArrowDown: "down",
  Enter: "place",
};
const IN_PANE_SHIFT = {
  ArrowLeft: "narrower",
  ArrowRight: "wider",
  ArrowUp: "brighter",
  ArrowDown: "darker",
};
/** The key of a command, undefined without one. */
export function keyOf(command) {
  return Object.keys(ANYWHERE).find((key) => ANYWHERE[key] === command);
}

const WHILE_BLINKING = { " ": "flip", ",": "slower", ".": "faster" };

const PRESET_LIST = ".presets"; // letters there are our keys, not a search among the presets

export class Keyboard {
  constructor(/** @type {Viewer} */ viewer, /** @type {Record<string, () => void>} */ commands) {
    this.viewer = viewer;
    this.commands = commands;
    const { signal } = viewer;
    window.addEventListener("keydown", (event) => this.#key(event), { capture: true, signal });
  }

  #key(event) {
    if (!isPlain(event) || !this.viewer.ownsKeys()) return;
    const act = this.#meaning(event);
    if (!act) return;
    event.preventDefault();
    event.stopPropagation();
    act();
  }

  #meaning(event) {
    const path = event.composedPath().filter((node) => node instanceof Element);
    const target = path[0];
    const ours = path.includes(this.viewer.root);
    if (!ours && dialogIsOpen(this.viewer.root)) return null;
    if (event.key === "Escape") return this.#escape();
    if (target?.closest(TYPING) && !target.matches(PRESET_LIST)) return null;
    const key = this.#viewerKey(event);
    if (key === null) return null;
    const command = this.#command(event, target, ours, key);
    if (command) return this.commands[command];
    if (/^[1-9]$/.test(key) && this.viewer.groups.hasKey(key)) {
      return () => this.viewer.groups.toggleByKey(key);
    }
    return null;
  }

  /** The current action of Escape, or null. */
  #escape() {
    const { full, help, measureBar, tools, views } = this.viewer;
    if (help.open) return () => help.toggle(false);
    if (views.blink.on) return () => views.toggleBlink();
    if (measureBar.asking) return () => measureBar.cancel();
    if (tools.isMeasuring) return () => tools.choose("window");
    return full.on ? () => full.leave() : null;
  }

  /** The key for the viewer; null if the page needs it. */
  #viewerKey({ key, code, shiftKey }) {
    const taken = this.viewer.data?.takenKeys ?? "";
    if (taken.includes(key) && key.length === 1) return null;
    if (!shiftKey) return key;
    const meant = /^Digit[1-9]$/.test(code) ? code.at(-1) : key.toLowerCase();
    return meant.length === 1 && taken.includes(meant) ? meant : key;
  }

  #command(event, target, ours, key) {
    const pressable = target?.closest("button, a[href], summary, [role='button'], [role='tab']");
    if (
      this.viewer.views.blink.on &&
      WHILE_BLINKING[event.key] &&
      !(event.key === " " && pressable)
    ) {
      return WHILE_BLINKING[event.key];
    }
    const moving = event.key.startsWith("Arrow") && target?.closest(".handle");
    if (ours && !pressable && !moving && target?.closest(".pane")) {
      const command = (event.shiftKey ? IN_PANE_SHIFT : IN_PANE)[event.key];
      if (command) return command;
    }
    if (event.repeat && !["+", "=", "-"].includes(event.key)) return null;
    if (event.shiftKey && /^[a-z]$/i.test(key) && key === event.key) return null;
    return Object.hasOwn(ANYWHERE, key) ? ANYWHERE[key] : null;
  }
}

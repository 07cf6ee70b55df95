// Keys of the pad: anywhere on the page, but never while something is being typed or a dialog of the
// page is open.
//
// Listens on the document in the capture phase. The viewer, which listens earlier, leaves these
// keys to
// the pad (its data name them) and uses them with Shift instead.

import { dialogIsOpen, isPlain, TYPING } from "../../../web/components/key_guards.js";

/** @import { Pad } from "./pad.js" */

const PICTURE = ".rx"; // the viewer

export class Keys {
  constructor(/** @type {Pad} */ pad) {
    this.pad = pad;
    const options = { capture: true, signal: pad.abort.signal };
    document.addEventListener("keydown", (event) => this.#key(event), options);
  }

  #key(event) {
    if (!isPlain(event)) return;
    const path = event.composedPath().filter((node) => node instanceof Element);
    const [target] = path;
    if (!this.pad.root.isConnected || this.#dialogIsOpen(path)) return;
    if (target?.closest("textarea.comment") && event.key === "Escape") {
      target.blur();
      event.preventDefault();
      return;
    }
    if (target?.closest(TYPING) && !target.matches("input[type='radio']")) return;
    const act = this.#meaning(event, path);
    if (!act) return;
    event.preventDefault();
    event.stopPropagation();
    act();
  }

  #dialogIsOpen(path) {
    const { sheets } = this.pad;
    if (sheets.open && path.includes(sheets.node)) return true;
    return dialogIsOpen(sheets.node);
  }

  #meaning(event, path) {
    const { pad } = this;
    const { scoring, selection } = pad;
    const { key } = event;
    if (/^[1-5]$/.test(key)) return event.repeat ? () => {} : () => scoring.scoreHere(Number(key));
    if (event.shiftKey && key !== "?") return null;
    const inPicture = path.some((node) => node.matches(PICTURE));
    if (key.startsWith("Arrow")) {
      const inText = path.some((node) => node.matches(".text"));
      if (inPicture || (inText && /Up|Down/.test(key))) return null;
      const radio = path[0]?.closest("[role='radio']");
      if (key === "ArrowDown") return () => selection.moveRow(1);
      if (key === "ArrowUp") return () => selection.moveRow(-1);
      const step = key === "ArrowRight" ? 1 : -1;
      return radio ? () => beside(radio, step) : () => selection.moveAnswer(step);
    }
    if (key === "PageDown" || key === "PageUp") {
      const step = key === "PageDown" ? 1 : -1;
      return selection.view?.scroll(step) ? () => {} : null; // at the end of the text the page scrolls
    }
    if (key === "Escape" && pad.sheets.open) return () => pad.sheets.close();
    if (event.repeat) return null;
    const [next, previous] = [() => pad.turn("next"), () => pad.turn("previous")];
    const acts = {
      j: next,
      k: previous,
      u: () => scoring.undo(),
      n: next,
      p: previous,
      s: () => pad.sheets.skip(),
      g: () => scoring.report(),
      e: () => selection.row?.comment(true),
      a: () => pad.sheets.failures(selection.view),
      "?": () => pad.sheets.help(),
    };
    if (!inPicture)
      Object.assign(acts, {
        Delete: () => scoring.scoreHere(null),
        Backspace: () => scoring.scoreHere(null),
      });
    return Object.hasOwn(acts, key) ? acts[key] : null;
  }
}

function beside(radio, step) {
  const all = [...radio.parentElement.querySelectorAll("[role='radio']")];
  all[all.indexOf(radio) + step]?.focus();
}

// Full screen: the whole page without its navigation, so that notice, case, question and answers
// can
// still be used; the column next to the image is shown or hidden.
//
// style.css uses the two marks on <html>. In a browser without full screen (phones) the page fills
// its
// window instead.

import { tr } from "../../../web/components/words.js";
import { remember, remembered } from "../storage.js";

/** @import { Viewer } from "../viewer.js" */

const FULL = "rxFull";
const TEXTS = "rxTexts";

export class FullScreen {
  constructor(/** @type {Viewer} */ viewer) {
    this.viewer = viewer;
    const changed = () => {
      if (!document.fullscreenElement && this.on && this.entered) this.leave();
    };
    document.addEventListener("fullscreenchange", changed, { signal: viewer.signal });
  }

  get on() {
    return FULL in document.documentElement.dataset;
  }

  /** Whether there is a column to hide: not the score pad, since its keys must continue to work. */
  get hasTexts() {
    return !this.viewer.data.blinded && this.viewer.layout.columns.texts !== null;
  }

  /** Whether the column next to the image is shown. */
  get texts() {
    return !(TEXTS in document.documentElement.dataset);
  }

  toggle() {
    if (this.on) this.leave();
    else this.#enter();
  }

  #enter() {
    const root = document.documentElement;
    root.dataset[FULL] = "";
    this.entered = false;
    this.#show(!this.hasTexts || remembered("full-screen-texts") !== false);
    const entered = root.requestFullscreen?.();
    entered?.then(
      () => (this.entered = true),
      () => undefined, // refused: the window is filled
    );
    this.viewer.announce(tr("Full screen. Escape ends it"));
  }

  leave() {
    if (!this.on) return;
    delete document.documentElement.dataset[FULL];
    if (document.fullscreenElement) document.exitFullscreen();
    this.#show(true);
  }

  /** Show or hide the column next to the image. */
  toggleTexts() {
    if (!this.on || !this.hasTexts) return;
    this.#show(!this.texts);
    remember("full-screen-texts", this.texts);
    this.viewer.announce(
      this.texts ? tr("Question and answers shown") : tr("Question and answers hidden"),
    );
  }

  #show(shown) {
    if (shown) delete document.documentElement.dataset[TEXTS];
    else document.documentElement.dataset[TEXTS] = "hidden";
    this.viewer.layout.refresh();
    this.viewer.changed();
  }
}

// The appearance of a meeting on this screen: light or dark, text size, image width. It is stored
// in
// this browser: a projector needs other settings than a desk.

import { Separator } from "../../../viewer/assets/layout/separator.js";
import { remember, remembered } from "../../../viewer/assets/storage.js";
import { tr } from "../../../web/components/words.js";

/** @import { Film } from "./film/film.js" */

const LEAST = [320, 300]; // minimum pixels of image and text
const USUAL_SHARE = 0.56; // while the shape of the image is unknown
const NARROWEST = 0.42; // of the image unless chosen otherwise
const WIDEST = 0.66;
const ANSWER_EM = 14; // width of an answer next to another, in text sizes (texts.css)
const AROUND_EM = 3; // the edges of the text
const GUTTERS_PX = 44; // next to the image, for the side letters
const TEXT = { key: "present-text", least: 0.7, most: 1.8, step: 0.1 };
const LOOK = "present-look";

export class Appearance {
  constructor(
    /** @type {HTMLElement} */ root,
    /** @type {HTMLElement} */ main,
    /** @type {Film} */ film,
  ) {
    this.root = root;
    this.main = main;
    this.film = film;
    this.share = USUAL_SHARE; // of the image in the width
    this.answers = 0; // number of answers side by side
    this.between = new Separator({
      name: tr("Width of the film"),
      key: "present-film",
      least: LEAST,
      frame: () => {
        const { left, width } = main.getBoundingClientRect();
        return { start: left, size: width };
      },
      changed: () => this.columns(),
    });
    window.addEventListener("resize", () => this.columns(), { signal: film.abort.signal });
    main.insertBefore(this.between.node, film.node.nextSibling);
  }

  begin() {
    this.root.dataset.look = remembered(LOOK) ?? this.#pagesLook;
    this.text(0);
    this.columns();
  }

  get #pagesLook() {
    const page = getComputedStyle(/** @type {Element} */ (this.root.parentElement));
    const colour = page.getPropertyValue("--st-background-color").trim();
    return /^#[c-f]/i.test(colour) ? "light" : "dark";
  }

  turnLook() {
    const look = this.root.dataset.look === "light" ? "dark" : "light";
    remember(LOOK, look);
    this.root.dataset.look = look;
  }

  /** Make the text larger (1) or smaller (-1). */
  text(/** @type {number} */ by) {
    const { key, least, most, step } = TEXT;
    const now = Number(remembered(key)) || 1;
    const size = Math.min(Math.max(now + by * step, least), most);
    if (by !== 0) remember(key, size);
    this.root.style.setProperty("--rx-text", size.toFixed(2));
  }

  /** The image alone, below the question; or with the text next to it. */
  alone(on = !this.root.hasAttribute("data-alone")) {
    if (this.root.hasAttribute("data-alone") === on) return;
    this.root.toggleAttribute("data-alone", on);
    this.columns();
  }

  /** Set the number of answers side by side: by default the image leaves them room. */
  answersShown(/** @type {number} */ count) {
    if (count === this.answers) return;
    this.answers = count;
    if (this.between.share === null) this.columns();
  }

  /** The shape of the image is known: by default it gets the width that its full height needs. */
  filmKnown() {
    if (this.between.share === null && Math.abs(this.#fitting - this.share) > 0.01) this.columns();
  }

  get #fitting() {
    const panes = this.film.panes.filter((pane) => pane.raster);
    const { width, height } = this.main.getBoundingClientRect();
    if (panes.length === 0 || width === 0) return this.share ?? USUAL_SHARE;
    const across = panes.reduce((sum, pane) => sum + pane.shownRatio * height + GUTTERS_PX, 0);
    const em = parseFloat(getComputedStyle(this.root).fontSize);
    const text = (this.answers * ANSWER_EM + AROUND_EM) * em;
    return Math.min(Math.max(Math.min(across, width - text) / width, NARROWEST), WIDEST);
  }

  columns() {
    this.share = this.between.share ?? this.#fitting;
    this.root.style.setProperty("--rx-share", String(this.share));
    this.between.refresh(true, this.share);
    this.film.viewer?.layout.refresh();
    this.film.viewer?.changed();
  }
}

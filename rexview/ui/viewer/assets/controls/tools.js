// The action of a drag on the image: window, move, ruler, cardiothoracic ratio.

import { tr } from "../../../web/components/words.js";
import { compose } from "../image/geometry.js";
import { standardOrientation } from "../image/orientation.js";

/** @import { Viewer } from "../viewer.js" */

const MEASURING = ["ruler", "ratio"];
const HINTS = {
  window: tr("Brightness and contrast"),
  pan: tr("Move"),
  ruler: tr("Ruler: drag along what you measure, or press its ends"),
  ratio: tr("Drag across the heart, then across the thorax, or press the ends"),
};

export class Tools {
  constructor(/** @type {Viewer} */ viewer) {
    this.viewer = viewer;
    this.begin();
  }

  /** Start a case with the reader's preferred tool; for fingers it is moving. */
  begin() {
    const coarse = matchMedia("(pointer: coarse)").matches;
    this.chosen = this.viewer.state.habits.tool ?? (coarse ? "pan" : "window");
  }

  get isMeasuring() {
    return MEASURING.includes(this.chosen);
  }

  /** The next step for the reader while measuring. */
  get hint() {
    if (!this.isMeasuring) return "";
    const measures = this.viewer.activePane?.measures;
    if (measures?.begun) return tr("Now press where it ends. Esc ends.");
    const kind = measures?.nextKind(this.chosen);
    return (
      {
        ruler: tr("Drag along what you measure, or press its ends. Esc ends."),
        heart: tr("Drag across the heart at its widest."),
        thorax: tr("Drag across the thorax, inside the ribs."),
      }[kind] ?? tr("Drag an end to correct it. Esc ends.")
    );
  }

  isUsable(tool) {
    return tool !== "ratio" || this.viewer.activePane?.view?.word !== "LATERAL";
  }

  choose(tool) {
    const { viewer } = this;
    if (!this.isUsable(tool)) {
      viewer.announce(tr("The ratio is measured on a frontal view"));
      return;
    }
    this.#dropBegun();
    this.chosen = tool;
    if (!this.isMeasuring) viewer.state.habits.tool = tool;
    viewer.announce(HINTS[tool]);
    viewer.changed();
  }

  /** Choose a measuring tool, or leave it. */
  toggle(tool) {
    this.#dropBegun();
    if (this.chosen === tool) this.begin();
    else this.choose(tool);
    this.viewer.changed();
  }

  /** Add the line that is needed next, so that the arrow keys can move it. */
  place() {
    const pane = this.viewer.activePane;
    const kind = pane?.raster && this.isMeasuring && pane.measures.nextKind(this.chosen);
    if (kind) pane.measures.placeDefault(kind, pane.acrossAxis);
  }

  #dropBegun() {
    for (const pane of this.viewer.panes) pane.measures.dropBegun();
  }

  clear() {
    for (const pane of this.viewer.panes) if (pane.raster) pane.measures.clear();
  }

  /** Turn or mirror the view. */
  reorient(change) {
    const pane = this.viewer.activePane;
    if (pane?.raster) pane.orient(compose(pane.look.pose.orientation, change));
  }

  standard() {
    const pane = this.viewer.activePane;
    const orientation = pane?.raster ? standardOrientation(pane.stored) : null;
    if (orientation !== null) pane.orient(orientation);
  }
}

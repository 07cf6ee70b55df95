// Brightness and contrast: drags, presets, numbers, invert; of one view or of all linked views.

import { tr } from "../../../web/components/words.js";
import { adjusted, presetWindow } from "../image/windowing.js";

/** @import { Pane } from "../pane/pane.js" */
/** @import { Header, Look } from "../types.d.ts" */
/** @import { Viewer } from "../viewer.js" */

const DRAG_PX = 380; // down: by one width; across: by a factor of e squared
/** @type {Record<string, string>} */
const OURS = { Auto: tr("Auto"), "Full range": tr("Full range"), "As stored": tr("As stored") };

/** The name of a preset on the screen: those of the file have their own names. */
export function presetWords(/** @type {string} */ name) {
  return Object.hasOwn(OURS, name) ? OURS[name] : name;
}

export class WindowSettings {
  constructor(/** @type {Viewer} */ viewer) {
    this.viewer = viewer;
  }

  /** Change the window as a drag by (dx, dy) CSS pixels does: right is softer, down is darker. */
  drag(/** @type {Pane} */ pane, dx, dy) {
    if (!pane?.raster || !pane.look.window) return;
    this.viewer.state.adjustWindow(pane.view.id, Math.exp((2 * dx) / DRAG_PX), dy / DRAG_PX);
    this.viewer.changed();
  }

  /**
   * Set the numbers of the active view.
   *
   * @param {{centre?: number, width?: number}} numbers
   */
  set({ centre, width }) {
    const { look } = this.viewer.activePane;
    if (!look.window || (width !== undefined && width <= 0)) return;
    const window = adjusted(look.window, 1, 0);
    look.window = { ...window, centre: centre ?? window.centre, width: width ?? window.width };
    this.viewer.changed();
  }

  /** Apply the preset of that name to every linked view that has it. */
  choose(index) {
    const name = this.viewer.activePane?.raster?.header.presets[index]?.name;
    if (name === undefined) return;
    this.#each((look, header) => {
      const place = header.presets.findIndex((preset) => preset.name === name);
      if (place >= 0) look.window = presetWindow(header, place);
    });
    this.viewer.announce(tr("Window: {name}", { name: presetWords(name) }));
  }

  next() {
    const pane = this.viewer.activePane;
    const presets = pane?.raster?.header.presets ?? [];
    if (presets.length === 0) return;
    const place = presets.findIndex((preset) => preset.name === pane.look.window.name);
    this.choose((place + 1) % presets.length);
  }

  reset() {
    this.#each((look, header) => {
      look.window = presetWindow(header, header.initial);
      look.inverted = false;
    });
    this.viewer.announce(tr("Window reset"));
  }

  invert() {
    const pane = this.viewer.activePane;
    if (!pane?.raster) return;
    this.viewer.state.setInverted(pane.view.id, !pane.look.inverted);
    this.viewer.announce(pane.look.inverted ? tr("Inverted") : tr("Not inverted"));
    this.viewer.changed();
  }

  #each(/** @type {(look: Look, header: Header) => void} */ change) {
    const { viewer } = this;
    const ids = viewer.state.together(viewer.state.active);
    for (const pane of viewer.panes) {
      if (pane.raster && ids.includes(pane.view.id)) change(pane.look, pane.raster.header);
    }
    viewer.changed();
  }
}

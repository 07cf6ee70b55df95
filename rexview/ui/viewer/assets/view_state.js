// The reader's choices: for each view its look, for the whole viewer what is shown.
//
// Looks belong to one case. Habits (which models' boxes, labels, linking) outlive it: a reader who
// hid
// a model's boxes does not want them back on the next case.

import { FITTED } from "./image/geometry.js";
import { adjusted, presetWindow } from "./image/windowing.js";

/** @import { Header, Look } from "./types.d.ts" */

/** @type {{groups: Map<string, boolean>, linked: boolean, labels: boolean, tool: string, blinkSeconds: number}} */
const habits = { groups: new Map(), linked: true, labels: false, tool: null, blinkSeconds: 0.8 };

export class ViewState {
  constructor() {
    this.habits = habits;
    this.reset();
  }

  /** Reset the looks of the last case. */
  reset() {
    /** @type {Map<string, Look>} */
    this.looks = new Map();
    /** @type {string[]} ids of views */
    this.shown = [];
    /** @type {string} */
    this.active = null;
  }

  look(viewId) {
    if (!this.looks.has(viewId)) {
      this.looks.set(viewId, { pose: { ...FITTED }, window: null, inverted: false, wanted: null });
    }
    return this.looks.get(viewId);
  }

  /** Set a view's window once its header is known. */
  initWindow(/** @type {string} */ viewId, /** @type {Header} */ header) {
    const look = this.look(viewId);
    const { wanted } = look;
    if (look.window === null && header.presets.length > 0) {
      const named = header.presets.findIndex((preset) => preset.name === wanted?.preset);
      look.window = presetWindow(header, named >= 0 ? named : header.initial);
      if (wanted?.width) {
        look.window = {
          ...adjusted(look.window, 1, 0),
          centre: wanted.centre,
          width: wanted.width,
        };
      }
    }
    look.wanted = null;
    return look;
  }

  groupShown(group) {
    return habits.groups.get(group.id) ?? group.shown;
  }

  setGroup(group, shown) {
    habits.groups.set(group.id, shown);
  }

  /** Views whose zoom, position and window move together with that of `viewId`. */
  together(viewId) {
    return habits.linked ? this.shown : [viewId];
  }

  setPose(viewId, pose) {
    for (const id of this.together(viewId)) {
      const look = this.look(id);
      const orientation = id === viewId ? pose.orientation : look.pose.orientation;
      look.pose = { ...pose, orientation };
    }
  }

  /** Change windows by shares of their own width, so that images of any depth change alike. */
  adjustWindow(viewId, widthFactor, centreShift) {
    for (const id of this.together(viewId)) {
      const look = this.look(id);
      if (look.window) look.window = adjusted(look.window, widthFactor, centreShift);
    }
  }

  setInverted(viewId, inverted) {
    for (const id of this.together(viewId)) this.look(id).inverted = inverted;
  }
}

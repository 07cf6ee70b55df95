// The viewer's keys for the next and previous case; replaces the app's keys, which follow a filter.

import { pixelStore } from "./pixels.js";

/** @import { Direction, ViewerData } from "../../../ui/viewer/assets/types.d.ts" */
/** @import { Viewer } from "../../../ui/viewer/assets/viewer.js" */

const LAST = { next: "This is the last case", previous: "This is the first case" };

export class CaseTurning {
  constructor(/** @type {Viewer} */ viewer) {
    this.viewer = viewer;
  }

  /** Use the page's data unchanged. */
  take(/** @type {ViewerData} */ data) {
    return Boolean(data);
  }

  came() {}

  go(/** @type {Direction} */ direction) {
    const wanted = this.viewer.data.neighbours[direction];
    if (wanted === null) this.viewer.announce(LAST[direction]);
    else this.viewer.tell("navigate", wanted);
  }

  /** Unpack the other views of the case. */
  fetchAhead() {
    return pixelStore.prefetch(this.viewer.views.list.filter(({ url }) => url !== null));
  }
}

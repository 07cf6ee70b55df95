// Run background work in idle moments; replaces the viewer's worker, which is a separate file.

import { burnedIn } from "../../../ui/viewer/assets/image/burned_in.js";
import { whenIdle } from "../../../ui/web/components/dom.js";

/** @import { BurnedIn, Raster } from "../../../ui/viewer/assets/types.d.ts" */

class Background {
  constructor() {
    this.known = new WeakMap(); // raster -> what is burned into it, null while that is to come
  }

  /**
   * The text burned into a picture; null while it is computed, then `then` is called.
   *
   * @param {Raster} raster
   * @returns {BurnedIn | null}
   */
  foundIn(raster, then) {
    if (this.known.has(raster)) return this.known.get(raster);
    this.known.set(raster, null);
    whenIdle(() => {
      this.known.set(raster, burnedIn(raster));
      then();
    });
    return null;
  }
}

/** One for the page. */
export const inBackground = new Background();

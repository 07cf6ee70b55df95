// The action of a drag on the image, by tool, button and pointer.

/** @import { Drag } from "../types.d.ts" */
/** @import { Pane } from "./pane.js" */

const NOTHING = () => undefined;

export class Drags {
  constructor(/** @type {Pane} */ pane) {
    this.pane = pane;
  }

  /** Whether a single finger scrolls the page: moving an image that is not zoomed in. */
  scrollsPage() {
    const { pane } = this;
    return pane.viewer.tool === "pan" && pane.raster !== null && !pane.isZoomed;
  }

  /** The action of a drag that starts at (x, y). */
  begin(event, x, y) {
    const { pane } = this;
    if (!pane.raster) return null;
    const panning = { move: (_x, _y, dx, dy) => pane.pan(dx, dy), end: NOTHING };
    const handle = pane.measures.handleOf(event.target);
    if (handle) return this.#end(handle, false);
    const { tool, windows } = pane.viewer;
    if ((event.pointerType === "mouse" && event.button !== 0) || event.shiftKey) return panning;
    if (tool === "pan") return event.pointerType === "touch" && this.scrollsPage() ? null : panning;
    if (tool === "window") {
      return { move: (_x, _y, dx, dy) => windows.drag(pane, dx, dy), end: NOTHING };
    }
    const kind = pane.measures.nextKind(tool);
    return kind ? this.#line(kind, x, y) : panning;
  }

  /** @returns {Drag} */
  #line(kind, x, y) {
    const { pane } = this;
    let drag = null;
    return {
      move: (toX, toY) => {
        const start = pane.current.toImage(x, y);
        drag ??= this.#end(pane.measures.begin(kind, start, pane.acrossAxis), true);
        drag.move(toX, toY);
      },
      end: (cancelled, pressed) => {
        const at = pane.current.toImage(x, y);
        if (pressed) pane.measures.press(kind, at, pane.acrossAxis, pane.current);
        else drag?.end(cancelled);
      },
    };
  }

  /** @returns {Drag} */
  #end({ segment, end }, fresh) {
    const { pane } = this;
    return {
      move: (x, y) => pane.measures.move(segment, end, pane.current.toImage(x, y)),
      end: (cancelled) => {
        if (fresh && cancelled) pane.measures.remove(segment);
        else if (fresh) pane.measures.finish(segment, pane.current);
      },
    };
  }
}

// Draws one image into one canvas: picks the level, applies the window, places it.

import { pixelLevels } from "./windowing.js";

/** @import { Raster, Window } from "../types.d.ts" */
/** @import { Projection } from "./geometry.js" */

const WHOLE_LEVEL_PIXELS = 1 << 20; // up to here a level is windowed as a whole and then only moved
const MARGIN = 0.15; // beyond it: the visible part, and this much more on each side

/** The coarsest level that still has a pixel for each device pixel. */
export function levelFor(levels, devicePixelsPerImagePixel) {
  let best = levels[0];
  for (const level of levels) {
    if (level.factor * devicePixelsPerImagePixel <= 1) best = level;
  }
  return best;
}

export class Painter {
  constructor(canvas) {
    this.canvas = canvas;
    this.context = canvas.getContext("2d", { alpha: false });
    this.scratch = document.createElement("canvas");
    this.scratchContext = this.scratch.getContext("2d", { alpha: false });
    this.drawn = null; // the content of the scratch canvas
  }

  /** Forget the pixels of the last image. */
  clear() {
    this.drawn = null;
    this.context.setTransform(1, 0, 0, 1, 0, 0);
    this.context.fillStyle = "#000";
    this.context.fillRect(0, 0, this.canvas.width, this.canvas.height);
  }

  resize(port, ratio) {
    const width = Math.max(1, Math.round(port.width * ratio));
    const height = Math.max(1, Math.round(port.height * ratio));
    if (this.canvas.width !== width) this.canvas.width = width;
    if (this.canvas.height !== height) this.canvas.height = height;
  }

  /**
   * @param {Raster} raster
   * @param {Projection} projection
   * @param {Window | null} window null for colour
   * @param {boolean} inverted
   * @param {number} ratio device pixels in a CSS pixel
   */
  paint(raster, projection, window, inverted, ratio) {
    const level = levelFor(raster.levels, projection.scale * ratio);
    const region = this.#region(level, projection);
    if (!this.#holds(raster, level, region, window, inverted)) {
      this.#fill(raster, level, region, window, inverted);
    }
    this.#place(projection, ratio);
  }

  #region(level, projection) {
    if (level.width * level.height <= WHOLE_LEVEL_PIXELS) return [0, 0, level.width, level.height];
    const [left, top, right, bottom] = projection.visible().map((value) => value / level.factor);
    return [
      Math.max(0, Math.floor(left) - 1),
      Math.max(0, Math.floor(top) - 1),
      Math.min(level.width, Math.ceil(right) + 1),
      Math.min(level.height, Math.ceil(bottom) + 1),
    ];
  }

  #holds(raster, level, region, window, inverted) {
    const drawn = this.drawn;
    return (
      drawn !== null &&
      drawn.raster === raster &&
      drawn.level === level &&
      drawn.window === window &&
      drawn.inverted === inverted &&
      drawn.region[0] <= region[0] &&
      drawn.region[1] <= region[1] &&
      drawn.region[2] >= region[2] &&
      drawn.region[3] >= region[3]
    );
  }

  #fill(raster, level, region, window, inverted) {
    // While the window is dragged only the visible part is computed; a moved image gets a margin.
    const moved = this.drawn?.raster === raster && this.drawn.window === window;
    const [x0, y0, x1, y1] = moved ? widened(region, level) : region;
    const width = Math.max(1, x1 - x0);
    const height = Math.max(1, y1 - y0);
    if (!this.image || this.image.width !== width || this.image.height !== height) {
      this.image = new ImageData(width, height);
      this.pixels = new Uint32Array(this.image.data.buffer);
      this.scratch.width = width;
      this.scratch.height = height;
    }
    if (raster.colour) copyColour(level, x0, y0, width, height, this.pixels, inverted);
    else {
      const key = this.table;
      if (!key || key.raster !== raster || key.window !== window || key.inverted !== inverted) {
        const levels = pixelLevels(raster.header, window, raster.codeCount, inverted);
        this.table = { raster, window, inverted, levels };
      }
      copyGrey(level, x0, y0, width, height, this.pixels, this.table.levels);
    }
    this.scratchContext.putImageData(this.image, 0, 0);
    this.drawn = { raster, level, window, inverted, region: [x0, y0, x0 + width, y0 + height] };
  }

  #place(projection, ratio) {
    const { context, canvas } = this;
    const { level, region } = this.drawn;
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.fillStyle = "#000";
    context.fillRect(0, 0, canvas.width, canvas.height);
    const [a, b, c, d, e, f] = projection.matrix.map((value) => value * ratio);
    // On whole device pixels, so that an image at actual size is not smoothed.
    context.setTransform(a, b, c, d, Math.round(e), Math.round(f));
    context.imageSmoothingEnabled = true;
    context.imageSmoothingQuality = projection.scale * ratio > 1 ? "high" : "low";
    const { width, height } = projection.image;
    // The last column and row of a level may cover half a pixel of the finer one: cut it off.
    const right = Math.min(region[2], width / level.factor);
    const bottom = Math.min(region[3], height / level.factor);
    const [w, h] = [right - region[0], bottom - region[1]];
    const [x, y] = [region[0] * level.factor, region[1] * level.factor];
    context.drawImage(this.scratch, 0, 0, w, h, x, y, w * level.factor, h * level.factor);
  }
}

function widened([x0, y0, x1, y1], level) {
  const [dx, dy] = [Math.ceil((x1 - x0) * MARGIN), Math.ceil((y1 - y0) * MARGIN)];
  return [
    Math.max(0, x0 - dx),
    Math.max(0, y0 - dy),
    Math.min(level.width, x1 + dx),
    Math.min(level.height, y1 + dy),
  ];
}

function copyGrey(level, x0, y0, width, height, pixels, table) {
  const { codes } = level;
  let target = 0;
  for (let y = 0; y < height; y += 1) {
    let source = (y0 + y) * level.width + x0;
    for (const end = target + width; target < end; target += 1, source += 1) {
      pixels[target] = table[codes[source]];
    }
  }
}

function copyColour(level, x0, y0, width, height, pixels, inverted) {
  const { codes } = level;
  const flip = inverted ? 0x00ffffff : 0;
  let target = 0;
  for (let y = 0; y < height; y += 1) {
    let source = ((y0 + y) * level.width + x0) * 3;
    for (const end = target + width; target < end; target += 1, source += 3) {
      const pixel = codes[source] | (codes[source + 1] << 8) | (codes[source + 2] << 16);
      pixels[target] = 0xff000000 | (pixel ^ flip);
    }
  }
}

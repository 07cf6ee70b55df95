// Pixels of images from the file itself; replaces the viewer's own store, which asks the server.

import { PixelsUnavailable } from "../../../ui/viewer/assets/image/payload.js";
import { rasterFrom } from "./unpack.js";

/** @import { Raster } from "../../../ui/viewer/assets/types.d.ts" */

const LIMIT_BYTES = 128 * 1024 * 1024;
const DAMAGED = "This part of the file is damaged.";

class FilePixels {
  constructor() {
    /** @type {Map<string, Raster>} */
    this.rasters = new Map(); // the least recently used comes first
    /** @type {Map<string, Promise<Raster>>} */
    this.pending = new Map();
    this.bytes = 0;
  }

  /** The raster if it is already unpacked, otherwise undefined. */
  loaded(/** @type {string} */ key) {
    const raster = this.rasters.get(key);
    if (raster) {
      this.rasters.delete(key);
      this.rasters.set(key, raster);
    }
    return raster;
  }

  /** The raster, unpacked if needed. `key` is the id of its element. */
  load(/** @type {string} */ key) {
    const held = this.loaded(key);
    if (held) return Promise.resolve(held);
    if (!this.pending.has(key)) {
      const work = this.#unpack(key).finally(() => this.pending.delete(key));
      this.pending.set(key, work);
    }
    return this.pending.get(key);
  }

  async prefetch(/** @type {{key: string}[]} */ images) {
    for (const { key } of images.slice(0, 3)) await this.load(key).catch(() => undefined);
  }

  async #unpack(key) {
    let raster;
    try {
      const part = document.getElementById(key);
      raster = await rasterFrom(JSON.parse(part.dataset.header), part.textContent);
    } catch {
      throw new PixelsUnavailable(DAMAGED);
    }
    this.rasters.set(key, raster);
    this.bytes += raster.bytes;
    for (const [other, held] of this.rasters) {
      if (this.bytes <= LIMIT_BYTES || other === key) break;
      this.rasters.delete(other);
      this.bytes -= held.bytes;
    }
    return raster;
  }
}

/** The page's only store. */
export const pixelStore = new FilePixels();

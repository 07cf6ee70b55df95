// Pixels of images: fetched once, decoded once, kept while they fit.
//
// The store outlives a mount of the viewer: going to the next case and back costs nothing. The key
// of
// an entry stays the same when the link to the same pixels is renewed.

import { tr } from "../../../web/components/words.js";
import { inBackground } from "./background.js";
import { INCOMPLETE, PixelsUnavailable, rasterOf } from "./payload.js";

/** @import { PixelLink, Raster } from "../types.d.ts" */

/** @type {number | undefined} gigabytes, rounded; some browsers do not report it */
const memory = /** @type {any} */ (navigator).deviceMemory;
const LIMIT_BYTES = (memory >= 8 ? 256 : 96) * 1024 * 1024;
const AT_ONCE = 2; // requests in the background
const REASON_LENGTH = 300;

export class PixelStore {
  constructor(limit) {
    this.limit = limit;
    this.bytes = 0;
    /** @type {Map<string, Raster>} */
    this.rasters = new Map(); // the least recently used is first
    /** @type {Map<string, Promise<Raster>>} */
    this.pending = new Map();
    /** @type {Map<string, AbortController>} */
    this.controls = new Map(); // of the requests that are pending
    /** @type {PixelLink[]} */
    this.wanted = []; // needed soon, likeliest first
    this.largest = 0; // bytes of one
    this.failed = new Set(); // not requested again in the background
  }

  /** The raster if it is loaded, else undefined. */
  loaded(key) {
    const raster = this.rasters.get(key);
    if (raster) {
      this.rasters.delete(key);
      this.rasters.set(key, raster);
    }
    return raster;
  }

  /** The raster, fetched if necessary. Concurrent callers share one request. */
  async load(key, url, priority = "high") {
    const held = this.loaded(key);
    if (held) return held;
    if (!this.pending.has(key)) {
      this.failed.delete(key);
      const control = new AbortController();
      const { signal } = control;
      const request = this.#fetch(key, url, { priority, signal });
      this.pending.set(key, request);
      this.controls.set(key, control);
      const ended = () => !signal.aborted && this.controls.delete(key) && this.pending.delete(key);
      request.then(ended, () => ended() && this.failed.add(key));
    }
    return this.pending.get(key);
  }

  /**
   * Prefetch what is likely to be needed next, likeliest first and as far as it fits. Failed images
   * are
   * retried only when needed. All other pending requests are cancelled.
   */
  async prefetch(/** @type {PixelLink[]} */ images) {
    this.wanted = images;
    const keys = new Set(images.map(({ key }) => key));
    for (const [key, control] of this.controls) {
      if (keys.has(key)) continue;
      control.abort();
      this.controls.delete(key);
      this.pending.delete(key);
    }
    await Promise.all(Array.from({ length: AT_ONCE }, () => this.#fetchWanted(images)));
  }

  async #fetchWanted(images) {
    let bytes = 0;
    for (const { key, url } of images) {
      if (this.wanted !== images) return;
      bytes += this.rasters.get(key)?.bytes ?? this.largest;
      if (bytes > this.limit) return; // it would displace likelier ones
      if (this.rasters.has(key) || this.pending.has(key) || this.failed.has(key)) continue;
      await this.load(key, url, "low").catch(() => undefined);
    }
  }

  async #fetch(key, url, options) {
    let response;
    try {
      response = await fetch(new URL(url, document.baseURI), options);
    } catch {
      throw new PixelsUnavailable(tr("The server cannot be reached."));
    }
    if (!response.ok) {
      const plain = (response.headers.get("content-type") ?? "").startsWith("text/plain");
      const reason = plain ? (await response.text()).slice(0, REASON_LENGTH) : "";
      const stale = [401, 403, 410].includes(response.status);
      throw new PixelsUnavailable(reason || tr("The image is not available."), stale);
    }
    let raster;
    try {
      const buffer = await response.arrayBuffer();
      // background images are not unpacked in the thread for keys and drawing
      const ahead = options.priority === "low";
      raster = ahead ? await inBackground.rasterOf(buffer) : rasterOf(buffer);
    } catch (error) {
      if (error instanceof PixelsUnavailable) throw error;
      throw new PixelsUnavailable(INCOMPLETE);
    }
    this.#keep(key, raster);
    return raster;
  }

  #keep(key, raster) {
    this.rasters.set(key, raster);
    this.bytes += raster.bytes;
    this.largest = Math.max(this.largest, raster.bytes);
    const wanted = this.wanted.map((one) => one.key).reverse();
    const others = [...this.rasters.keys()].filter((one) => !wanted.includes(one));
    for (const given of [...others, ...wanted]) {
      if (this.bytes <= this.limit) break;
      if (given === key || !this.rasters.has(given)) continue;
      this.bytes -= this.rasters.get(given).bytes;
      this.rasters.delete(given);
    }
  }
}

/** The one store of the page. */
export const pixelStore = new PixelStore(LIMIT_BYTES);

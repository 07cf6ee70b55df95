// Pixels of images: fetched once, decoded once, kept while they fit.
//
// The store outlives a mount of the viewer: going to the next case and back costs nothing. Entries
// are known by a key that stays the same when the link to the same pixels is renewed.

import { pyramid } from "./pyramid.js";

/** @import { PixelLink, Raster } from "../types.d.ts" */

const LIMIT_BYTES = 96 * 1024 * 1024;
const MAGIC = 0x31565852; // "RXV1", little endian
const PREAMBLE_BYTES = 8;
const REASON_LENGTH = 300;

/** Why pixels could not be had, in words for the reader. `stale` says that the link has ended. */
class PixelsUnavailable extends Error {
  constructor(reason, stale = false) {
    super(reason);
    this.stale = stale;
  }
}

/** Split one response into its header and its codes. */
export function unpack(buffer) {
  const view = new DataView(buffer);
  if (buffer.byteLength < PREAMBLE_BYTES || view.getUint32(0, true) !== MAGIC) {
    throw new PixelsUnavailable("The server sent something that is not an image.");
  }
  const headerBytes = view.getUint32(4, true);
  const text = new TextDecoder().decode(new Uint8Array(buffer, PREAMBLE_BYTES, headerBytes));
  const header = JSON.parse(text);
  const start = PREAMBLE_BYTES + headerBytes;
  const samples = header.width * header.height * (header.format === "rgb8" ? 3 : 1);
  const wide = header.format === "u16";
  if (buffer.byteLength - start < samples * (wide ? 2 : 1)) {
    throw new PixelsUnavailable("The image did not arrive completely.");
  }
  const codes = wide
    ? new Uint16Array(buffer, start, samples)
    : new Uint8Array(buffer, start, samples);
  return { header, codes };
}

export class PixelStore {
  constructor(limit) {
    this.limit = limit;
    this.bytes = 0;
    /** @type {Map<string, Raster>} */
    this.rasters = new Map(); // the least recently used comes first
    /** @type {Map<string, Promise<Raster>>} */
    this.pending = new Map();
    this.failed = new Set(); // not asked for again in the background
  }

  /** The raster if it is here already, else undefined. */
  loaded(key) {
    const raster = this.rasters.get(key);
    if (raster) {
      this.rasters.delete(key);
      this.rasters.set(key, raster);
    }
    return raster;
  }

  /** The raster, fetched if need be. Several askers share one request. */
  async load(key, url, priority = "high") {
    const held = this.loaded(key);
    if (held) return held;
    if (!this.pending.has(key)) {
      this.failed.delete(key);
      const request = this.#fetch(key, url, priority);
      this.pending.set(key, request);
      const ended = () => this.pending.delete(key);
      request.then(ended, () => ended() && this.failed.add(key));
    }
    return this.pending.get(key);
  }

  /** Fetch in the background what is likely to be wanted next; failures wait until it is. */
  async prefetch(/** @type {PixelLink[]} */ images) {
    for (const { key, url } of images) {
      if (this.rasters.has(key) || this.pending.has(key) || this.failed.has(key)) continue;
      await this.load(key, url, "low").catch(() => undefined);
    }
  }

  async #fetch(key, url, priority) {
    let response;
    try {
      response = await fetch(new URL(url, document.baseURI), { priority });
    } catch {
      throw new PixelsUnavailable("The server cannot be reached.");
    }
    if (!response.ok) {
      const plain = (response.headers.get("content-type") ?? "").startsWith("text/plain");
      const reason = plain ? (await response.text()).slice(0, REASON_LENGTH) : "";
      const stale = [401, 403, 410].includes(response.status);
      throw new PixelsUnavailable(reason || "The image cannot be had.", stale);
    }
    let parts;
    try {
      parts = unpack(await response.arrayBuffer());
    } catch (error) {
      if (error instanceof PixelsUnavailable) throw error;
      throw new PixelsUnavailable("The image did not arrive completely.");
    }
    const raster = pyramid(parts.header, parts.codes);
    this.#keep(key, raster);
    return raster;
  }

  #keep(key, raster) {
    this.rasters.set(key, raster);
    this.bytes += raster.bytes;
    for (const [oldest, held] of this.rasters) {
      if (this.bytes <= this.limit || oldest === key) break;
      this.rasters.delete(oldest);
      this.bytes -= held.bytes;
    }
  }
}

/** One store for the page. */
export const pixelStore = new PixelStore(LIMIT_BYTES);

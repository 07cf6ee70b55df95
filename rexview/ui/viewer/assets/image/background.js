// Background work on images, in a worker: keys and drawing are not delayed. Without a worker it is
// done here when the browser is idle.

import { whenIdle } from "../../../web/components/dom.js";
import { burnedIn, lookedAt } from "./burned_in.js";
import { INCOMPLETE, PixelsUnavailable, rasterOf } from "./payload.js";

/** @import { BurnedIn, Raster } from "../types.d.ts" */

const WORK = { rasterOf, burnedIn };
const QUIET_MS = 50; // longest wait for an idle moment without a worker

class Background {
  constructor() {
    /** @type {Worker | null | undefined} null if there is none, undefined before it was tried */
    this.worker = undefined;
    this.number = 0;
    this.asked = new Map(); // number -> callbacks of its promise
    this.known = new WeakMap(); // raster -> what is burned into it, null while unknown
  }

  /**
   * The raster of a response of the server; the buffer is transferred.
   *
   * @param {ArrayBuffer} buffer
   * @returns {Promise<Raster>}
   */
  rasterOf(buffer) {
    return this.#made("rasterOf", buffer, [buffer]);
  }

  /**
   * What is burned into an image; null while unknown, `then` is called later.
   *
   * @param {Raster} raster
   * @returns {BurnedIn | null}
   */
  foundIn(raster, then) {
    if (this.known.has(raster)) return this.known.get(raster);
    this.known.set(raster, null);
    this.#made("burnedIn", { ...raster, levels: [lookedAt(raster)] })
      .catch(() => burnedIn(raster))
      .then((found) => {
        this.known.set(raster, found);
        then();
      });
    return null;
  }

  #made(/** @type {keyof typeof WORK} */ name, given, transfer = []) {
    return new Promise((resolve, reject) => {
      const worker = this.#begun();
      if (worker === null) {
        whenIdle(() => {
          try {
            resolve(WORK[name](given));
          } catch (error) {
            reject(error);
          }
        }, QUIET_MS);
        return;
      }
      this.number += 1;
      this.asked.set(this.number, { resolve, reject });
      worker.postMessage({ number: this.number, name, given }, transfer);
    });
  }

  #begun() {
    if (this.worker !== undefined) return this.worker;
    try {
      this.worker = new Worker(new URL("./worker.js", import.meta.url), { type: "module" });
    } catch {
      this.worker = null;
      return null;
    }
    this.worker.onerror = () => this.#lost();
    this.worker.onmessage = ({ data: { number, made, reason } }) => {
      const { resolve, reject } = this.asked.get(number);
      this.asked.delete(number);
      if (reason === undefined) resolve(made);
      else reject(new PixelsUnavailable(reason));
    };
    return this.worker;
  }

  /** The worker is lost: requests fail, and their callers repeat them. */
  #lost() {
    this.worker?.terminate();
    this.worker = null;
    for (const { reject } of this.asked.values()) reject(new PixelsUnavailable(INCOMPLETE));
    this.asked.clear();
  }
}

/** The one instance of the page. */
export const inBackground = new Background();

// The worker of background.js: takes {number, name, given}, returns {number, made} or {number,
// reason}.

import { burnedIn } from "./burned_in.js";
import { INCOMPLETE, PixelsUnavailable, rasterOf } from "./payload.js";

const WORK = { rasterOf, burnedIn };

/** Buffers of the result, which are transferred to the page without a copy. */
function buffersOf(made) {
  const arrays = made.levels ? made.levels.map(({ codes }) => codes) : [made.cells];
  return arrays.map(({ buffer }) => buffer);
}

self.onmessage = ({ data: { number, name, given } }) => {
  try {
    const made = WORK[name](given);
    self.postMessage({ number, made }, { transfer: buffersOf(made) });
  } catch (error) {
    const reason = error instanceof PixelsUnavailable ? error.message : INCOMPLETE;
    self.postMessage({ number, reason });
  }
};

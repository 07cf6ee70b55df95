// From code to grey level: the same arithmetic as rexview/imaging/encode.py describes, in the same
// order of operations, checked against the same golden vectors (tests/data/windowing.json).

/** @import { Header, Window } from "../types.d.ts" */

const ROUND = 0.500000001;

function bytesOf(base64) {
  return Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
}

/** A function from modality value to the share of full white, 0 to 1. */
function shareOf({ kind, centre, width }) {
  if (kind === "sigmoid") return (value) => 1 / (1 + Math.exp((-4 * (value - centre)) / width));
  const mid = kind === "linear" ? centre - 0.5 : centre;
  const span = kind === "linear" ? width - 1 : width;
  const low = mid - span / 2;
  const high = mid + span / 2;
  return (value) => (value <= low ? 0 : value > high ? 1 : (value - mid) / span + 0.5);
}

/**
 * Grey level of every code.
 *
 * @param {Header} header
 * @param {Window} window
 * @param {number} length number of codes, from 0
 * @param {boolean} inverted the viewer inverts it once more
 * @returns {Uint8Array}
 */
export function greyLevels(header, window, length, inverted = false) {
  const grey = new Uint8Array(length);
  const { scale, offset } = header;
  if (window.kind === "lut") {
    const values = bytesOf(window.table.values);
    const last = values.length - 1;
    for (let code = 0; code < length; code += 1) {
      const place = Math.floor(code * scale + offset) - window.table.first;
      grey[code] = values[Math.min(Math.max(place, 0), last)];
    }
  } else {
    const presentation = header.presentation ? bytesOf(header.presentation) : null;
    const top = presentation ? presentation.length - 1 : 255;
    const share = shareOf(window);
    for (let code = 0; code < length; code += 1) {
      const level = Math.floor(share(code * scale + offset) * top + ROUND);
      grey[code] = presentation ? presentation[level] : level;
    }
  }
  if (Boolean(header.invert) !== inverted) {
    for (let code = 0; code < length; code += 1) grey[code] = 255 - grey[code];
  }
  return grey;
}

/** The same as opaque pixels, ready to be written into a canvas. */
export function pixelLevels(header, window, length, inverted) {
  const grey = greyLevels(header, window, length, inverted);
  const pixels = new Uint32Array(length);
  for (let code = 0; code < length; code += 1) pixels[code] = 0xff000000 | (grey[code] * 0x010101);
  return pixels;
}

/** A preset as the window that the reader starts from. */
export function presetWindow(/** @type {Header} */ header, index) {
  const preset = header.presets[index] ?? header.presets[0];
  return preset ? { ...preset } : null;
}

/** Change a window by shares of its width, as a drag does; never narrower than one value. */
export function adjusted(/** @type {Window} */ window, widthFactor, centreShift) {
  const kind = window.kind === "lut" ? "linear_exact" : window.kind;
  const narrowest = kind === "linear" ? 1 : 1e-6;
  return {
    name: null,
    kind,
    centre: window.centre + centreShift * window.width,
    width: Math.max(window.width * widthFactor, narrowest),
  };
}

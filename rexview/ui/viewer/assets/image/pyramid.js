// One image at full, half, quarter, ... size, in the codes of the payload.
//
// A fitted radiograph is drawn from the level just finer than the screen, so a window step touches
// about as many pixels as are visible.

/** @import { Codes, Header, Level, Raster } from "../types.d.ts" */

const SMALLEST_SIDE = 96;

/**
 * Means of two by two codes; an odd last row or column is taken twice.
 *
 * @param {Level} level
 * @returns {Level}
 */
function halved({ width, height, codes, factor }, channels) {
  const halfWidth = Math.ceil(width / 2);
  const halfHeight = Math.ceil(height / 2);
  const samples = halfWidth * halfHeight * channels;
  const half = codes instanceof Uint16Array ? new Uint16Array(samples) : new Uint8Array(samples);
  const stride = width * channels;
  const whole = (width >> 1) * channels; // samples of a row of the result that have two columns
  let target = 0;
  for (let y = 0; y < halfHeight; y += 1) {
    let upper = 2 * y * stride;
    let lower = 2 * y + 1 < height ? upper + stride : upper;
    for (let x = 0; x < whole; x += channels) {
      for (let channel = 0; channel < channels; channel += 1, upper += 1, lower += 1) {
        const left = codes[upper] + codes[lower];
        const right = codes[upper + channels] + codes[lower + channels];
        half[target] = (left + right + 2) >> 2;
        target += 1;
      }
      upper += channels;
      lower += channels;
    }
    for (; target < (y + 1) * halfWidth * channels; target += 1, upper += 1, lower += 1) {
      half[target] = (codes[upper] + codes[lower] + 1) >> 1;
    }
  }
  return { width: halfWidth, height: halfHeight, codes: half, factor: factor * 2 };
}

/**
 * `codeCount` is one more than the highest code, so that a table of grey levels can be short.
 *
 * @returns {Raster}
 */
export function pyramid(/** @type {Header} */ header, /** @type {Codes} */ codes) {
  const colour = header.format === "rgb8";
  const channels = colour ? 3 : 1;
  let highest = 0;
  for (let place = 0; place < codes.length; place += 1) {
    const code = codes[place];
    if (code > highest) highest = code;
  }
  const levels = [{ width: header.width, height: header.height, codes, factor: 1 }];
  while (Math.min(levels.at(-1).width, levels.at(-1).height) > 2 * SMALLEST_SIDE) {
    levels.push(halved(levels.at(-1), channels));
  }
  const bytes = levels.reduce((sum, level) => sum + level.codes.byteLength, 0);
  return { header, colour, codeCount: highest + 1, levels, bytes };
}

// Unpack pixels from the file; the counterpart of export/html/film_packing.py.

import { pyramid } from "../../../ui/viewer/assets/image/pyramid.js";

/** @import { Header, Raster } from "../../../ui/viewer/assets/types.d.ts" */
/** @typedef {Header & {packed_width: number, packed_height: number}} PackedHeader */

async function inflated(/** @type {string} */ base64) {
  const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/**
 * Restore the codes of one plane: the prediction from the neighbours plus the stored difference.
 *
 * @param {Uint8Array} low bytes of the differences, `high` those above them, null where codes have 8 bits
 * @param {Uint8Array | Uint16Array} codes filled from `place` on, one code each `step`
 */
function restore(low, high, codes, { width, height, place, step }) {
  const mask = high ? 0xffff : 0xff;
  for (let y = 0, at = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1, at += 1) {
      const here = place + at * step;
      const left = x > 0 ? codes[here - step] : 0;
      const above = y > 0 ? codes[here - width * step] : 0;
      const corner = x > 0 && y > 0 ? codes[here - (width + 1) * step] : 0;
      let expected = left + above - corner;
      const least = Math.min(left, above);
      const most = Math.max(left, above);
      if (corner >= most) expected = least;
      else if (corner <= least) expected = most;
      const number = high ? low[at] | (high[at] << 8) : low[at];
      const difference = number & 1 ? -((number + 1) >> 1) : number >> 1;
      codes[here] = (expected + difference) & mask;
    }
  }
}

/**
 * The raster of one packed image. Its sizes are those of the stored image: in a reduced image each
 * pixel covers several stored ones.
 *
 * @param {PackedHeader} header
 * @returns {Promise<Raster>}
 */
export async function rasterFrom(header, /** @type {string} */ base64) {
  const { packed_width: width, packed_height: height, format } = header;
  const bytes = await inflated(base64);
  const size = width * height;
  const wide = format === "u16";
  const planes = format === "rgb8" ? 3 : 1;
  const codes = wide ? new Uint16Array(size) : new Uint8Array(size * planes);
  for (let plane = 0; plane < planes; plane += 1) {
    const from = plane * size;
    const low = bytes.subarray(from, from + size);
    const high = wide ? bytes.subarray(size, 2 * size) : null;
    restore(low, high, codes, { width, height, place: plane, step: planes });
  }
  const raster = pyramid({ ...header, width, height }, codes);
  const factor = header.width / width;
  const levels = raster.levels.map((level) => ({ ...level, factor: level.factor * factor }));
  return { ...raster, header, levels };
}

// One image as the server sends it: a header and its codes.

import { tr } from "../../../web/components/words.js";
import { pyramid } from "./pyramid.js";

const MAGIC = 0x31565852; // "RXV1", little endian
const PREAMBLE_BYTES = 8;
export const INCOMPLETE = tr("The image did not load completely.");

/** Why pixels are unavailable, in words for the reader. `stale` is true if the link has expired. */
export class PixelsUnavailable extends Error {
  constructor(reason, stale = false) {
    super(reason);
    this.stale = stale;
  }
}

/** Split one response into its header and its codes. */
export function unpack(buffer) {
  const view = new DataView(buffer);
  if (buffer.byteLength < PREAMBLE_BYTES || view.getUint32(0, true) !== MAGIC) {
    throw new PixelsUnavailable(tr("The server's reply is not an image."));
  }
  const headerBytes = view.getUint32(4, true);
  const text = new TextDecoder().decode(new Uint8Array(buffer, PREAMBLE_BYTES, headerBytes));
  const header = JSON.parse(text);
  const start = PREAMBLE_BYTES + headerBytes;
  const samples = header.width * header.height * (header.format === "rgb8" ? 3 : 1);
  const wide = header.format === "u16";
  if (buffer.byteLength - start < samples * (wide ? 2 : 1)) {
    throw new PixelsUnavailable(INCOMPLETE);
  }
  const codes = wide
    ? new Uint16Array(buffer, start, samples)
    : new Uint8Array(buffer, start, samples);
  return { header, codes };
}

/** The raster of one response. */
export function rasterOf(/** @type {ArrayBuffer} */ buffer) {
  const { header, codes } = unpack(buffer);
  return pyramid(header, codes);
}

// Grey values of PNG files with eight bits per channel.

import { readFileSync } from "node:fs";
import { inflateSync } from "node:zlib";

const CHANNELS = { 0: 1, 2: 3, 4: 2, 6: 4 }; // by the kind of colour that a file names
const PREDICTED = [
  () => 0,
  (left) => left,
  (_left, above) => above,
  (left, above) => (left + above) >> 1,
  paeth,
];

/** Return {width, height, codes} of a file: its first channel, which the others of a grey film repeat. */
export function readGrey(/** @type {string | URL} */ path) {
  const file = readFileSync(path);
  const parts = [];
  for (let at = 8; at < file.length; at += file.readUInt32BE(at) + 12) {
    const end = at + 8 + file.readUInt32BE(at);
    if (file.toString("latin1", at + 4, at + 8) === "IDAT") parts.push(file.subarray(at + 8, end));
  }
  const [width, height] = [file.readUInt32BE(16), file.readUInt32BE(20)];
  const [depth, colour, , , interlaced] = file.subarray(24, 29);
  if (depth !== 8 || interlaced) throw new Error(`${path} is another kind of PNG`);
  const channels = CHANNELS[colour];
  const all = unfiltered(inflateSync(Buffer.concat(parts)), width * channels, height, channels);
  return { width, height, codes: all.filter((_code, at) => at % channels === 0) };
}

/** Undo the filters of the rows (PNG specification, 9.2). */
function unfiltered(rows, width, height, channels) {
  const codes = new Uint8Array(width * height);
  for (let y = 0; y < height; y += 1) {
    const begin = y * (width + 1);
    const predicted = PREDICTED[rows[begin]];
    for (let x = 0; x < width; x += 1) {
      const at = y * width + x;
      const left = x >= channels ? codes[at - channels] : 0;
      const above = y > 0 ? codes[at - width] : 0;
      const before = x >= channels && y > 0 ? codes[at - width - channels] : 0;
      codes[at] = rows[begin + 1 + x] + predicted(left, above, before);
    }
  }
  return codes;
}

function paeth(left, above, before) {
  const [toLeft, toAbove] = [Math.abs(above - before), Math.abs(left - before)];
  const toBefore = Math.abs(left + above - 2 * before);
  if (toLeft <= toAbove && toLeft <= toBefore) return left;
  return toAbove <= toBefore ? above : before;
}

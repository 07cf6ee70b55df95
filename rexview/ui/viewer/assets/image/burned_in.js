// Finds small, bright and sharp parts of an image: letters and dates burned into it, markers,
// clips,
// tips of lines. Names of boxes and lengths are placed where they cover none of them.
//
// Nothing is read: what is much brighter than everything around it within a few pixels counts. So a
// device is left free as well, and nothing depends on where text usually is.

/** @import { BurnedIn, Raster, Rect, Size } from "../types.d.ts" */
/** @import { Projection } from "./geometry.js" */

const LARGEST_SIDE = 640; // pixels of the level that is searched
const REACH = 4; // pixels on each side: strokes of letters are thinner than twice that
const STANDS_OUT = 0.13; // of the range of codes
const CELL = 8; // pixels of the level in a cell
const ENOUGH = 3; // pixels in a cell

/** Running minimum (sign 1) or maximum (sign -1) of a line of values within REACH on each side. */
function along(values, from, step, count, sign, target, line) {
  const whole = count + 2 * REACH; // the first and last value are repeated beyond the ends
  for (let at = 0; at < whole; at += 1) {
    const place = Math.min(Math.max(at - REACH, 0), count - 1);
    line[at] = sign * values[from + place * step];
  }
  let held = whole;
  for (let span = 1; span <= REACH; span *= 2) {
    held -= span; // each value now covers twice as many
    for (let at = 0; at < held; at += 1) if (line[at + span] < line[at]) line[at] = line[at + span];
  }
  const last = 2 * REACH - (whole - held); // the rest of the 2 REACH + 1
  for (let at = 0; at < count; at += 1) {
    target[from + at * step] = sign * Math.min(line[at], line[at + last]);
  }
}

function filtered(values, width, height, sign) {
  const half = new Float32Array(values.length);
  const whole = new Float32Array(values.length);
  const line = new Float32Array(Math.max(width, height) + 2 * REACH);
  for (let y = 0; y < height; y += 1) along(values, y * width, 1, width, sign, half, line);
  for (let x = 0; x < width; x += 1) along(half, x, width, height, sign, whole, line);
  return whole;
}

/** The level of an image that is searched. */
export function lookedAt(/** @type {Raster} */ { levels }) {
  return levels.find((one) => Math.max(one.width, one.height) <= LARGEST_SIDE) ?? levels.at(-1);
}

/** A colour image counts as the sum of its red, green and blue. */
export function burnedIn(/** @type {Raster} */ raster) {
  const { colour, codeCount, header } = raster;
  const { width, height, codes, factor } = lookedAt(raster);
  const values = new Float32Array(width * height);
  const range = Math.max(codeCount - 1, 1);
  for (let place = 0; place < values.length; place += 1) {
    const code = colour
      ? (codes[3 * place] + codes[3 * place + 1] + codes[3 * place + 2]) / 3
      : codes[place];
    values[place] = (header.invert ? range - code : code) / range;
  }
  const opened = filtered(filtered(values, width, height, 1), width, height, -1);
  const across = Math.ceil(width / CELL);
  const down = Math.ceil(height / CELL);
  const counts = new Uint8Array(across * down);
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) {
      const place = y * width + x;
      const cell = Math.floor(y / CELL) * across + Math.floor(x / CELL);
      if (values[place] - opened[place] > STANDS_OUT && counts[cell] < 255) counts[cell] += 1;
    }
  }
  const cells = counts.map((count) => Number(count >= ENOUGH));
  return { cells, across, down, size: CELL * factor };
}

/**
 * The number of cells with something in them that a rectangle on the screen covers.
 *
 * @param {BurnedIn} found
 * @param {Projection} projection
 */
export function coveredBy(found, rect, projection) {
  const corners = [
    projection.toImage(rect.x, rect.y),
    projection.toImage(rect.x + rect.width, rect.y + rect.height),
  ];
  const cell = (axis, most) => {
    const [a, b] = corners.map((corner) => corner[axis] / found.size).sort((p, q) => p - q);
    return [Math.max(0, Math.floor(a)), Math.min(most - 1, Math.floor(b))];
  };
  const [left, right] = cell(0, found.across);
  const [top, bottom] = cell(1, found.down);
  let covered = 0;
  for (let y = top; y <= bottom; y += 1) {
    for (let x = left; x <= right; x += 1) covered += found.cells[y * found.across + x];
  }
  return covered;
}

/** The area that two rectangles share, in square pixels of the screen. */
function shared(/** @type {Rect} */ one, /** @type {Rect} */ other) {
  const across = (a, b) => Math.min(a.x + a.width, b.x + b.width) - Math.max(a.x, b.x);
  const down = (a, b) => Math.min(a.y + a.height, b.y + b.height) - Math.max(a.y, b.y);
  return Math.max(0, across(one, other)) * Math.max(0, down(one, other));
}

/**
 * The place of a label that covers the least: of other labels first, then of the image.
 *
 * @param {number[][]} places top left corners, best first
 * @param {Size} size of the label
 * @param {BurnedIn | null} found null if unknown
 * @param {Projection} projection
 * @param {Rect[]} taken the places of other labels
 */
export function freest(places, size, found, projection, taken = []) {
  let best = places[0];
  let least = [Infinity, Infinity];
  for (const [x, y] of places) {
    const rect = { x, y, ...size };
    const labels = taken.reduce((sum, other) => sum + shared(rect, other), 0);
    const covered = found ? coveredBy(found, rect, projection) : 0;
    if (labels < least[0] || (labels === least[0] && covered < least[1])) {
      best = [x, y];
      least = [labels, covered];
    }
    if (labels === 0 && covered === 0) break;
  }
  return best;
}

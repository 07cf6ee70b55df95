// A known length on a film gives it a scale: a marker, a coin, a catheter of known width.
//
// Kept in this browser by image. What the file says of itself is never changed, only set aside.

import { distance } from "./distance.js";
import { remember, remembered } from "./memory.js";

const NAME = "calibrations";
const MOST_KEPT = 500; // images
const SHORTEST_PX = 10; // of the image: of a shorter line one pixel more is a tenth of the scale
const LONGEST_MM = 1000;

/**
 * A length as a reader types it: "25", "25,4", "2.5 cm".
 *
 * @returns {{mm: number}|{problem: string}}
 */
export function readLength(text) {
  const found = /^\s*(\d+(?:[.,]\d+)?|[.,]\d+)\s*(mm|cm)?\s*$/i.exec(text);
  if (!found) return { problem: "Give the length in mm, such as 25 or 25.4." };
  const mm = Number(found[1].replace(",", ".")) * (/cm/i.test(found[2] ?? "") ? 10 : 1);
  if (mm <= 0) return { problem: "The length must be more than 0 mm." };
  if (mm > LONGEST_MM) return { problem: `The length must not be more than ${LONGEST_MM} mm.` };
  return { mm };
}

/**
 * The scale that a line of known length gives.
 *
 * @param {{aspect: number}} header of the image
 * @param {number[][]} ends of the line, pixels of the stored image
 * @returns {{mm: number, px: number}|{problem: string}} the length, and the line in widths of a pixel
 */
export function scaleOf(header, ends, mm) {
  const px = distance({ aspect: header.aspect, spacing: null }, ...ends).value;
  if (px < SHORTEST_PX)
    return { problem: "The line is too short to calibrate with: draw a longer one." };
  return { mm, px };
}

/** The header with the spacing that a scale gives; as it is without. */
export function withScale(header, scale) {
  if (!scale) return header;
  const col_mm = scale.mm / scale.px;
  const spacing = { row_mm: col_mm * header.aspect, col_mm, at: "hand", note: null };
  return { ...header, spacing: { ...spacing, length_mm: scale.mm, length_px: scale.px } };
}

function all() {
  const kept = remembered(NAME);
  return Array.isArray(kept) ? kept.filter((one) => Array.isArray(one) && one.length === 3) : [];
}

/** The scale kept for an image, null without. */
export function scaleFor(key) {
  const [, mm, px] = all().find(([name]) => name === key) ?? [];
  return mm > 0 && px > 0 ? { mm, px } : null;
}

/** Keep a scale for an image, null to remove it; whether it outlives the page. */
export function keepScale(key, scale) {
  const others = all().filter(([name]) => name !== key);
  const kept = scale ? [...others, [key, scale.mm, scale.px]] : others;
  return remember(NAME, kept.slice(-MOST_KEPT));
}

// Lengths on a radiograph, in millimetres if the file gives the pixel spacing, or if a reader
// entered
// the length of a line: a marker, a coin, a catheter of known width.
//
// A calibration by hand is stored in this browser by image. It never changes the file's own
// spacing,
// and only overrides it.

import { tr } from "../../../web/components/words.js";
import { remember, remembered } from "../storage.js";

/** @import { Header, Point, Scale, Spacing } from "../types.d.ts" */

/**
 * @param {{aspect: number, spacing: Spacing | null}} header
 * @returns {{value: number, unit: string}} without spacing in widths of a pixel
 */
export function distance(header, [x0, y0], [x1, y1]) {
  const { spacing } = header;
  if (spacing) {
    const value = Math.hypot((x1 - x0) * spacing.col_mm, (y1 - y0) * spacing.row_mm);
    return { value, unit: "mm" };
  }
  return { value: Math.hypot(x1 - x0, (y1 - y0) * header.aspect), unit: "px" };
}

export function lengthText({ value, unit }) {
  return unit === "mm" ? `${value.toFixed(value < 100 ? 1 : 0)} mm` : `${value.toFixed(0)} px`;
}

/** The meaning of the lengths, in a few words. */
export function lengthNote(header) {
  if (!header.spacing) return tr("pixels: the file gives no pixel spacing");
  if (header.spacing.at === "hand") return handNote(header.spacing);
  if (header.spacing.at === "detector") return tr("at the detector, larger than in the patient");
  return header.spacing.note
    ? tr("calibrated: {note}", { note: header.spacing.note })
    : tr("calibrated to the patient");
}

function handNote({ length_mm, length_px }) {
  return tr("calibrated by hand: a line of {px} px is {mm} mm", {
    px: Math.round(length_px),
    mm: Number(length_mm.toPrecision(5)),
  });
}

/**
 * The widest heart relative to the widest thorax, both across the patient.
 *
 * @param {string} axis "x" or "y": the axis of the stored image that runs across the patient
 * @param {{from: number, to: number}} heart along that axis, pixels
 * @param {{from: number, to: number}} thorax
 */
export function cardiothoracic(header, axis, heart, thorax) {
  const across = ({ from, to }) =>
    distance(header, [0, 0], axis === "x" ? [to - from, 0] : [0, to - from]);
  const [heartLength, thoraxLength] = [across(heart), across(thorax)];
  return {
    heart: heartLength,
    thorax: thoraxLength,
    ratio: thoraxLength.value > 0 ? heartLength.value / thoraxLength.value : null,
  };
}

const NAME = "calibrations";
const MOST_KEPT = 500; // images
const SHORTEST_PX = 10; // of the image: on a shorter line one pixel changes the scale by a tenth
const LONGEST_MM = 1000;

/** A length as typed by a reader: "25", "25,4", "2.5 cm". */
export function readLength(text) {
  const found = /^\s*(\d+(?:[.,]\d+)?|[.,]\d+)\s*(mm|cm)?\s*$/i.exec(text);
  if (!found) return { problem: tr("Give the length in mm, such as 25 or 25.4.") };
  const mm = Number(found[1].replace(",", ".")) * (/cm/i.test(found[2] ?? "") ? 10 : 1);
  if (mm <= 0) return { problem: tr("The length must be more than 0 mm.") };
  if (mm > LONGEST_MM)
    return { problem: tr("The length must not be more than {most} mm.", { most: LONGEST_MM }) };
  return { mm };
}

/**
 * The scale from a line of known length.
 *
 * @param {{aspect: number}} header of the image
 * @param {[Point, Point]} ends of the line, pixels of the stored image
 * @returns {{mm?: number, px?: number, problem?: string}} the length, and the line in widths of a pixel
 */
export function scaleOf(header, ends, mm) {
  const px = distance({ aspect: header.aspect, spacing: null }, ...ends).value;
  if (px < SHORTEST_PX)
    return { problem: tr("The line is too short to calibrate with: draw a longer one.") };
  return { mm, px };
}

/** The header with the set's pixel spacing, if the file itself gives none. */
export function withGiven(
  /** @type {Header} */ header,
  /** @type {number | null | undefined} */ mm,
) {
  if (header.spacing || !mm) return header;
  const spacing = { row_mm: mm * header.aspect, col_mm: mm, at: "detector", note: null };
  return { ...header, spacing };
}

/** The header with the spacing of a scale; unchanged without one. */
export function withScale(/** @type {Header} */ header, /** @type {Scale | null} */ scale) {
  if (!scale) return header;
  const col_mm = scale.mm / scale.px;
  const spacing = { row_mm: col_mm * header.aspect, col_mm, at: "hand", note: null };
  return { ...header, spacing: { ...spacing, length_mm: scale.mm, length_px: scale.px } };
}

function all() {
  const kept = remembered(NAME);
  return Array.isArray(kept) ? kept.filter((one) => Array.isArray(one) && one.length === 3) : [];
}

/** The stored scale of an image, null without. */
export function scaleFor(key) {
  const [, mm, px] = all().find(([name]) => name === key) ?? [];
  return mm > 0 && px > 0 ? { mm, px } : null;
}

/** Store a scale for an image, null to remove it; return whether it outlives the page. */
export function keepScale(key, /** @type {Scale | null} */ scale) {
  const others = all().filter(([name]) => name !== key);
  const kept = scale ? [...others, [key, scale.mm, scale.px]] : others;
  return remember(NAME, kept.slice(-MOST_KEPT));
}

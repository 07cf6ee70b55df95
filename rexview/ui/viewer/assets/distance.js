// Lengths on a radiograph, in millimetres when the file says how far apart its pixels are.

/**
 * @param {{aspect: number, spacing: {row_mm: number, col_mm: number, at: string}|null}} header
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

/** What the lengths mean, in a few words. */
export function lengthNote(header) {
  if (!header.spacing) return "pixels: the file gives no pixel spacing";
  if (header.spacing.at === "hand") return handNote(header.spacing);
  if (header.spacing.at === "detector") return "at the detector, larger than in the patient";
  return header.spacing.note ? `calibrated: ${header.spacing.note}` : "calibrated to the patient";
}

function handNote({ length_mm, length_px }) {
  const known = `a line of ${Math.round(length_px)} px is ${Number(length_mm.toPrecision(5))} mm`;
  return `calibrated by hand: ${known}`;
}

/**
 * The widest heart against the widest thorax, both across the patient.
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

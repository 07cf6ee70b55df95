// The side of the patient at each edge of the view, and the messages about it.
//
// Letters are DICOM's: R right, L left, A anterior, P posterior, H head, F feet; null is unknown.

import { tr } from "../../../web/components/words.js";
import { matrixOf, UPRIGHT } from "./geometry.js";

/** @import { Edges, Stored } from "../types.d.ts" */

const EDGES = { left: [-1, 0], right: [1, 0], top: [0, -1], bottom: [0, 1] };
const AT_TOP = {
  R: tr("the patient’s right"),
  L: tr("the patient’s left"),
  A: tr("the front"),
  P: tr("the back"),
  F: tr("the feet"),
};

/** The letters at the edges of the screen once the stored image is oriented. */
export function shownEdges(/** @type {Edges} */ stored, orientation) {
  const [a, b, c, d] = matrixOf(orientation);
  /** @type {Edges} */
  const shown = { left: null, right: null, top: null, bottom: null };
  for (const [edge, [x, y]] of Object.entries(EDGES)) {
    const [X, Y] = [a * x + b * y, c * x + d * y];
    const target = Object.keys(EDGES).find((name) => EDGES[name][0] === X && EDGES[name][1] === Y);
    shown[target] = stored[edge];
  }
  return shown;
}

/** The axis of the stored image that runs across the patient; if unknown, across the screen. */
export function acrossAxis({ left, top }, orientation) {
  if (["R", "L"].includes(left)) return "x";
  if (["R", "L"].includes(top)) return "y";
  return orientation & 1 ? "y" : "x";
}

/** Whether the view has the patient's sides exchanged, however it is turned. */
export function seenFromBehind(edges) {
  const pair = `${edges.left}${edges.top}`;
  return ["LH", "RF", "HR", "FL"].includes(pair);
}

/**
 * The orientation that shows the head at the top and, on a frontal view, the patient's right on the
 * left of the screen; null if the image's data are insufficient.
 */
export function standardOrientation(stored) {
  if (!Object.values(stored).includes("H")) return null;
  const frontal = Object.values(stored).includes("R");
  for (const orientation of [0, 1, 2, 3, 4, 5, 6, 7]) {
    const edges = shownEdges(stored, orientation);
    if (edges.top !== "H") continue;
    if (frontal ? edges.left === "R" : orientation < 4) return orientation;
  }
  return null;
}

/** How the view differs from the usual one; null if it does not. */
function shownOtherwise(edges) {
  const edge = AT_TOP[edges.top];
  const mirrored = seenFromBehind(edges);
  if (edges.top === "H") return mirrored ? tr("Shown mirrored.") : null;
  return mirrored
    ? tr("Shown mirrored and turned, with {edge} at the top.", { edge })
    : tr("Shown turned, with {edge} at the top.", { edge });
}

/**
 * The message of the band over the image.
 *
 * @param {Stored} stored
 * @param {number} orientation
 * @param {boolean} lateral a lateral view: its edges are usually unknown
 * @returns {{text: string, warn: boolean, action: string|null, orientation: number|null} | null}
 */
export function advice(stored, orientation, lateral = false) {
  if (!stored.known) {
    const text = lateral
      ? tr("Front and back are not marked: the file does not say.")
      : tr("Orientation unknown: right and left cannot be marked.");
    return { text, warn: !lateral, action: null, orientation: null };
  }
  const standard = standardOrientation(stored);
  const edges = shownEdges(stored, orientation);
  const shown = shownOtherwise(edges);
  if (shown) {
    const patientLeft = edges.left === "L" ? ` ${tr("The patient’s left is on the left.")}` : "";
    return {
      text: shown + patientLeft,
      warn: true,
      action: standard === null ? null : tr("Show standard"),
      orientation: standard,
    };
  }
  if (orientation !== UPRIGHT && orientation === standard) {
    const stored_ = advice(stored, UPRIGHT);
    if (stored_?.warn) {
      return {
        text: tr("Turned to the standard orientation. The file stores it differently."),
        warn: false,
        action: tr("As stored"),
        orientation: UPRIGHT,
      };
    }
  }
  return null;
}

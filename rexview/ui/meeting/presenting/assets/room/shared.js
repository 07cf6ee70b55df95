// A screen's view in its shared form: small, and never more than the room accepts.

/** @import { Mark, Pointed, Shared } from "../types.d.ts" */

const MOST_BYTES = 2000;
const encoder = new TextEncoder();

/**
 * @param {{ case: string, step: number }} at
 * @param {string} look
 * @param {Mark[]} list
 * @param {Pointed | null} pointed
 * @returns {Shared}
 */
export function toShare(at, look, list, pointed) {
  const state = {
    case: at.case,
    step: at.step,
    look,
    marks: list.map(({ kind, view, points }) => /** @type {any} */ ([kind, view, ...points])),
    pointed: /** @type {any} */ (pointed && [pointed.view, ...pointed.point]),
  };
  while (state.marks.length > 0 && encoder.encode(JSON.stringify(state)).length > MOST_BYTES)
    state.marks.shift();
  return state;
}

/** The marks in another screen's state. @returns {Mark[]} */
export function marksOf(/** @type {Partial<Shared>} */ { marks }) {
  return (marks ?? []).map(([kind, view, ...points]) => ({
    kind: kind === "arrow" ? "arrow" : "draw",
    view,
    points,
  }));
}

/** Where a presenter points. @returns {Pointed | null} */
export function pointedAt(/** @type {Partial<Shared>} */ { pointed }) {
  if (!pointed) return null;
  const [view, ...point] = pointed;
  return { view, point };
}

// The order of an agenda: places are numbers, so that a case goes between two others by itself.

/**
 * The places that put a case where it stands in an order: of as few cases as can be.
 *
 * @param {string[]} order all cases, the one that was moved where it shall stand
 * @param {string} moved
 * @param {(name: string) => number} placeOf
 * @returns {Map<string, number>} by case
 */
export function placesFor(order, moved, placeOf) {
  const at = order.indexOf(moved);
  const before = at > 0 ? placeOf(order[at - 1]) : null;
  const after = at < order.length - 1 ? placeOf(order[at + 1]) : null;
  let place = 1;
  if (before !== null && after !== null) place = (before + after) / 2;
  else if (before !== null) place = before + 1;
  else if (after !== null) place = after - 1;
  const fits = (before === null || before < place) && (after === null || place < after);
  if (fits) return new Map([[moved, place]]);
  // no number lies between them: all are numbered anew
  const counted = order.map((name, index) => /** @type {[string, number]} */ ([name, index + 1]));
  return new Map(counted.filter(([name, number]) => name === moved || placeOf(name) !== number));
}

/** Cases as they stand, those of equal places by their names. */
export function inOrder(/** @type {[string, any][]} */ items) {
  return [...items].sort(([a, one], [b, other]) => {
    return (one.place ?? 0) - (other.place ?? 0) || (a < b ? -1 : 1);
  });
}

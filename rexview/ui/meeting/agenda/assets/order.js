// The order of an agenda: places are numbers, so that a case can be inserted between two others.

/**
 * The new places that put a case into an order, for as few cases as possible.
 *
 * @param {string[]} order all cases, the moved one at its new position
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
  // no number is between them: all are renumbered
  const counted = order.map((name, index) => /** @type {[string, number]} */ ([name, index + 1]));
  return new Map(counted.filter(([name, number]) => name === moved || placeOf(name) !== number));
}

/** Cases by place; those of equal places by name. */
export function inOrder(/** @type {[string, any][]} */ items) {
  return [...items].sort(([a, one], [b, other]) => {
    return (one.place ?? 0) - (other.place ?? 0) || (a < b ? -1 : 1);
  });
}

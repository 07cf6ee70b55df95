// How the panes lie: in how many columns the films are largest.

export const GUTTER_PX = 20; // left and right of each picture, for the side letters
export const FOOT_PX = 20; // below it, for the words
const NEARLY = 0.95; // side by side where that costs little

/**
 * @param {number[]} ratios width by height of each film
 * @param {{width: number, height: number}} room CSS pixels for all panes
 * @returns {number} columns
 */
export function bestColumns(ratios, { width, height }) {
  let best = { columns: 1, area: -1 };
  for (let columns = 1; columns <= ratios.length; columns += 1) {
    const rows = Math.ceil(ratios.length / columns);
    const across = Math.max(width / columns - 2 * GUTTER_PX, 1);
    const down = Math.max(height / rows - FOOT_PX, 1);
    const area = ratios.reduce((sum, ratio) => sum + filmArea(ratio, across, down), 0);
    if (area >= best.area * NEARLY) best = { columns, area: Math.max(area, best.area) };
  }
  return best.columns;
}

function filmArea(ratio, across, down) {
  const high = Math.min(down, across / ratio);
  return high * high * ratio;
}

/** Height that films of these ratios fill, one above the other, at a width. */
export function stackedHeight(ratios, width) {
  const across = width - 2 * GUTTER_PX;
  return ratios.reduce((sum, ratio) => sum + across / ratio + FOOT_PX, 0);
}

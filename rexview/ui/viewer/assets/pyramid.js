// One image at full, half, quarter, ... size, in the codes of the payload.
//
// A fitted radiograph is drawn from the level just finer than the screen, so a window step touches
// about as many pixels as are seen.

const SMALLEST_SIDE = 96;

function halved(level, channels) {
  const width = Math.ceil(level.width / 2);
  const height = Math.ceil(level.height / 2);
  const codes = new level.codes.constructor(width * height * channels);
  const stride = level.width * channels;
  let target = 0;
  for (let y = 0; y < height; y += 1) {
    const upper = 2 * y * stride;
    const lower = 2 * y + 1 < level.height ? upper + stride : upper;
    for (let x = 0; x < width; x += 1) {
      const left = 2 * x * channels;
      const right = 2 * x + 1 < level.width ? left + channels : left;
      for (let channel = 0; channel < channels; channel += 1) {
        const sum =
          level.codes[upper + left + channel] +
          level.codes[upper + right + channel] +
          level.codes[lower + left + channel] +
          level.codes[lower + right + channel];
        codes[target] = (sum + 2) >> 2;
        target += 1;
      }
    }
  }
  return { width, height, codes, factor: level.factor * 2 };
}

/**
 * @returns {{header: object, colour: boolean, codeCount: number, levels: object[], bytes: number}}
 * `codeCount` is one more than the highest code, so that a table of grey levels need not be longer.
 */
export function pyramid(header, codes) {
  const colour = header.format === "rgb8";
  const channels = colour ? 3 : 1;
  let highest = 0;
  for (let place = 0; place < codes.length; place += 1) {
    if (codes[place] > highest) highest = codes[place];
  }
  const levels = [{ width: header.width, height: header.height, codes, factor: 1 }];
  while (Math.min(levels.at(-1).width, levels.at(-1).height) > 2 * SMALLEST_SIDE) {
    levels.push(halved(levels.at(-1), channels));
  }
  const bytes = levels.reduce((sum, level) => sum + level.codes.byteLength, 0);
  return { header, colour, codeCount: highest + 1, levels, bytes };
}

// The label of a measured line: its width, and its possible places.

export const LABEL_PX = 17; // height of a label's plate
const LETTER_PX = 8.5; // about, at its size

/** Write a label; return the necessary width of its plate. */
export function widthOf(entry, words) {
  if (entry.text.textContent !== words) {
    entry.text.textContent = words;
    entry.width = (entry.text.getComputedTextLength() || words.length * LETTER_PX) + 10;
  }
  return entry.width;
}

/** Possible places of a label in the pane: above the middle of its line, below it, at its ends. */
export function labelPlaces(lineEnds, width, port) {
  const [[x1, y1], [x2, y2]] = lineEnds;
  const within = (value, most) => Math.min(Math.max(value, 0), Math.max(0, most));
  const at = (x, y) => [
    within(x - width / 2, port.width - width),
    within(y, port.height - LABEL_PX),
  ];
  const [x, y] = [(x1 + x2) / 2, (y1 + y2) / 2];
  const [above, below] = [-LABEL_PX - 7, 7];
  const ends = lineEnds.flatMap(([endX, endY]) => [
    at(endX, endY + above - 5),
    at(endX, endY + below + 5),
  ]);
  return [at(x, y + above), at(x, y + below), ...ends];
}

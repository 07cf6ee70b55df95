// What keys and buttons do, each with the words of the key list.

import { MIRROR, TURN, compose } from "./geometry.js";

const ZOOM_STEP = 1.25;
const KEY_WINDOW_PX = 24; // an arrow key changes the window like a drag of so many pixels

/** Keys that the list shows, grouped: [keys, meaning]. */
export const KEY_LIST = [
  [
    "Boxes",
    [
      ["1 – 9", "boxes of a model"],
      ["r", "reference boxes"],
      ["0", "all boxes on or off"],
      ["l", "names on the boxes"],
      ["Tab", "from box to box"],
    ],
  ],
  [
    "Picture",
    [
      ["drag", "brightness and contrast"],
      ["wheel, + −", "zoom"],
      ["right drag, arrows", "move"],
      ["Shift + arrows", "brightness and contrast"],
      ["f", "fit"],
      ["o", "1:1"],
      ["i", "invert"],
      ["w", "reset the window"],
      ["p", "next preset"],
      ["h", "mirror"],
      ["t", "turn"],
      ["n", "standard orientation"],
      ["x", "full screen"],
    ],
  ],
  [
    "Measure",
    [
      ["m", "ruler"],
      ["c", "cardiothoracic ratio"],
      ["Enter", "place it by keyboard"],
      ["Delete", "remove the one in focus"],
      ["Esc", "put the tool away"],
    ],
  ],
  [
    "Views",
    [
      ["v", "next view"],
      ["s", "side by side"],
      ["y", "link the views"],
      ["b", "blink with the prior"],
      ["space", "flip current and prior"],
      [", .", "slower, faster"],
    ],
  ],
  [
    "Case",
    [
      ["j", "next case"],
      ["k", "previous case"],
      ["g", "report"],
      ["?", "this list"],
    ],
  ],
];

/** Commands without arguments, by name. */
export function commandsOf(viewer) {
  const pane = () => viewer.activePane;
  const orient = (change) => {
    if (pane()?.raster) pane().orient(compose(pane().look.pose.orientation, change));
  };
  return {
    invert: () => viewer.toggleInvert(),
    mirror: () => orient(MIRROR),
    turn: () => orient(TURN),
    standard: () => viewer.standardOrientation(),
    fit: () => pane()?.fit(),
    actualSize: () => pane()?.actualSize(),
    zoomIn: () => pane()?.zoom(ZOOM_STEP),
    zoomOut: () => pane()?.zoom(1 / ZOOM_STEP),
    resetWindow: () => viewer.resetWindow(),
    nextPreset: () => viewer.nextPreset(),
    ruler: () => viewer.setTool("ruler", true),
    ratio: () => viewer.setTool("ratio", true),
    place: () => viewer.placeMeasure(),
    clearMeasures: () => viewer.clearMeasures(),
    escape: () => viewer.escape(),
    nextView: () => viewer.nextView(),
    beside: () => viewer.toggleBeside(),
    link: () => viewer.toggleLink(),
    blink: () => viewer.toggleBlink(),
    flip: () => viewer.flip(),
    slower: () => viewer.blinkFaster(-1),
    faster: () => viewer.blinkFaster(1),
    labels: () => viewer.toggleLabels(),
    allBoxes: () => viewer.toggleAllGroups(),
    reference: () => viewer.toggleGroupByKey("r"),
    fullScreen: () => viewer.toggleFullScreen(),
    next: () => viewer.go("next"),
    previous: () => viewer.go("previous"),
    report: () => viewer.showReport(),
    help: () => viewer.toggleHelp(),
    left: () => pane()?.panByKey(-1, 0),
    right: () => pane()?.panByKey(1, 0),
    up: () => pane()?.panByKey(0, -1),
    down: () => pane()?.panByKey(0, 1),
    wider: () => viewer.adjustWindow(pane(), KEY_WINDOW_PX, 0),
    narrower: () => viewer.adjustWindow(pane(), -KEY_WINDOW_PX, 0),
    brighter: () => viewer.adjustWindow(pane(), 0, -KEY_WINDOW_PX),
    darker: () => viewer.adjustWindow(pane(), 0, KEY_WINDOW_PX),
  };
}

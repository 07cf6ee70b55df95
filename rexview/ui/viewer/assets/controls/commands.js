// What keys and buttons do, each with the words of the key list.

import { MIRROR, TURN } from "../image/geometry.js";

const ZOOM_STEP = 1.25;
const KEY_PAN_PX = 60;
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
      ["pin", "beside the reference’s chip: shown from the start"],
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
      ["q", "in full screen: question and answers"],
    ],
  ],
  [
    "Measure",
    [
      ["m", "ruler"],
      ["c", "cardiothoracic ratio"],
      ["z", "calibrate with a known length"],
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
      ["Tab, then arrows", "on a divider: wider, narrower; Enter: as usual"],
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

/** Bring up the report on the page; a page without one is asked for it. */
function showReport(viewer) {
  const report = document.getElementById("report");
  const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
  if (report) report.scrollIntoView({ behavior: still ? "auto" : "smooth", block: "start" });
  else viewer.tell("report", true);
}

/** Commands without arguments, by name. */
export function commandsOf(viewer) {
  const { views, groups, windows, tools } = viewer;
  const pane = () => viewer.activePane;
  return {
    invert: () => windows.invert(),
    resetWindow: () => windows.reset(),
    nextPreset: () => windows.next(),
    wider: () => windows.drag(pane(), KEY_WINDOW_PX, 0),
    narrower: () => windows.drag(pane(), -KEY_WINDOW_PX, 0),
    brighter: () => windows.drag(pane(), 0, -KEY_WINDOW_PX),
    darker: () => windows.drag(pane(), 0, KEY_WINDOW_PX),
    mirror: () => tools.reorient(MIRROR),
    turn: () => tools.reorient(TURN),
    standard: () => tools.standard(),
    ruler: () => tools.toggle("ruler"),
    ratio: () => tools.toggle("ratio"),
    place: () => tools.place(),
    clearMeasures: () => tools.clear(),
    fit: () => pane()?.fit(),
    actualSize: () => pane()?.actualSize(),
    zoomIn: () => pane()?.zoom(ZOOM_STEP),
    zoomOut: () => pane()?.zoom(1 / ZOOM_STEP),
    left: () => pane()?.pan(KEY_PAN_PX, 0),
    right: () => pane()?.pan(-KEY_PAN_PX, 0),
    up: () => pane()?.pan(0, KEY_PAN_PX),
    down: () => pane()?.pan(0, -KEY_PAN_PX),
    nextView: () => views.next(),
    beside: () => views.toggleBeside(),
    link: () => views.toggleLink(),
    blink: () => views.toggleBlink(),
    flip: () => views.flip(),
    slower: () => views.faster(-1),
    faster: () => views.faster(1),
    labels: () => viewer.toggleLabels(),
    allBoxes: () => groups.toggleAll(),
    reference: () => groups.toggleByKey("r"),
    fullScreen: () => viewer.full.toggle(),
    texts: () => viewer.full.toggleTexts(),
    knownLength: () => viewer.measureBar.ask(),
    next: () => viewer.go("next"),
    previous: () => viewer.go("previous"),
    report: () => showReport(viewer),
    help: () => viewer.help.toggle(!viewer.help.open),
  };
}

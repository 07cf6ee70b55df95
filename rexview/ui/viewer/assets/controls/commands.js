// The actions of keys and buttons.

import { wantsLessMotion } from "../../../web/components/dom.js";
import { MIRROR, TURN } from "../image/geometry.js";

/** @import { Viewer } from "../viewer.js" */

const ZOOM_STEP = 1.25;
const KEY_PAN_PX = 60;
const KEY_WINDOW_PX = 24; // an arrow key changes the window like a drag of this many pixels

/** Show the report on the page, or request it from a page without one. */
function showReport(/** @type {Viewer} */ viewer) {
  const report = document.getElementById("report");
  const behavior = wantsLessMotion() ? "auto" : "smooth";
  if (report) report.scrollIntoView({ behavior, block: "start" });
  else viewer.tell("report", true);
}

/** Commands without arguments, by name. */
export function commandsOf(/** @type {Viewer} */ viewer) {
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
    labels: () => views.toggleLabels(),
    allBoxes: () => groups.toggleAll(),
    reference: () => groups.toggleByKey("r"),
    fullScreen: () => viewer.full.toggle(),
    texts: () => viewer.full.toggleTexts(),
    knownLength: () => viewer.measureBar.ask(),
    next: () => viewer.turning.go("next"),
    previous: () => viewer.turning.go("previous"),
    report: () => showReport(viewer),
    help: () => viewer.help.toggle(!viewer.help.open),
  };
}

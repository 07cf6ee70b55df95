// The pictures on the buttons: strokes on a 20 x 20 grid.

import { svg } from "../../../web/components/dom.js";

const EYE =
  "M2 10s3-5 8-5 8 5 8 5-3 5-8 5-8-5-8-5z M10 7.8a2.2 2.2 0 1 0 0 4.4 2.2 2.2 0 0 0 0-4.4z";
const PATHS = {
  eye: EYE,
  eyeOff: `${EYE} M3.5 16.5l13-13`,
  window: "M10 3a7 7 0 1 0 0 14z M10 3a7 7 0 0 1 0 14 M10 6.5h5.6 M10 10h7 M10 13.5h5.6",
  pan: "M10 2.5v15 M2.5 10h15 M10 2.5 7.8 4.7 M10 2.5l2.2 2.2 M10 17.5l-2.2-2.2 M10 17.5l2.2-2.2 M2.5 10l2.2-2.2 M2.5 10l2.2 2.2 M17.5 10l-2.2-2.2 M17.5 10l-2.2 2.2",
  ruler: "M2.6 13.2 13.2 2.6l4.2 4.2L6.8 17.4z M6 9.8l1.6 1.6 M8.6 7.2l2.4 2.4 M11.2 4.6l1.6 1.6",
  ratio: "M3 4v12 M17 4v12 M3 14.5h14 M7.5 6v5 M13 6v5 M7.5 8.5H13",
  invert: "M10 2.8a7.2 7.2 0 1 0 0 14.4 7.2 7.2 0 0 0 0-14.4z M10 5.5v9a4.5 4.5 0 0 0 0-9z",
  fit: "M3 7V3h4 M13 3h4v4 M17 13v4h-4 M7 17H3v-4 M7.5 7.5h5v5h-5z",
  zoomIn: "M8.5 3a5.5 5.5 0 1 0 0 11 5.5 5.5 0 0 0 0-11z M12.6 12.6 17 17 M8.5 6v5 M6 8.5h5",
  zoomOut: "M8.5 3a5.5 5.5 0 1 0 0 11 5.5 5.5 0 0 0 0-11z M12.6 12.6 17 17 M6 8.5h5",
  turn: "M15.5 6.5A6.5 6.5 0 1 0 16.5 10 M16 2.5v4h-4",
  mirror: "M10 2.5v15 M7.5 5 2.5 15h5z M12.5 5l5 10h-5z",
  beside: "M2.5 4h15v12h-15z M10 4v12",
  link: "M8.5 11.5a3 3 0 0 0 4.3 0l2.7-2.7a3 3 0 0 0-4.3-4.3L10 5.7 M11.5 8.5a3 3 0 0 0-4.3 0l-2.7 2.7a3 3 0 0 0 4.3 4.3L10 14.3",
  blink: EYE,
  fullScreen: "M3 7V3h4 M13 3h4v4 M17 13v4h-4 M7 17H3v-4",
  pin: "M7 3h6 M8 3v5l-2.5 3.5h9L12 8V3 M10 11.5V17",
  texts: "M2.5 4h15v12h-15z M12 4v12 M14 7h1.5 M14 10h1.5 M14 13h1.5",
  help: "M2.5 5.5h15v9h-15z M5.5 8.5h.01 M8.5 8.5h.01 M11.5 8.5h.01 M14.5 8.5h.01 M6.5 11.7h7",
  labels: "M3 3.5h6.2l7.6 7.6-5.7 5.7L3.5 9.2z M6.3 6.6h.01",
  more: "M4.5 10h.01 M10 10h.01 M15.5 10h.01",
  broken: "M3 3.5h14v6l-3 2.5-2.5-3L8.5 12 6 9.5 3 12z M3 15v1.5h14V13 M7 6.5h.01",
  warning: "M10 3 1.8 17h16.4z M10 8v4.5 M10 14.6v.01",
  close: "M5 5l10 10 M15 5 5 15",
  pointer:
    "M10 7.2a2.8 2.8 0 1 0 0 5.6 2.8 2.8 0 0 0 0-5.6z M10 2v2.5 M10 15.5V18 M2 10h2.5 M15.5 10H18",
  arrow: "M4 16 15.5 4.5 M8.5 4h7.5v7.5",
  draw: "M3.5 16.5l1-3.6L13.8 3.6l2.6 2.6-9.3 9.3z M12.2 5.2l2.6 2.6",
  clearMeasures: "M4 5.5h12 M8 5.5V3.5h4v2 M5.5 5.5 6.3 17h7.4l.8-11.5",
};

/** An icon without text: its button has the name. */
export function icon(name) {
  return svg(
    "svg",
    { viewBox: "0 0 20 20", class: "icon", "aria-hidden": "true", focusable: "false" },
    svg("path", { d: PATHS[name] }),
  );
}

// What is written on and above one picture: title, side letters, warnings, window and zoom, values.

import { lengthNote } from "./distance.js";
import { html } from "./dom.js";
import { icon } from "./icons.js";
import { advice, shownEdges } from "./orientation.js";

const LETTER_PX = 30; // room a side letter needs beside the picture
const EDGE_PX = 6;

/** A value with as many figures as matter. */
export function figure(value) {
  if (Math.abs(value) >= 20 || Number.isInteger(value)) return String(Math.round(value));
  return String(Number(value.toPrecision(3)));
}

export class Annotations {
  /** @param {function} orient called with the orientation that the band offers */
  constructor(orient) {
    this.orient = orient;
    this.edges = Object.fromEntries(
      ["left", "right", "top", "bottom"].map((edge) => [
        edge,
        html("span", { class: `edge ${edge}`, "aria-hidden": "true" }),
      ]),
    );
    this.title = html("span", { class: "title" });
    this.details = html("span", { class: "details" });
    this.remarks = html("div", { class: "remarks" });
    this.readout = html("div", { class: "readout" });
    this.probe = html("div", { class: "probe", "aria-hidden": "true" });
    this.hint = html("div", { class: "hint", role: "status" });
    this.band = html("div", { class: "band", role: "status", hidden: true });
    this.nodes = [
      ...Object.values(this.edges),
      html("div", { class: "head" }, html("div", {}, this.title), this.remarks),
      this.readout,
      this.probe,
      this.hint,
    ];
  }

  /** Name the view; `header` is null until its image is there. */
  describe(view, header, stored) {
    this.title.textContent = view.title;
    const facts = header ? [`${header.width} × ${header.height}`, `${header.bits} bit`] : [];
    if (header && stored.source === "view") facts.push("R/L assumed from the view");
    if (header?.frames > 1) facts.push(`first of ${header.frames} frames`);
    this.details.textContent = facts.join(" · ");
    this.remarks.replaceChildren(...(header?.warnings ?? []).map((words) => html("p", {}, words)));
    if (!header) {
      this.readout.replaceChildren();
      this.probe.textContent = "";
    }
  }

  /** Letters at the edges and the band above, for a view in an orientation. */
  orientation(view, stored, turned) {
    const edges = shownEdges(stored, turned);
    for (const [edge, node] of Object.entries(this.edges)) node.textContent = edges[edge] ?? "";
    const quiet = Boolean(view.error) || view.kind === "returned";
    const says = quiet && !stored.known ? null : advice(stored, turned, view.word === "LATERAL");
    this.#say(view.error ? null : says);
    return Boolean(says?.warn);
  }

  #say(says) {
    const words = says?.text ?? "";
    if (words === this.said) return;
    this.said = words;
    this.band.hidden = !words;
    if (!words) return;
    this.band.classList.toggle("warn", says.warn);
    const act = () => this.orient(says.orientation);
    this.band.replaceChildren(
      ...(says.warn ? [icon("warning")] : []),
      html("span", {}, words),
      ...(says.action ? [html("button", { type: "button", onclick: act }, says.action)] : []),
    );
  }

  /** Keep the side letters beside the picture where there is room, else at the edge of the pane. */
  placeEdges(projection) {
    const { image, port } = projection;
    const rect = projection.boxToScreen({ x: 0, y: 0, width: image.width, height: image.height });
    const left = Math.max(EDGE_PX, rect.x - LETTER_PX);
    const right = Math.max(EDGE_PX, port.width - rect.x - rect.width - LETTER_PX);
    this.edges.left.style.left = `${left}px`;
    this.edges.right.style.right = `${right}px`;
  }

  /** Facts of the picture, window, zoom and measurements, bottom left. */
  read({ view, header, look, percent, ratio, measuring }) {
    const { window } = look;
    const words = window ? [`W ${figure(window.width)}`, `L ${figure(window.centre)}`] : [];
    words.push(`${percent} %`);
    if (look.inverted) words.push("inverted");
    const lines = [];
    if (ratio?.ratio) {
      const caution = view.word === "AP" ? " (AP: the heart looks larger)" : "";
      lines.push(html("div", { class: "result" }, `CTR ${ratio.ratio.toFixed(2)}${caution}`));
    }
    if (measuring) lines.push(html("div", { class: "note" }, lengthNote(header)));
    if (this.details.textContent) lines.push(this.details); // below, where lungs and lines are not
    lines.push(html("div", {}, words.join("  ")));
    this.readout.replaceChildren(...lines);
  }

  /** What to do next with a tool; "" for nothing. */
  advise(words) {
    if (this.hint.textContent !== words) this.hint.textContent = words;
    this.hint.hidden = !words;
  }

  /** Column, row and value under the pointer, bottom right; null clears it. */
  value(raster, point) {
    this.probe.textContent = "";
    if (!raster || raster.colour || !point) return;
    const [column, row] = point.map(Math.floor);
    const { width, height, scale, offset } = raster.header;
    if (column < 0 || row < 0 || column >= width || row >= height) return;
    const code = raster.levels[0].codes[row * width + column];
    this.probe.textContent = `${column}, ${row}: ${figure(code * scale + offset)}`;
  }
}

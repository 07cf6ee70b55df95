// The text around one image: title, side letters, warnings, window and zoom, values.
//
// None of it is on the image: radiographs have their own letters, names of views and dates in any
// corner and at any edge, and these must not be covered.

import { button, html } from "../../../web/components/dom.js";
import { tr } from "../../../web/components/words.js";
import { icon } from "../controls/icons.js";
import { advice, shownEdges } from "../image/orientation.js";

/** @import { Header, Look, Point, Raster, Stored, View } from "../types.d.ts" */

/** A value with its significant figures. */
export function figure(value) {
  if (Math.abs(value) >= 20 || Number.isInteger(value)) return String(Math.round(value));
  return String(Number(value.toPrecision(3)));
}

export class Annotations {
  /**
   * @param {(orientation: number) => void} orient called with the orientation that the band offers
   */
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
    this.readout = html("span", { class: "readout" });
    this.probe = html("span", { class: "probe", "aria-hidden": "true" });
    this.band = html("div", { class: "band", role: "status", hidden: true });
    const { left, right, top, bottom } = this.edges;
    this.gutters = [
      html("div", { class: "gutter" }, top, left, bottom),
      html("div", { class: "gutter" }, right),
    ];
    const line = html("div", { class: "line" }, this.title, this.details, this.probe, this.readout);
    this.foot = html("div", { class: "foot" }, line, this.remarks);
  }

  /**
   * Name the view; `header` is null until its image is loaded.
   *
   * @param {View} view
   * @param {Header | null} header
   * @param {Stored} stored
   */
  describe(view, header, stored) {
    this.title.textContent = view.title;
    const facts = header && stored.source === "view" ? [tr("R/L assumed from the view")] : [];
    if (header)
      facts.push(`${header.width} × ${header.height}`, tr("{bits} bit", { bits: header.bits }));
    if (header?.frames > 1) facts.push(tr("first of {n} frames", { n: header.frames }));
    this.details.textContent = facts.join(" · ");
    this.details.title = this.details.textContent;
    this.remarks.replaceChildren(...(header?.warnings ?? []).map((words) => html("p", {}, words)));
    if (!header) {
      this.readout.textContent = "";
      this.probe.textContent = "";
    }
  }

  /** Letters at the edges and the band above, for a view in an orientation. */
  orientation(/** @type {View} */ view, /** @type {Stored} */ stored, turned) {
    const edges = shownEdges(stored, turned);
    for (const [edge, node] of Object.entries(this.edges)) node.textContent = edges[edge] ?? "";
    const quiet = Boolean(view.error) || view.kind === "returned";
    const says = quiet && !stored.known ? null : advice(stored, turned, view.word === "LATERAL");
    this.#showAdvice(view.error ? null : says);
    return Boolean(says?.warn);
  }

  #showAdvice(says) {
    const words = says?.text ?? "";
    if (words === this.shownAdvice) return;
    this.shownAdvice = words;
    this.band.hidden = !words;
    if (!words) return;
    this.band.classList.toggle("warn", says.warn);
    const act = () => this.orient(says.orientation);
    this.band.replaceChildren(
      ...(says.warn ? [icon("warning")] : []),
      html("span", {}, words),
      ...(says.action ? [button(says.action, act)] : []),
    );
  }

  /**
   * Window and zoom of the picture.
   *
   * @param {{look: Look, percent: number}} shown
   */
  read({ look, percent }) {
    const { window } = look;
    const words = window ? [`W ${figure(window.width)}`, `L ${figure(window.centre)}`] : [];
    words.push(`${percent} %`);
    if (look.inverted) words.push("inverted");
    this.readout.textContent = words.join("  ");
  }

  /** Column, row and value under the pointer; null clears it. */
  value(/** @type {Raster} */ raster, /** @type {Point | null} */ point) {
    this.probe.textContent = "";
    if (!raster || raster.colour || !point) return;
    const [column, row] = point.map(Math.floor);
    const { width, height, scale, offset } = raster.header;
    if (column < 0 || row < 0 || column >= width || row >= height) return;
    const [finest] = raster.levels; // an exported file may have fewer pixels than the stored image
    const place =
      Math.floor(row / finest.factor) * finest.width + Math.floor(column / finest.factor);
    const code = finest.codes[place];
    this.probe.textContent = `${column}, ${row}: ${figure(code * scale + offset)}`;
  }
}

export class Notice {
  constructor() {
    this.node = html("div", { class: "notice" });
  }

  /** Show a short message, none for null. */
  tell(words) {
    this.node.replaceChildren(...(words ? [html("p", {}, words)] : []));
    this.node.hidden = !words;
  }

  /** Show why there is no image, with a button to try again if that may help. */
  fail(reason, retry) {
    this.node.replaceChildren(
      icon("broken"),
      html("strong", {}, tr("This image cannot be shown")),
      html("p", {}, reason),
      ...(retry ? [button(tr("Try again"), retry)] : []),
    );
    this.node.hidden = false;
  }
}

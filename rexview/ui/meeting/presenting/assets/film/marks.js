// A presenter's marks on the image: a pointer, arrows, freehand lines. Places are pixels of the
// stored
// image, so that every screen shows them correctly. Nothing is stored.

import { svg } from "../../../../web/components/dom.js";

/** @import { Mark, Pointed } from "../types.d.ts" */
/** @import { Film } from "./film.js" */

export const TOOLS = /** @type {const} */ (["pointer", "arrow", "draw"]);
const SHORTEST_PX = 8; // on the screen: less is a click
const NEAR_PX = 5; // on the screen: minimum distance between points of a line
const MOST_NUMBERS = 260; // in all marks together: the shared state has at most 2 KB
const HEAD = 22; // CSS pixels of an arrow's head

export class Marks {
  /** @param {() => void} changed called when something is drawn or pointed at */
  constructor(/** @type {Film} */ film, changed) {
    this.film = film;
    this.changed = changed;
    this.tool = null;
    /** @type {Mark[]} */
    this.list = [];
    /** @type {Pointed | null} */
    this.pointed = null;
    this.layers = new WeakMap();
    this.drawing = null;
    const { root } = film;
    const options = { capture: true, signal: film.abort.signal };
    for (const [name, act] of /** @type {[string, (event: any) => void][]} */ ([
      ["pointerdown", (event) => this.#down(event)],
      ["pointermove", (event) => this.#move(event)],
      ["pointerup", (event) => this.#up(event)],
      ["pointercancel", () => this.#drop()],
    ]))
      root.addEventListener(name, act, options);
    film.node.addEventListener("pointerleave", () => this.#point(null), options);
  }

  /** Choose a tool, or leave it. */
  choose(/** @type {string | null} */ tool) {
    this.tool = this.tool === tool ? null : tool;
    this.film.node.dataset.mark = this.tool ?? "";
    if (this.tool !== "pointer") this.#point(null);
    this.changed();
  }

  clear() {
    this.list = [];
    this.pointed = null;
    this.drawing = null;
    this.draw();
    this.changed();
  }

  /** Show another screen's marks. */
  take(/** @type {Mark[]} */ list, /** @type {Pointed | null} */ pointed) {
    this.list = list;
    this.pointed = pointed;
    this.draw();
  }

  // --- with the pointer --------------------------------------------------------------------------

  #down(event) {
    const draws = this.tool === "arrow" || this.tool === "draw";
    const touches = this.tool === "pointer" && event.pointerType !== "mouse";
    if (!(draws || touches) || event.button !== 0 || event.target.closest?.("button, .handle"))
      return;
    const found = this.film.at(event);
    if (!found) return;
    event.preventDefault();
    event.stopPropagation();
    this.drawing = { id: event.pointerId, pane: found.pane, mark: null };
    if (touches) this.#point(found);
    else {
      const [x, y] = found.point;
      this.drawing.mark = { kind: this.tool, view: found.pane.view.id, points: [x, y] };
    }
  }

  #move(event) {
    const { drawing } = this;
    if (!drawing) {
      if (this.tool === "pointer" && event.pointerType === "mouse")
        this.#point(this.film.at(event));
      return;
    }
    if (event.pointerId !== drawing.id) return;
    event.stopPropagation();
    const found = this.film.at(event);
    if (!found || found.pane !== drawing.pane) return;
    const { mark } = drawing;
    if (!mark) this.#point(found);
    else if (mark.kind === "arrow") mark.points = [...mark.points.slice(0, 2), ...found.point];
    else if (this.#apart(drawing.pane, mark.points.slice(-2), found.point) >= NEAR_PX)
      mark.points.push(...found.point);
    this.draw();
  }

  #up(event) {
    const { drawing } = this;
    if (!drawing || event.pointerId !== drawing.id) return;
    event.stopPropagation();
    const { mark, pane } = drawing;
    this.drawing = null;
    const ends = mark && [mark.points.slice(0, 2), mark.points.slice(-2)];
    const meant =
      mark?.points.length >= 4 &&
      (mark.kind === "draw" || this.#apart(pane, ends[0], ends[1]) >= SHORTEST_PX);
    if (meant) this.list = fitting([...this.list, mark]);
    this.draw();
    this.changed();
  }

  #drop() {
    this.drawing = null;
    this.draw();
  }

  #point(found) {
    const pointed = found && { view: found.pane.view.id, point: found.point };
    if (pointed === null && this.pointed === null) return;
    this.pointed = pointed;
    this.draw();
    this.changed();
  }

  #apart(pane, from, to) {
    const [a, b] = [from, to].map(([x, y]) => pane.current.toScreen(x, y));
    return Math.hypot(a[0] - b[0], a[1] - b[1]);
  }

  // --- drawing -----------------------------------------------------------------------------------

  /** Put everything in its place on the images. */
  draw() {
    const marks = this.drawing?.mark ? [...this.list, this.drawing.mark] : this.list;
    for (const pane of this.film.panes) {
      const layer = this.#layer(pane);
      const projection = pane.raster ? pane.current : null;
      const own = projection ? marks.filter(({ view }) => view === pane.view?.id) : [];
      const nodes = own.map((mark) => shape(mark, projection));
      if (projection && this.pointed?.view === pane.view?.id) {
        const [x, y] = this.pointed.point;
        const [cx, cy] = projection.toScreen(x, y);
        nodes.push(svg("circle", { class: "pointed", cx, cy, r: 11 }));
      }
      layer.replaceChildren(...nodes);
    }
  }

  #layer(pane) {
    let layer = this.layers.get(pane);
    if (!layer) {
      layer = svg("svg", { class: "marks", "aria-hidden": "true" });
      this.layers.set(pane, layer);
      pane.stage.append(layer);
    }
    return layer;
  }
}

function shape(/** @type {Mark} */ { kind, points }, projection) {
  const places = [];
  for (let at = 0; at + 1 < points.length; at += 2)
    places.push(projection.toScreen(points[at], points[at + 1]));
  const joined = (/** @type {number[][]} */ list) =>
    list.map((place) => place.map((value) => value.toFixed(1)).join(",")).join(" ");
  const lines = [joined(places)];
  if (kind === "arrow" && places.length === 2) {
    const [[x1, y1], [x2, y2]] = places;
    const angle = Math.atan2(y2 - y1, x2 - x1);
    const wing = (/** @type {number} */ turn) => [
      x2 - HEAD * Math.cos(angle + turn),
      y2 - HEAD * Math.sin(angle + turn),
    ];
    lines.push(joined([wing(0.45), [x2, y2], wing(-0.45)]));
  }
  return svg(
    "g",
    { class: `mark ${kind}` },
    ...["halo", "line"].flatMap((css) =>
      lines.map((drawn) => svg("polyline", { class: css, points: drawn })),
    ),
  );
}

/**
 * Marks that fit into the shared state: long lines lose every other point, then the oldest marks
 * go.
 *
 * @param {Mark[]} list
 */
export function fitting(list) {
  const count = (/** @type {Mark[]} */ marks) =>
    marks.reduce((sum, { points }) => sum + points.length + 6, 0);
  let marks = list;
  while (count(marks) > MOST_NUMBERS) {
    const longest = marks.reduce((most, one) =>
      one.points.length > most.points.length ? one : most,
    );
    if (longest.points.length > 24) {
      const last = longest.points.length / 2 - 1;
      const points = longest.points.filter((_, at) => {
        const place = Math.floor(at / 2);
        return place % 2 === 0 || place === last;
      });
      marks = marks.map((one) => (one === longest ? { ...one, points } : one));
    } else marks = marks.slice(1);
  }
  return marks;
}

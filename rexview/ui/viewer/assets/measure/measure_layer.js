// Rulers and the cardiothoracic ratio on one image: drawn by dragging, moved by their ends with the
// pointer or the arrow keys. Users who cannot drag press the two ends, one after the other.
//
// Ends are kept in pixels of the stored image, per image, as long as the page is open.

import { set, svg } from "../../../web/components/dom.js";
import { tr } from "../../../web/components/words.js";
import { freest } from "../image/burned_in.js";
import { LABEL_PX, labelPlaces, widthOf } from "./labels.js";
import { cardiothoracic, distance, lengthText, scaleFor, withScale } from "./lengths.js";

/** @import { Header, Segment, SegmentKind, Point } from "../types.d.ts" */

const SHORTEST_PX = 6; // on the screen: less is a click, not a measurement
const STEP = 1; // image pixels that an arrow key moves an end
const LONG_STEP = 10;
/** @type {Map<string, Segment[]>} by image key */
const kept = new Map();

function segmentsOf(key) {
  if (!kept.has(key)) kept.set(key, []);
  return kept.get(key);
}

const NAMES = { ruler: tr("Ruler"), heart: tr("Heart width"), thorax: tr("Thorax width") };

export class MeasureLayer {
  /**
   * @param {Record<"changed" | "drawn", () => void>} on called when a segment changes, when one is
   * drawn
   */
  constructor(parent, on) {
    this.node = svg("g", { class: "measures", role: "group", "aria-label": tr("Measurements") });
    this.on = on;
    /** @type {Segment[]} */
    this.segments = [];
    /** @type {ReturnType<MeasureLayer["entry"]>[]} */
    this.drawn = [];
    /** A line with only its first end placed. @type {Segment | null} */
    this.begun = null;
    parent.append(this.node);
  }

  open(/** @type {string} */ key, /** @type {Header} */ header) {
    this.dropBegun();
    this.key = key;
    this.original = header; // as in the file
    this.header = withScale(header, scaleFor(key));
    this.segments = segmentsOf(key);
    this.#build();
  }

  close() {
    this.dropBegun();
    this.segments = [];
    this.#build();
  }

  /** Apply a scale set by hand, or its removal. */
  rescale() {
    this.header = withScale(this.original, scaleFor(this.key));
    this.on.changed();
  }

  /** The ruler drawn or moved last, null without one. */
  get ruler() {
    const rulers = this.segments.filter((segment) => segment.kind === "ruler");
    return rulers.includes(this.touched) ? this.touched : (rulers.at(-1) ?? null);
  }

  get isEmpty() {
    return this.segments.length === 0;
  }

  clear() {
    this.begun = null;
    this.segments.length = 0;
    this.#build();
    this.on.changed();
  }

  /** The line that the next drag draws for a tool, null if none is left to draw. */
  nextKind(tool) {
    if (this.begun) return this.begun.kind;
    if (tool === "ruler") return "ruler";
    const kinds = /** @type {SegmentKind[]} */ (["heart", "thorax"]);
    return kinds.find((kind) => !this.segments.some((segment) => segment.kind === kind)) ?? null;
  }

  /** Start a line at an image point. `axis` restricts the widths to one axis of the image. */
  begin(kind, point, axis) {
    this.dropBegun();
    /** @type {Segment} */
    const segment = {
      kind,
      axis: kind === "ruler" ? null : axis,
      ends: [point, [point[0], point[1]]],
    };
    this.segments.push(segment);
    this.#build();
    return { segment, end: 1 };
  }

  /** An end was pressed: the first starts a line, the second ends it. */
  press(kind, point, axis, projection) {
    const { begun } = this;
    if (begun) {
      this.begun = null;
      this.#build();
      this.move(begun, 1, point);
      this.finish(begun, projection);
    } else {
      this.begun = this.begin(kind, point, axis).segment;
      this.#build();
      this.on.changed();
    }
  }

  /** Remove a line with only its first end placed. */
  dropBegun() {
    const { begun } = this;
    this.begun = null;
    if (begun) this.remove(begun);
  }

  /** Put a line where the keyboard can move it. */
  placeDefault(kind, axis) {
    const { width, height } = this.header;
    const [low, high, level] = kind === "thorax" ? [0.15, 0.85, 0.62] : [0.38, 0.62, 0.55];
    /** @returns {Point} */
    const at = (share) =>
      axis === "y" ? [width * level, height * share] : [width * share, height * level];
    const { segment } = this.begin(kind, at(low), axis);
    segment.ends[1] = at(high);
    this.on.changed();
    this.drawn.at(-1).handles[0].focus();
  }

  /** Move an end; a width keeps both ends on one level. */
  move(segment, end, point) {
    this.touched = segment;
    segment.ends[end] = this.#inside(point);
    if (segment.axis) {
      const level = segment.axis === "x" ? 1 : 0;
      segment.ends[1 - end][level] = segment.ends[end][level];
    }
    this.on.changed();
  }

  /** @returns {Point} */
  #inside([x, y]) {
    const within = (value, limit) => Math.min(Math.max(value, 0), limit);
    return [within(x, this.header.width), within(y, this.header.height)];
  }

  /** End of a drag: a line that is too short is removed. */
  finish(segment, projection) {
    const [a, b] = segment.ends.map(([x, y]) => projection.toScreen(x, y));
    if (Math.hypot(a[0] - b[0], a[1] - b[1]) < SHORTEST_PX) this.remove(segment);
    else {
      this.on.changed();
      this.on.drawn();
    }
  }

  remove(segment) {
    const place = this.segments.indexOf(segment);
    if (place >= 0) this.segments.splice(place, 1);
    this.#build();
    this.on.changed();
  }

  /** The segment and end of the handle of an event. */
  handleOf(target) {
    for (const entry of this.drawn) {
      const end = entry.handles.indexOf(target.closest?.(".handle"));
      if (end >= 0) return { segment: entry.segment, end };
    }
    return null;
  }

  /** Heart, thorax and ratio once both widths exist, else null. */
  ratio() {
    const heart = this.segments.find((segment) => segment.kind === "heart");
    const thorax = this.segments.find((segment) => segment.kind === "thorax");
    if (!heart || !thorax) return null;
    const along = thorax.axis === "y" ? 1 : 0;
    const span = (segment) => ({ from: segment.ends[0][along], to: segment.ends[1][along] });
    return cardiothoracic(this.header, thorax.axis, span(heart), span(thorax));
  }

  #build() {
    this.drawn = this.segments.map((segment) => this.entry(segment));
    this.node.replaceChildren(...this.drawn.map((entry) => entry.node));
  }

  entry(/** @type {Segment} */ segment) {
    const halo = svg("line", { class: "halo" });
    const line = svg("line", { class: "line" });
    const plate = svg("rect", { class: "plate", height: LABEL_PX, rx: 2 });
    const text = svg("text", { class: "length" });
    const handles = [0, 1].map((end) =>
      svg(
        "g",
        {
          class: "handle",
          tabindex: "0",
          role: "slider",
          "aria-label": tr("{line}, end {n}", { line: NAMES[segment.kind], n: end + 1 }),
          onkeydown: (event) => this.#key(event, segment, end),
        },
        svg("circle", { class: "catch", r: 16 }),
        svg("circle", { class: "ring", r: 6.5 }),
        svg("circle", { class: "knob", r: 4.5 }),
      ),
    );
    const node = svg(
      "g",
      { class: `measure ${segment.kind}${segment === this.begun ? " begun" : ""}` },
      halo,
      line,
      plate,
      text,
      ...handles,
    );
    return { segment, node, halo, line, plate, text, handles };
  }

  #key(event, segment, end) {
    if (event.key === "Delete" || event.key === "Backspace") this.remove(segment);
    else if (event.key.startsWith("Arrow")) {
      const step = event.shiftKey ? LONG_STEP : STEP;
      this.move(segment, end, this.stepped(segment.ends[end], event.key, step));
    } else return;
    event.preventDefault();
    event.stopPropagation();
  }

  /** The image point one screen direction further, whatever the orientation. */
  stepped([x, y], key, step) {
    const [dx, dy] = {
      ArrowLeft: [-1, 0],
      ArrowRight: [1, 0],
      ArrowUp: [0, -1],
      ArrowDown: [0, 1],
    }[key];
    const [a, b, c, d] = this.projection.matrix;
    return Math.abs(a) < Math.abs(b)
      ? [x + Math.sign(b) * dy * step, y + Math.sign(c) * dx * step]
      : [x + Math.sign(a) * dx * step, y + Math.sign(d) * dy * step];
  }

  /** Put every line in its place on the image, and its label where it covers nothing `found`. */
  place(projection, found) {
    this.projection = projection;
    for (const entry of this.drawn) {
      const ends = entry.segment.ends.map(([x, y]) => projection.toScreen(x, y));
      const [[x1, y1], [x2, y2]] = ends;
      for (const part of [entry.halo, entry.line]) set(part, { x1, y1, x2, y2 });
      const words = this.#words(entry.segment);
      const value = distance(this.header, ...entry.segment.ends).value;
      entry.handles.forEach((handle, end) => {
        const transform = `translate(${ends[end].join(" ")})`;
        set(handle, { transform, "aria-valuenow": value.toFixed(1), "aria-valuetext": words });
      });
      const width = widthOf(entry, words);
      const places = labelPlaces(ends, width, projection.port);
      const [x, y] = freest(places, { width, height: LABEL_PX }, found, projection);
      set(entry.plate, { x, y, width });
      set(entry.text, { x: x + width / 2, y: y + LABEL_PX - 4.5 });
    }
  }

  #words(/** @type {Segment} */ segment) {
    const length = lengthText(distance(this.header, ...segment.ends));
    if (segment.kind === "ruler") return length;
    return segment.kind === "heart"
      ? tr("Heart {length}", { length })
      : tr("Thorax {length}", { length });
  }
}

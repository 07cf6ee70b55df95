// One view in its place: its image, boxes, measurements and text, and its actions.

import { html, set, svg } from "../../../web/components/dom.js";
import { tr } from "../../../web/components/words.js";
import { BoxFocus } from "../boxes/box_focus.js";
import { BoxLayer } from "../boxes/box_layer.js";
import { inBackground } from "../image/background.js";
import { extents, Projection } from "../image/geometry.js";
import { acrossAxis } from "../image/orientation.js";
import { Painter } from "../image/painter.js";
import { pixelStore } from "../image/pixels.js";
import { withGiven } from "../measure/lengths.js";
import { MeasureLayer } from "../measure/measure_layer.js";
import { Annotations, Notice } from "./annotations.js";
import { Drags } from "./drags.js";
import { Gestures } from "./gestures.js";

/** @import { Raster, View } from "../types.d.ts" */
/** @import { Viewer } from "../viewer.js" */

const SLOW_MS = 150; // a shorter wait needs no message
const PAPER_WIDTH = 660; // CSS pixels that fit between the margins of A4 and Letter
const ZOOMED = 1.001; // above: the image is larger than fitted

export class Pane {
  constructor(/** @type {Viewer} */ viewer) {
    this.viewer = viewer;
    /** @type {View} */
    this.view = null;
    /** @type {Raster} */
    this.raster = null;
    this.focus = new BoxFocus(this);
    this.words = new Annotations((orientation) => this.orient(orientation));
    this.canvas = html("canvas", { "aria-hidden": "true" });
    this.overlay = svg("svg", { class: "overlay" });
    this.notice = new Notice();
    this.stage = html(
      "div",
      { class: "stage" },
      this.canvas,
      this.overlay,
      this.notice.node,
      this.focus.tip.node,
    );
    const [before, after] = this.words.gutters; // text is next to the image, never on it
    this.node = html(
      "div",
      { class: "pane", tabindex: "0", role: "group" },
      this.words.band,
      html("div", { class: "film" }, before, this.stage, after),
      this.words.foot,
    );
    this.painter = new Painter(this.canvas);
    this.drags = new Drags(this);
    this.boxes = new BoxLayer(this.overlay, {
      focus: (entry) => this.focus.focus(entry),
      blur: () => this.focus.blur(),
    });
    this.measures = new MeasureLayer(this.overlay, {
      changed: () => this.viewer.changed(),
      drawn: () => this.viewer.measureBar.drawn(),
    });
    this.gestures = new Gestures(this.stage, {
      press: (event, x, y) => this.drags.begin(event, x, y),
      hover: (x, y) => this.#hover(x, y),
      click: (x, y) => this.#click(x, y),
      doubleClick: (x, y) => this.#doubleClick(x, y),
      zoom: (factor, x, y) => this.zoomAt(factor, x, y),
      pan: (dx, dy) => this.pan(dx, dy),
      scrollsPage: () => this.drags.scrollsPage(),
    });
    this.node.addEventListener("focusin", () => this.viewer.activate(this));
    this.node.addEventListener("pointerdown", () => this.viewer.activate(this), true);
    this.observer = new ResizeObserver(() => this.viewer.repaint(this));
    this.observer.observe(this.stage);
  }

  close() {
    this.observer.disconnect();
    this.node.remove();
  }

  // --- content ---------------------------------------------------------------------------------

  /** Show a view; a loaded image appears in the next frame. */
  open(view) {
    const same = this.view?.id === view.id && this.view.key === view.key;
    this.view = view;
    this.node.dataset.view = view.id;
    this.node.classList.toggle("prior", view.prior);
    if (!same || !this.raster) {
      this.raster = null;
      this.#leaveBoxes();
      this.measures.close();
      this.painter.clear();
      if (view.error) this.fail(view.error);
      else this.#load(view);
    } else {
      this.viewer.state.initWindow(view.id, this.raster.header); // two cases may share an image
    }
    this.#describe();
  }

  #describe() {
    this.words.describe(this.view, this.raster?.header ?? null, this.stored);
    const { left } = this.stored;
    const view = this.view.title;
    const R = tr("{view}, the patient's right is stored on the left", { view });
    const L = tr("{view}, the patient's left is stored on the left", { view });
    set(this.node, { "aria-label": { R, L }[left] ?? view });
  }

  #load(view) {
    const held = pixelStore.loaded(view.key);
    if (held) {
      this.#take(held);
      return;
    }
    const current = () => this.view.key === view.key && !this.raster;
    this.notice.tell(null);
    this.node.dataset.state = "loading";
    const slow = setTimeout(() => current() && this.notice.tell(tr("Loading…")), SLOW_MS);
    pixelStore
      .load(view.key, view.url)
      .then(
        (raster) => current() && this.#take(raster),
        (error) => current() && this.#refused(error),
      )
      .finally(() => clearTimeout(slow));
  }

  #take(raster) {
    this.raster = raster;
    this.node.dataset.state = "ready";
    this.notice.tell(null);
    this.viewer.state.initWindow(this.view.id, raster.header);
    this.measures.open(this.view.key, withGiven(raster.header, this.view.pixel_mm));
    this.refreshBoxes();
    this.#describe();
    this.viewer.loaded();
  }

  #refused(error) {
    if (error.stale && this.viewer.renewLinks()) return; // new links have been requested
    this.fail(error.message, () => this.#load(this.view));
  }

  /** Show why there is no image, in its place. */
  fail(reason, retry = null) {
    this.node.dataset.state = "broken";
    this.notice.fail(reason, retry);
    this.boxes.fill([], null);
    this.viewer.loaded();
  }

  /** Whether loading has ended. */
  get isLoaded() {
    return this.raster !== null || this.node.dataset.state === "broken";
  }

  refreshBoxes() {
    this.boxes.fill(this.raster ? this.viewer.groups.list : [], this.view.id);
    this.showGroups();
  }

  showGroups() {
    this.boxes.show((id) => this.viewer.groups.isShown(id));
    this.viewer.repaint(this); // tags make room for those that are shown
    this.focus.check();
  }

  // --- drawing ---------------------------------------------------------------------------------

  get look() {
    return this.viewer.state.look(this.view.id);
  }

  get port() {
    return { width: this.stage.clientWidth, height: this.stage.clientHeight };
  }

  /** The case's data on the edges of the image, else the file's. */
  get stored() {
    const { orientation } = this.view;
    const own = this.raster?.header.orientation;
    if (orientation.known || !own?.source) return orientation;
    const [left, right] = this.view.flipped ? [own.right, own.left] : [own.left, own.right];
    return { ...own, left, right, known: true };
  }

  /** Width by height of the image as it is turned; square until known. */
  get shownRatio() {
    if (!this.raster) return 1;
    const [across, down] = extents(this.raster.header, this.look.pose.orientation);
    return across / down;
  }

  get isZoomed() {
    return this.look.pose.zoom > ZOOMED;
  }

  get acrossAxis() {
    return acrossAxis(this.stored, this.look.pose.orientation);
  }

  projection() {
    return new Projection(this.raster.header, this.port, this.look.pose);
  }

  /** Draw everything; called at most once a frame. */
  paint() {
    const { look, port, raster, words, view } = this;
    const turned = raster ? look.pose.orientation : 0;
    this.node.classList.toggle("doubtful", words.orientation(view, this.stored, turned));
    if (port.width === 0 || port.height === 0) return;
    // nothing is redrawn for paper: the image keeps its size there, or shrinks as a whole
    this.stage.style.setProperty("--drawn-width", `${port.width}px`);
    this.stage.style.setProperty("--drawn-height", `${port.height}px`);
    this.stage.style.setProperty("--print-zoom", String(Math.min(1, PAPER_WIDTH / port.width)));
    const ratio = window.devicePixelRatio || 1;
    this.painter.resize(port, ratio);
    if (!raster) {
      this.painter.clear();
      return;
    }
    const projection = this.projection();
    this.current = projection;
    this.painter.paint(raster, projection, look.window, look.inverted, ratio);
    const labelled = this.boxes.entries.length > 0 || !this.measures.isEmpty;
    const found = labelled ? inBackground.foundIn(raster, () => this.viewer.repaint(this)) : null;
    this.boxes.place(projection, this.viewer.state.habits.labels, found);
    this.measures.place(projection, found);
    words.read({ look, percent: Math.round(projection.scale * ratio * 100) });
    this.stage.style.touchAction = this.drags.scrollsPage() ? "pan-y" : "none";
    this.stage.dataset.tool = this.viewer.tool;
    this.focus.tip.place(this.port);
  }

  // --- actions of the reader -------------------------------------------------------------------

  #setPose(pose) {
    this.viewer.state.setPose(this.view.id, pose);
    this.viewer.changed();
  }

  zoomAt(factor, x, y) {
    if (this.raster) this.#setPose(this.projection().zoomedAt(factor, x, y));
  }

  zoom(factor) {
    this.zoomAt(factor, this.port.width / 2, this.port.height / 2);
  }

  pan(dx, dy) {
    if (this.raster) this.#setPose(this.projection().panned(dx, dy));
  }

  fit() {
    if (this.raster) this.#setPose({ ...this.look.pose, zoom: 1, x: 0, y: 0 });
  }

  /** One image pixel to one pixel of the screen, at a point of the pane. */
  actualSize(x = this.port.width / 2, y = this.port.height / 2) {
    if (!this.raster) return;
    const projection = this.projection();
    const target = projection.zoomFor(1 / (window.devicePixelRatio || 1));
    this.#setPose(projection.zoomedAt(target / this.look.pose.zoom, x, y));
  }

  orient(orientation) {
    if (this.raster) this.#setPose(this.projection().oriented(orientation));
  }

  #hover(x, y) {
    const over = x !== null && this.raster !== null;
    this.words.value(this.raster, over ? this.current?.toImage(x, y) : null);
    this.focus.hover(over ? this.boxes.under(x, y) : null);
  }

  #click(x, y) {
    const entry = this.raster ? this.boxes.under(x, y) : null;
    (entry?.node ?? this.node).focus({ preventScroll: true });
  }

  #doubleClick(x, y) {
    if (!this.raster) return;
    if (this.isZoomed) this.fit();
    else this.actualSize(x, y);
  }

  /** Bring a box of the image into the pane. */
  reveal(box) {
    const pose = this.projection().revealing(box);
    if (pose !== this.look.pose) this.#setPose(pose);
  }

  #leaveBoxes() {
    this.boxes.fill([], null);
    this.focus.forget();
  }
}

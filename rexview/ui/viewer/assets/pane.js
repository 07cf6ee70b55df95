// One view in its place: its picture, boxes, measurements and words, and what is done to it.

import { Annotations } from "./annotations.js";
import { BoxLayer } from "./boxes.js";
import { html, set, svg } from "./dom.js";
import { Drags } from "./drags.js";
import { Projection } from "./geometry.js";
import { Gestures } from "./gestures.js";
import { icon } from "./icons.js";
import { MeasureLayer } from "./measure.js";
import { Painter } from "./painter.js";
import { pixelStore } from "./pixels.js";
import { Tip } from "./tip.js";

const SLOW_MS = 150; // only then is waiting worth a word
const PAN_KEY_PX = 60;
const PAPER_WIDTH = 660; // CSS pixels that fit between the margins of A4 and Letter
const ZOOMED = 1.001; // above: the picture is larger than fitted

export class Pane {
  /** @param {object} viewer what the pane tells and asks: see viewer.js */
  constructor(viewer) {
    this.viewer = viewer;
    this.view = null;
    this.raster = null;
    this.hovered = null;
    this.focused = null;
    this.tip = new Tip();
    this.words = new Annotations((orientation) => this.orient(orientation));
    this.#build();
  }

  #build() {
    this.canvas = html("canvas", { "aria-hidden": "true" });
    this.overlay = svg("svg", { class: "overlay" });
    this.notice = html("div", { class: "notice" });
    this.stage = html(
      "div",
      { class: "stage" },
      this.canvas,
      this.overlay,
      ...this.words.nodes,
      this.notice,
      this.tip.node,
    );
    this.node = html(
      "div",
      { class: "pane", tabindex: "0", role: "group" },
      this.words.band,
      this.stage,
    );
    this.painter = new Painter(this.canvas);
    this.drags = new Drags(this);
    this.boxes = new BoxLayer(this.overlay, {
      focus: (entry) => this.#focusBox(entry),
      blur: () => this.#blurBox(),
    });
    this.measures = new MeasureLayer(this.overlay, { changed: () => this.viewer.changed() });
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

  destroy() {
    this.observer.disconnect();
    this.node.remove();
  }

  // --- what it shows ---------------------------------------------------------------------------

  /** Show a view; an image that is here already appears with the next frame. */
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
      this.viewer.state.settle(view.id, this.raster.header); // two cases may share an image
    }
    this.#describe();
  }

  #describe() {
    this.words.describe(this.view, this.raster?.header ?? null, this.stored);
    const { left } = this.stored;
    const side = { R: "right", L: "left" }[left];
    const spoken = side ? `, the patient's ${side} is stored on the left` : "";
    set(this.node, { "aria-label": this.view.title + spoken });
  }

  #load(view) {
    const held = pixelStore.held(view.key);
    if (held) {
      this.#take(held);
      return;
    }
    const current = () => this.view.key === view.key && !this.raster;
    this.#tell(null);
    this.node.dataset.state = "loading";
    const slow = setTimeout(() => current() && this.#tell("Loading…"), SLOW_MS);
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
    this.#tell(null);
    this.viewer.state.settle(this.view.id, raster.header);
    this.measures.open(this.view.key, raster.header);
    this.refreshBoxes();
    this.#describe();
    this.viewer.loaded();
  }

  #refused(error) {
    if (error.stale && this.viewer.renewLinks()) return; // new links are on their way
    this.fail(error.message, () => this.#load(this.view));
  }

  /** Show why there is no picture, in its place. */
  fail(reason, retry = null) {
    this.node.dataset.state = "broken";
    this.notice.replaceChildren(
      icon("broken"),
      html("strong", {}, "This image cannot be shown"),
      html("p", {}, reason),
      ...(retry ? [html("button", { type: "button", onclick: retry }, "Try again")] : []),
    );
    this.notice.hidden = false;
    this.boxes.fill([], null);
    this.viewer.loaded();
  }

  #tell(words) {
    this.notice.replaceChildren(...(words ? [html("p", {}, words)] : []));
    this.notice.hidden = !words;
  }

  /** Whether there is nothing more to wait for. */
  get settled() {
    return this.raster !== null || this.node.dataset.state === "broken";
  }

  refreshBoxes() {
    this.boxes.fill(this.raster ? this.viewer.groups.list : [], this.view.id);
    this.showGroups();
  }

  showGroups() {
    this.boxes.show((id) => this.viewer.groups.isShown(id));
    if (this.hovered && !this.hovered.shown) this.#hover(null);
    if (this.tip.entry && !this.tip.entry.shown) this.tip.hide();
  }

  // --- drawing ---------------------------------------------------------------------------------

  get look() {
    return this.viewer.state.look(this.view.id);
  }

  get port() {
    return { width: this.stage.clientWidth, height: this.stage.clientHeight };
  }

  /** What the case says about the edges of the image, else what the file says. */
  get stored() {
    const { orientation } = this.view;
    const own = this.raster?.header.orientation;
    return orientation.known || !own?.source ? orientation : { ...own, known: true };
  }

  get isZoomed() {
    return this.look.pose.zoom > ZOOMED;
  }

  /** The axis of the stored image that runs across the patient; if unknown, across the screen. */
  get acrossAxis() {
    const { left, top } = this.stored;
    if (["R", "L"].includes(left)) return "x";
    if (["R", "L"].includes(top)) return "y";
    return this.look.pose.orientation & 1 ? "y" : "x";
  }

  projection() {
    return new Projection(this.raster.header, this.port, this.look.pose);
  }

  /** Draw everything; called once a frame at most. */
  paint() {
    const { look, port, raster, words, view } = this;
    const turned = raster ? look.pose.orientation : 0;
    this.stage.classList.toggle("doubtful", words.orientation(view, this.stored, turned));
    if (port.width === 0 || port.height === 0) return;
    // nothing is drawn anew for paper: there the picture keeps its size, or shrinks as a whole
    this.stage.style.setProperty("--drawn-width", `${port.width}px`);
    this.stage.style.setProperty("--drawn-height", `${port.height}px`);
    this.stage.style.setProperty("--print-zoom", Math.min(1, PAPER_WIDTH / port.width));
    const ratio = window.devicePixelRatio || 1;
    this.painter.resize(port, ratio);
    if (!raster) {
      this.painter.clear();
      return;
    }
    const projection = this.projection();
    this.current = projection;
    this.painter.paint(raster, projection, look.window, look.inverted, ratio);
    this.boxes.place(projection, this.viewer.state.habits.labels);
    this.measures.place(projection);
    words.placeEdges(projection);
    words.read({
      view,
      look,
      header: raster.header,
      percent: Math.round(projection.scale * ratio * 100),
      ratio: this.measures.ratio(),
      measuring: !this.measures.isEmpty,
    });
    this.stage.style.touchAction = this.drags.scrollsPage() ? "pan-y" : "none";
    this.stage.dataset.tool = this.viewer.tool;
    words.advise(this === this.viewer.activePane ? this.viewer.tools.hint : "");
    this.tip.place(this.port);
  }

  // --- what the reader does --------------------------------------------------------------------

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

  panByKey(dx, dy) {
    this.pan(-dx * PAN_KEY_PX, -dy * PAN_KEY_PX);
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
    const entry = over ? this.boxes.under(x, y) : null;
    if (entry === this.hovered) return;
    this.hovered = entry;
    const told = entry ?? this.focused;
    this.viewer.groups.light(told ? [told.box] : null);
    if (told) this.tip.show(told, this.port);
    else this.tip.hide();
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

  #focusBox(entry) {
    this.focused = entry;
    const pose = this.projection().revealing(entry.box);
    if (pose !== this.look.pose) this.#setPose(pose);
    this.viewer.groups.light([entry.box]);
    this.tip.show(entry, this.port);
  }

  #blurBox() {
    this.focused = null;
    this.viewer.groups.light(null);
    this.tip.hide();
  }

  #leaveBoxes() {
    this.boxes.fill([], null);
    this.hovered = null;
    this.focused = null;
    this.tip.hide();
  }
}

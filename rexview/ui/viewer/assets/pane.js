// One view in its place: picture, boxes, measurements, side letters, notices.

import { BoxLayer, score } from "./boxes.js";
import { lengthNote } from "./distance.js";
import { html, set, svg } from "./dom.js";
import { Projection } from "./geometry.js";
import { Gestures } from "./gestures.js";
import { icon } from "./icons.js";
import { MeasureLayer } from "./measure.js";
import { advice, shownEdges } from "./orientation.js";
import { Painter } from "./painter.js";
import { pixelStore } from "./pixels.js";

const SLOW_MS = 150; // only then is waiting worth a word
const WINDOW_DRAG_PX = 380; // a drag of so many pixels changes by one width
const PAN_KEY_PX = 60;

export class Pane {
  /** @param {object} viewer what the pane tells and asks: see viewer.js */
  constructor(viewer) {
    this.viewer = viewer;
    this.view = null;
    this.raster = null;
    this.hovered = null;
    this.focused = null;
    this.#build();
  }

  #build() {
    this.canvas = html("canvas", { "aria-hidden": "true" });
    this.overlay = svg("svg", { class: "overlay", role: "group", "aria-label": "Boxes and measurements" });
    this.edges = Object.fromEntries(
      ["left", "right", "top", "bottom"].map((edge) => [
        edge,
        html("span", { class: `edge ${edge}`, "aria-hidden": "true" }),
      ]),
    );
    this.title = html("span", { class: "title" });
    this.details = html("span", { class: "details" });
    this.readout = html("div", { class: "readout" });
    this.probe = html("div", { class: "probe" });
    this.band = html("div", { class: "band", role: "status" });
    this.notice = html("div", { class: "notice" });
    this.tip = html("div", { class: "tip", role: "tooltip" });
    this.stage = html(
      "div",
      { class: "stage" },
      this.canvas,
      this.overlay,
      ...Object.values(this.edges),
      html("div", { class: "head" }, this.title, this.details),
      this.readout,
      this.probe,
      this.notice,
      this.tip,
    );
    this.node = html("div", { class: "pane", tabindex: "0", role: "group" }, this.band, this.stage);
    this.painter = new Painter(this.canvas);
    this.boxes = new BoxLayer(this.overlay, {
      focus: (entry) => this.#focusBox(entry),
      blur: (entry) => this.#blurBox(entry),
    });
    this.measures = new MeasureLayer(this.overlay, { changed: () => this.viewer.repaint(this) });
    this.gestures = new Gestures(this.stage, {
      press: (event, x, y) => this.#press(event, x, y),
      hover: (x, y) => this.#hover(x, y),
      click: (x, y) => this.#click(x, y),
      doubleClick: (x, y) => this.#doubleClick(x, y),
      zoom: (factor, x, y) => this.zoomAt(factor, x, y),
      pan: (dx, dy) => this.pan(dx, dy),
      scrollsPage: () => this.#scrollsPage(),
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
    set(this.node, { "aria-label": `${view.title}. ${this.#spokenOrientation()}`.trim() });
    this.title.textContent = view.title;
    this.node.classList.toggle("prior", view.prior);
    if (same && this.raster) {
      this.viewer.repaint(this);
      return;
    }
    this.raster = null;
    this.measures.close();
    this.painter.clear();
    this.details.textContent = "";
    this.#hideTip();
    if (view.error) this.fail(view.error);
    else this.#load(view);
  }

  #load(view) {
    const held = pixelStore.held(view.key);
    if (held) {
      this.#take(view, held);
      return;
    }
    this.#tell(null);
    this.node.dataset.state = "loading";
    const slow = setTimeout(() => {
      if (this.view === view && !this.raster) this.#tell("Loading…");
    }, SLOW_MS);
    pixelStore
      .load(view.key, view.url)
      .then(
        (raster) => this.view?.key === view.key && this.#take(this.view, raster),
        (error) => {
          if (this.view?.key !== view.key) return;
          if (error.stale && this.viewer.renewLinks()) return;
          this.fail(error.message, true);
        },
      )
      .finally(() => clearTimeout(slow));
  }

  #take(view, raster) {
    this.raster = raster;
    this.node.dataset.state = "ready";
    this.#tell(null);
    this.viewer.state.settle(view.id, raster.header);
    this.measures.open(view.key, raster.header);
    const { width, height, bits } = raster.header;
    this.details.textContent = `${width} × ${height} · ${bits} bit`;
    this.refreshBoxes();
    this.viewer.repaint(this);
    this.viewer.loaded(this);
  }

  /** Show why there is no picture, in its place. */
  fail(reason, again = false) {
    this.raster = null;
    this.node.dataset.state = "broken";
    const retry = again
      ? html("button", { type: "button", onclick: () => this.#load(this.view) }, "Try again")
      : null;
    this.notice.replaceChildren(
      icon("broken"),
      html("strong", {}, "This image cannot be shown"),
      html("p", {}, reason),
      ...(retry ? [retry] : []),
    );
    this.notice.hidden = false;
    this.painter.clear();
    this.boxes.fill([], null);
    this.viewer.repaint(this);
  }

  #tell(words) {
    this.notice.replaceChildren(...(words ? [html("p", {}, words)] : []));
    this.notice.hidden = !words;
  }

  refreshBoxes() {
    this.boxes.fill(this.raster ? this.viewer.groups : [], this.view.id);
    this.showGroups();
  }

  showGroups() {
    const shown = new Set(
      this.viewer.groups.filter((group) => this.viewer.state.groupShown(group)).map(({ id }) => id),
    );
    this.boxes.show((id) => shown.has(id));
    if (this.hovered && !this.hovered.shown) this.#hover(null);
    if (this.focused && !this.focused.shown) this.#hideTip();
  }

  // --- drawing ---------------------------------------------------------------------------------

  get image() {
    const { width, height, aspect } = this.raster.header;
    return { width, height, aspect };
  }

  get look() {
    return this.viewer.state.look(this.view.id);
  }

  get port() {
    return { width: this.stage.clientWidth, height: this.stage.clientHeight };
  }

  projection() {
    return new Projection(this.image, this.port, this.look.pose);
  }

  /** Draw everything; called once a frame at most. Returns whether a picture was drawn. */
  paint() {
    const ratio = window.devicePixelRatio || 1;
    const { port } = this;
    if (port.width === 0 || port.height === 0) return false;
    this.painter.resize(port, ratio);
    this.#paintOrientation();
    if (!this.raster) {
      this.painter.clear();
      this.readout.textContent = "";
      return false;
    }
    const projection = this.projection();
    this.current = projection;
    const { look } = this;
    this.painter.paint(this.raster, projection, look.window, look.inverted, ratio);
    this.boxes.place(projection, this.viewer.state.habits.labels);
    this.measures.place(projection);
    this.#paintReadout(projection, ratio);
    this.stage.style.touchAction = this.#scrollsPage() ? "pan-y" : "none";
    this.stage.dataset.tool = this.viewer.tool;
    if (this.tipEntry) this.#placeTip();
    return true;
  }

  #paintOrientation() {
    const { orientation } = this.view;
    const turned = this.raster ? this.look.pose.orientation : 0;
    const edges = shownEdges(orientation, turned);
    const says = advice(orientation, turned);
    for (const [edge, node] of Object.entries(this.edges)) node.textContent = edges[edge] ?? "";
    this.stage.classList.toggle("doubtful", Boolean(says?.warn));
    const shown = says && !this.view.error ? says : null;
    const words = shown?.text ?? "";
    if (words === this.bandText) return;
    this.bandText = words;
    this.band.hidden = !shown;
    this.band.classList.toggle("warn", Boolean(shown?.warn));
    this.band.replaceChildren();
    if (!shown) return;
    this.band.append(icon("warning"), html("span", {}, shown.text));
    if (shown.action) {
      const act = () => this.orient(shown.orientation);
      this.band.append(html("button", { type: "button", onclick: act }, shown.action));
    }
  }

  #spokenOrientation() {
    const { left, right } = this.view.orientation;
    const words = { R: "right", L: "left" };
    return words[left]
      ? `The patient's ${words[left]} is stored on the left, ${words[right]} on the right.`
      : "";
  }

  #paintReadout(projection, ratio) {
    const { window } = this.look;
    const zoom = `${Math.round(projection.scale * ratio * 100)} %`;
    const words = window ? [`W ${figure(window.width)}`, `L ${figure(window.centre)}`, zoom] : [zoom];
    if (this.look.inverted) words.push("inverted");
    const lines = [html("div", {}, words.join("  "))];
    const result = this.measures.ratio();
    if (result?.ratio) {
      const caution = this.view.word === "AP" ? " (AP: the heart looks larger)" : "";
      lines.unshift(html("div", { class: "result" }, `CTR ${result.ratio.toFixed(2)}${caution}`));
    }
    if (!this.measures.isEmpty) {
      lines.splice(-1, 0, html("div", { class: "note" }, lengthNote(this.raster.header)));
    }
    this.readout.replaceChildren(...lines);
  }

  // --- what the reader does --------------------------------------------------------------------

  #scrollsPage() {
    return this.viewer.tool === "pan" && this.raster !== null && this.look.pose.zoom <= 1.001;
  }

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

  actualSize(x = this.port.width / 2, y = this.port.height / 2) {
    if (!this.raster) return;
    const projection = this.projection();
    const target = projection.zoomFor(1 / (window.devicePixelRatio || 1));
    this.#setPose(projection.zoomedAt(target / this.look.pose.zoom, x, y));
  }

  orient(orientation) {
    if (this.raster) this.#setPose(this.projection().oriented(orientation));
  }

  #press(event, x, y) {
    const panning = { move: (_x, _y, dx, dy) => this.pan(dx, dy), end: () => undefined };
    if (!this.raster) return null;
    const handle = this.measures.handleOf(event.target);
    if (handle) return this.#dragEnd(handle, false);
    const secondary = event.pointerType === "mouse" && event.button !== 0;
    const { tool } = this.viewer;
    if (secondary || event.shiftKey || tool === "pan") return this.#scrollsPage() && event.pointerType === "touch" ? null : panning;
    if (tool === "window") {
      return {
        move: (_x, _y, dx, dy) => this.viewer.adjustWindow(this, dx, dy, WINDOW_DRAG_PX),
        end: () => undefined,
      };
    }
    const kind = this.measures.nextKind(tool);
    if (!kind) return panning;
    let drag = null;
    return {
      move: (toX, toY) => {
        if (!drag) {
          const start = this.current.toImage(x, y);
          drag = this.#dragEnd(this.measures.begin(kind, start, this.acrossAxis()), true);
        }
        drag.move(toX, toY);
      },
      end: (cancelled) => drag?.end(cancelled),
    };
  }

  #dragEnd({ mark, end }, fresh) {
    return {
      move: (x, y) => this.measures.move(mark, end, this.current.toImage(x, y)),
      end: (cancelled) => {
        if (!fresh) return;
        if (cancelled) this.measures.remove(mark);
        else this.measures.finish(mark, this.current);
        this.viewer.changed();
      },
    };
  }

  /** The axis of the stored image that runs across the patient; if unknown, across the screen. */
  acrossAxis() {
    const { left, top } = this.view.orientation;
    if (["R", "L"].includes(left)) return "x";
    if (["R", "L"].includes(top)) return "y";
    return this.look.pose.orientation & 1 ? "y" : "x";
  }

  #hover(x, y) {
    const entry = x === null || !this.raster ? null : this.boxes.under(x, y);
    if (this.raster && x !== null) this.#probe(x, y);
    else this.probe.textContent = "";
    if (entry === this.hovered) return;
    this.hovered = entry;
    this.viewer.light(entry ? [entry.box] : null, "hover");
    if (entry) this.#showTip(entry);
    else if (this.focused) this.#showTip(this.focused);
    else this.#hideTip();
  }

  #probe(x, y) {
    const [column, row] = this.current?.toImage(x, y).map(Math.floor) ?? [-1, -1];
    const { width, height, scale, offset } = this.raster.header;
    const inside = column >= 0 && row >= 0 && column < width && row < height;
    if (!inside || this.raster.colour) {
      this.probe.textContent = "";
      return;
    }
    const value = this.raster.levels[0].codes[row * width + column] * scale + offset;
    this.probe.textContent = `${column}, ${row}: ${figure(value)}`;
  }

  #click(x, y) {
    const entry = this.raster ? this.boxes.under(x, y) : null;
    if (entry) entry.node.focus({ preventScroll: true });
    else this.node.focus({ preventScroll: true });
  }

  #doubleClick(x, y) {
    if (this.look.pose.zoom > 1.001) this.fit();
    else this.actualSize(x, y);
  }

  // --- the words beside a box ------------------------------------------------------------------

  #focusBox(entry) {
    this.focused = entry;
    if (this.raster) {
      const pose = this.projection().revealing(entry.box);
      if (pose !== this.look.pose) this.#setPose(pose);
    }
    this.viewer.light([entry.box], "focus");
    this.#showTip(entry);
  }

  #blurBox() {
    this.focused = null;
    this.viewer.light(null, "focus");
    this.#hideTip();
  }

  #showTip(entry) {
    this.tipEntry = entry;
    const { group, box } = entry;
    const rows = [
      html("strong", {}, box.label || "No label"),
      html("span", { class: "who", style: { "--c": group.colour } }, group.name),
    ];
    const where = [box.side, box.place].filter(Boolean).join(", ");
    if (where) rows.push(html("span", {}, where));
    if (box.score !== null && box.score !== undefined) {
      rows.push(html("span", {}, `Score ${score(box.score)}`));
    }
    if (box.note) rows.push(html("span", { class: "remark" }, icon("warning"), box.note));
    this.tip.replaceChildren(...rows);
    this.tip.hidden = false;
    this.#placeTip();
  }

  #placeTip() {
    const { rect } = this.tipEntry;
    if (!rect) return;
    const { width, height } = this.port;
    const size = { width: this.tip.offsetWidth, height: this.tip.offsetHeight };
    const right = rect.x + rect.width + 8;
    let x = right + size.width <= width ? right : rect.x - size.width - 8;
    x = Math.min(Math.max(x, 4), Math.max(4, width - size.width - 4));
    const y = Math.min(Math.max(rect.y, 4), Math.max(4, height - size.height - 4));
    this.tip.style.transform = `translate(${x}px, ${y}px)`;
  }

  #hideTip() {
    this.tipEntry = null;
    this.tip.hidden = true;
  }
}

/** A value with as many figures as matter. */
export function figure(value) {
  const size = Math.abs(value);
  if (size >= 20 || Number.isInteger(value)) return String(Math.round(value));
  return String(Number(value.toPrecision(3)));
}

// The box of a pane under the pointer or with the focus, and its tooltip: name, group and place.

import { html } from "../../../web/components/dom.js";
import { tr } from "../../../web/components/words.js";
import { icon } from "../controls/icons.js";
import { score } from "./box_layer.js";

/** @import { Pane } from "../pane/pane.js" */
/** @import { Size } from "../types.d.ts" */
/** @import { Entry } from "./box_layer.js" */

export class BoxFocus {
  constructor(/** @type {Pane} */ pane) {
    this.pane = pane;
    /** @type {Entry} */
    this.hovered = null;
    /** @type {Entry} */
    this.focused = null;
    this.tip = new Tip();
  }

  /** The pointer is over the entry of a box, or over none. */
  hover(entry) {
    if (entry === this.hovered) return;
    this.hovered = entry;
    const shown = entry ?? this.focused;
    this.pane.viewer.groups.light(shown ? [shown.box] : null);
    if (shown) this.tip.show(shown, this.pane.port);
    else this.tip.hide();
  }

  focus(entry) {
    this.focused = entry;
    this.pane.reveal(entry.box);
    this.pane.viewer.groups.light([entry.box]);
    this.tip.show(entry, this.pane.port);
  }

  blur() {
    this.focused = null;
    this.pane.viewer.groups.light(null);
    this.tip.hide();
  }

  /** Groups were shown or hidden: leave a box that no longer exists. */
  check() {
    if (this.hovered && !this.hovered.shown) this.hover(null);
    if (this.tip.entry && !this.tip.entry.shown) this.tip.hide();
  }

  /** The picture changes. */
  forget() {
    this.hovered = null;
    this.focused = null;
    this.tip.hide();
  }
}

const GAP_PX = 8;
const EDGE_PX = 4;

class Tip {
  constructor() {
    this.node = html("div", { class: "tip", "aria-hidden": "true", hidden: true });
    /** @type {Entry} */
    this.entry = null;
  }

  /** @param {Size} port the pane */
  show(/** @type {Entry} */ entry, port) {
    this.entry = entry;
    const { group, box } = entry;
    const where = [box.side, box.place].filter(Boolean).join(", ");
    const scored = box.score !== null && box.score !== undefined;
    this.node.replaceChildren(
      html("strong", {}, box.label || tr("No label")),
      html("span", { class: "who", style: { "--c": group.colour } }, group.name),
      ...(where ? [html("span", {}, where)] : []),
      ...(scored ? [html("span", {}, tr("Score {score}", { score: score(box.score) }))] : []),
      ...(box.note ? [html("span", { class: "remark" }, icon("warning"), box.note)] : []),
    );
    this.node.hidden = false;
    this.place(port);
  }

  /** Follow the box; stay within the pane. */
  place(port) {
    const rect = this.entry?.rect;
    if (!rect) return;
    const { offsetWidth, offsetHeight } = this.node;
    const within = (value, size, limit) =>
      Math.min(Math.max(value, EDGE_PX), Math.max(EDGE_PX, limit - size - EDGE_PX));
    const right = rect.x + rect.width + GAP_PX;
    const fits = right + offsetWidth <= port.width;
    const x = within(fits ? right : rect.x - offsetWidth - GAP_PX, offsetWidth, port.width);
    const y = within(rect.y, offsetHeight, port.height);
    this.node.style.transform = `translate(${x}px, ${y}px)`;
  }

  hide() {
    this.entry = null;
    this.node.hidden = true;
  }
}

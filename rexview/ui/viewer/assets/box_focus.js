// Which box of one pane is pointed at or focused, and the words beside it.

import { Tip } from "./tip.js";

export class BoxFocus {
  constructor(pane) {
    this.pane = pane;
    this.hovered = null;
    this.focused = null;
    this.tip = new Tip();
  }

  /** The pointer is over the entry of a box, or over none. */
  hover(entry) {
    if (entry === this.hovered) return;
    this.hovered = entry;
    const told = entry ?? this.focused;
    this.pane.viewer.groups.light(told ? [told.box] : null);
    if (told) this.tip.show(told, this.pane.port);
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

  /** Groups were shown or hidden: leave a box that is not there any more. */
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

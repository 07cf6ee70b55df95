// The words beside a box: what it is called, whose it is, where it lies.

import { score } from "./boxes.js";
import { html } from "./dom.js";
import { icon } from "./icons.js";

const GAP_PX = 8;
const EDGE_PX = 4;

export class Tip {
  constructor() {
    this.node = html("div", { class: "tip", "aria-hidden": "true", hidden: true });
    this.entry = null;
  }

  /** @param {object} entry of a BoxLayer; @param {object} port size of the pane */
  show(entry, port) {
    this.entry = entry;
    const { group, box } = entry;
    const where = [box.side, box.place].filter(Boolean).join(", ");
    const scored = box.score !== null && box.score !== undefined;
    this.node.replaceChildren(
      html("strong", {}, box.label || "No label"),
      html("span", { class: "who", style: { "--c": group.colour } }, group.name),
      ...(where ? [html("span", {}, where)] : []),
      ...(scored ? [html("span", {}, `Score ${score(box.score)}`)] : []),
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

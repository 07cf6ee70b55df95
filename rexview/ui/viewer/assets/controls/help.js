// The list of all keys, over the viewer.

import { button, html, rootOf } from "../../../components/dom.js";
import { icon } from "./icons.js";

/** @import { ViewerData } from "../types.d.ts" */

/** @type {[group: string, keys: [key: string, meaning: string][]][]} */
const KEY_LIST = [
  [
    "Boxes",
    [
      ["1 – 9", "boxes of a model"],
      ["r", "reference boxes"],
      ["0", "all boxes on or off"],
      ["l", "names on the boxes"],
      ["Tab", "from box to box"],
      ["pin", "beside the reference’s chip: shown from the start"],
    ],
  ],
  [
    "Picture",
    [
      ["drag", "brightness and contrast"],
      ["wheel, + −", "zoom"],
      ["right drag, arrows", "move"],
      ["Shift + arrows", "brightness and contrast"],
      ["f", "fit"],
      ["o", "1:1"],
      ["i", "invert"],
      ["w", "reset the window"],
      ["p", "next preset"],
      ["h", "mirror"],
      ["t", "turn"],
      ["n", "standard orientation"],
      ["x", "full screen"],
      ["q", "in full screen: question and answers"],
    ],
  ],
  [
    "Measure",
    [
      ["m", "ruler"],
      ["c", "cardiothoracic ratio"],
      ["z", "calibrate with a known length"],
      ["Enter", "place it by keyboard"],
      ["Delete", "remove the one in focus"],
      ["Esc", "put the tool away"],
    ],
  ],
  [
    "Views",
    [
      ["v", "next view"],
      ["s", "side by side"],
      ["y", "link the views"],
      ["b", "blink with the prior"],
      ["space", "flip current and prior"],
      [", .", "slower, faster"],
      ["Tab, then arrows", "on a divider: wider, narrower; Enter: as usual"],
    ],
  ],
  [
    "Case",
    [
      ["j", "next case"],
      ["k", "previous case"],
      ["g", "report"],
      ["?", "this list"],
    ],
  ],
];

const OF_SEVERAL = new Set(["1 – 9", "r", "pin"]); // where one group at a time is there

function section(name, keys) {
  const rows = keys.flatMap(([key, meaning]) => [
    html("dt", {}, html("kbd", {}, key)),
    html("dd", {}, meaning),
  ]);
  return html("section", {}, html("h3", {}, name), html("dl", {}, ...rows));
}

export class Help {
  constructor(onClose) {
    this.close = button(icon("close"), onClose, { class: "tool", "aria-label": "Close" });
    this.taken = html("p", { hidden: true });
    this.columns = html("div", { class: "columns" });
    this.node = html(
      "div",
      { class: "help", role: "dialog", "aria-label": "Keys", hidden: true },
      html("header", {}, html("h2", {}, "Keys"), this.close),
      this.taken,
      this.columns,
    );
  }

  /**
   * List the keys of a page: those that it needs itself, and those that do something here.
   *
   * @param {ViewerData} data
   */
  note({ takenKeys, pageKeys, oneGroup }) {
    this.taken.hidden = !takenKeys;
    this.taken.textContent = `On this page with Shift: ${[...(takenKeys ?? "")].join(" ")}`;
    const here = (/** @type {[string, string]} */ [key]) => !oneGroup || !OF_SEVERAL.has(key);
    const sections = KEY_LIST.map(([name, keys]) => section(name, keys.filter(here)));
    if (pageKeys?.length) sections.push(section("This page", pageKeys));
    this.columns.replaceChildren(...sections);
  }

  get open() {
    return !this.node.hidden;
  }

  toggle(open) {
    if (open === this.open) return;
    const before = /** @type {HTMLElement} */ (rootOf(this.node).activeElement);
    this.node.hidden = !open;
    if (open) {
      this.before = before;
      this.close.focus();
    } else this.before?.focus?.({ preventScroll: true });
  }
}

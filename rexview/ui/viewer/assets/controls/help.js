// The list of all keys, over the viewer.

import { button, focusedElement, html } from "../../../web/components/dom.js";
import { tr, trc } from "../../../web/components/words.js";
import { icon } from "./icons.js";

/** @import { ViewerData } from "../types.d.ts" */

const PIN = tr("pin");
/** @type {[group: string, keys: [key: string, meaning: string][]][]} */
const KEY_LIST = [
  [
    tr("Boxes"),
    [
      ["1 – 9", tr("boxes of a model")],
      ["r", tr("reference boxes")],
      ["0", tr("all boxes on or off")],
      ["l", tr("names on the boxes")],
      [tr("Tab"), tr("from box to box")],
      [PIN, tr("beside the reference’s chip: shown from the start")],
    ],
  ],
  [
    tr("Picture"),
    [
      [tr("drag"), tr("brightness and contrast")],
      [tr("wheel, + −"), tr("zoom")],
      [tr("right drag, arrows"), tr("move")],
      [tr("Shift + arrows"), tr("brightness and contrast")],
      ["f", tr("fit")],
      ["o", "1:1"],
      ["i", tr("invert")],
      ["w", tr("reset the window")],
      ["p", tr("next preset")],
      ["h", tr("mirror")],
      ["t", tr("turn")],
      ["n", tr("standard orientation")],
      ["x", tr("full screen")],
      ["q", tr("in full screen: question and answers")],
    ],
  ],
  [
    tr("Measure"),
    [
      ["m", tr("ruler")],
      ["c", tr("cardiothoracic ratio")],
      ["z", tr("calibrate with a known length")],
      [tr("two presses"), tr("its two ends, instead of a drag")],
      [trc("key", "Enter"), tr("place it by keyboard; arrows move its ends")],
      [trc("key", "Delete"), tr("remove the one in focus")],
      [tr("Esc"), tr("close the tool")],
    ],
  ],
  [
    tr("Views"),
    [
      ["v", tr("next view")],
      ["s", tr("side by side")],
      ["y", tr("link the views")],
      ["b", tr("blink with the prior")],
      [tr("space"), tr("flip current and prior")],
      [", .", tr("slower, faster")],
      [tr("Tab, then arrows"), tr("on a divider: wider, narrower; Enter: default size")],
    ],
  ],
  [
    tr("Case"),
    [
      ["j", tr("next case")],
      ["k", tr("previous case")],
      ["g", tr("report")],
      ["?", tr("this list")],
    ],
  ],
];

const OF_SEVERAL = new Set(["1 – 9", "r", PIN]); // on pages that show one group at a time

function section(name, keys) {
  const rows = keys.flatMap(([key, meaning]) => [
    html("dt", {}, html("kbd", {}, key)),
    html("dd", {}, meaning),
  ]);
  return html("section", {}, html("h3", {}, name), html("dl", {}, ...rows));
}

export class Help {
  constructor(onClose) {
    this.close = button(icon("close"), onClose, { class: "tool", "aria-label": tr("Close") });
    this.taken = html("p", { hidden: true });
    this.columns = html("div", { class: "columns" });
    this.node = html(
      "div",
      { class: "help", role: "dialog", "aria-label": tr("Keys"), hidden: true },
      html("header", {}, html("h2", {}, tr("Keys")), this.close),
      this.taken,
      this.columns,
    );
  }

  /**
   * List the keys of a page: those that it needs itself, and those of the viewer.
   *
   * @param {ViewerData} data
   */
  note({ takenKeys, pageKeys, oneGroup }) {
    this.taken.hidden = !takenKeys;
    this.taken.textContent = tr("On this page with Shift: {keys}", {
      keys: [...(takenKeys ?? "")].join(" "),
    });
    const here = (/** @type {[string, string]} */ [key]) => !oneGroup || !OF_SEVERAL.has(key);
    const sections = KEY_LIST.map(([name, keys]) => section(name, keys.filter(here)));
    if (pageKeys?.length) sections.push(section(tr("This page"), pageKeys));
    this.columns.replaceChildren(...sections);
  }

  get open() {
    return !this.node.hidden;
  }

  toggle(open) {
    if (open === this.open) return;
    const before = focusedElement();
    this.node.hidden = !open;
    if (open) {
      this.before = before;
      this.close.focus();
    } else this.before?.focus?.({ preventScroll: true });
  }
}

// The list of all keys, over the viewer.

import { html } from "../../../components/dom.js";
import { KEY_LIST } from "./commands.js";
import { icon } from "./icons.js";

const OF_SEVERAL = new Set(["1 – 9", "r", "pin"]); // where one group at a time is there

function section([name, keys]) {
  const rows = keys.flatMap(([key, words]) => [
    html("dt", {}, html("kbd", {}, key)),
    html("dd", {}, words),
  ]);
  return html("section", {}, html("h3", {}, name), html("dl", {}, ...rows));
}

export class Help {
  constructor(onClose) {
    const close = html(
      "button",
      { type: "button", class: "tool", "aria-label": "Close", onclick: onClose },
      icon("close"),
    );
    this.close = close;
    this.taken = html("p", { hidden: true });
    this.columns = html("div", { class: "columns" });
    this.node = html(
      "div",
      { class: "help", role: "dialog", "aria-label": "Keys", hidden: true },
      html("header", {}, html("h2", {}, "Keys"), close),
      this.taken,
      this.columns,
    );
  }

  /** List the keys of a page: those that it needs itself, and those that do something here. */
  note({ takenKeys, pageKeys, oneGroup }) {
    this.taken.hidden = !takenKeys;
    this.taken.textContent = `On this page with Shift: ${[...(takenKeys ?? "")].join(" ")}`;
    const ours = KEY_LIST.map(([name, keys]) => [
      name,
      keys.filter(([key]) => !oneGroup || !OF_SEVERAL.has(key)),
    ]);
    const more = pageKeys?.length ? [["Failures", pageKeys]] : [];
    this.columns.replaceChildren(...[...ours, ...more].map(section));
  }

  get open() {
    return !this.node.hidden;
  }

  toggle(open) {
    if (open === this.open) return;
    const before = this.node.getRootNode().activeElement;
    this.node.hidden = !open;
    if (open) {
      this.before = before;
      this.close.focus();
    } else this.before?.focus?.({ preventScroll: true });
  }
}

// The list of all keys, over the viewer.

import { KEY_LIST } from "./commands.js";
import { html } from "./dom.js";
import { icon } from "./icons.js";

export class Help {
  constructor(onClose) {
    const close = html("button", { type: "button", class: "tool", "aria-label": "Close", onclick: onClose }, icon("close"));
    const groups = KEY_LIST.map(([name, keys]) =>
      html(
        "section",
        {},
        html("h3", {}, name),
        html("dl", {}, ...keys.flatMap(([key, words]) => [html("dt", {}, html("kbd", {}, key)), html("dd", {}, words)])),
      ),
    );
    this.close = close;
    this.taken = html("p", { hidden: true });
    this.node = html(
      "div",
      { class: "help", role: "dialog", "aria-label": "Keys", hidden: true },
      html("header", {}, html("h2", {}, "Keys"), close),
      this.taken,
      html("div", { class: "columns" }, ...groups),
    );
  }

  /** Say which keys the page needs itself. */
  note(taken) {
    this.taken.hidden = !taken;
    this.taken.textContent = `On this page with Shift: ${[...(taken ?? "")].join(" ")}`;
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

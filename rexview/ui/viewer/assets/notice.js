// What stands in the place of a picture that is not there: that it is awaited, or why it is missing.

import { html } from "./dom.js";
import { icon } from "./icons.js";

export class Notice {
  constructor() {
    this.node = html("div", { class: "notice" });
  }

  /** Show a few words, none with null. */
  tell(words) {
    this.node.replaceChildren(...(words ? [html("p", {}, words)] : []));
    this.node.hidden = !words;
  }

  /** Show why there is no picture, with a button to try again if that may help. */
  fail(reason, retry) {
    this.node.replaceChildren(
      icon("broken"),
      html("strong", {}, "This image cannot be shown"),
      html("p", {}, reason),
      ...(retry ? [html("button", { type: "button", onclick: retry }, "Try again")] : []),
    );
    this.node.hidden = false;
  }
}

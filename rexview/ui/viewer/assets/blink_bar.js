// The buttons that stand in for the views while the current image and the prior are shown by turns.

import { html } from "./dom.js";
import { icon } from "./icons.js";

export class BlinkBar {
  constructor(views) {
    this.views = views;
    const button = (title, words, act) =>
      html("button", { type: "button", title, onclick: act }, words);
    this.showing = html("strong", { "aria-live": "polite" });
    this.run = button("Change by itself, or only by hand", "", () => views.toggleRun());
    this.node = html(
      "div",
      { class: "blink", role: "group", "aria-label": "Comparison with the prior", hidden: true },
      this.showing,
      button("Show the other one (space)", "Flip", () => views.flip()),
      this.run,
      button("Slower (,)", "−", () => views.faster(-1)),
      button("Faster (.)", "+", () => views.faster(1)),
      button("End the comparison (b)", icon("close"), () => views.toggleBlink()),
    );
    this.node.lastChild.setAttribute("aria-label", "End the comparison");
  }

  refresh(active) {
    const { blink } = this.views;
    this.node.hidden = !blink.on;
    if (!blink.on) return;
    const prior = Boolean(this.views.get(active)?.prior);
    const words = prior ? "Prior" : "Current";
    if (this.showing.textContent !== words) this.showing.textContent = words;
    this.showing.classList.toggle("prior", prior);
    this.run.textContent = blink.running ? "Hold" : "Run";
  }
}

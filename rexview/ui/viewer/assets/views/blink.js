// Blink comparison: the current image and the prior in the same place, alternating.
//
// Slow enough to be safe for people who react to flicker (at most 2 changes a second), and only by
// hand if the system asks for reduced motion.

import { button, html, wantsLessMotion } from "../../../web/components/dom.js";
import { tr, trc } from "../../../web/components/words.js";
import { icon } from "../controls/icons.js";

/** @import { Views } from "./views.js" */

export const BLINK_SECONDS = [0.5, 0.8, 1.2, 2];

export class Blink {
  /** @param {() => void} flip called to show the other image */
  constructor(flip) {
    this.flip = flip;
    this.timer = null;
    this.pair = null;
  }

  get on() {
    return this.pair !== null;
  }

  start(pair, seconds) {
    this.pair = pair;
    const still = wantsLessMotion();
    if (still) this.hold();
    else this.run(seconds);
  }

  get running() {
    return this.timer !== null;
  }

  run(seconds) {
    this.hold();
    this.timer = setInterval(() => this.flip(), seconds * 1000);
  }

  hold() {
    clearInterval(this.timer);
    this.timer = null;
  }

  stop() {
    this.hold();
    this.pair = null;
  }

  /** The image of the pair that is not `viewId`. */
  other(viewId) {
    return this.pair[0] === viewId ? this.pair[1] : this.pair[0];
  }
}

/**
 * The two views to compare: the active view with the prior of the same kind, else with the first
 * prior; from a prior back to the current one. Null without a usable pair.
 */
export function blinkPair(views, activeId) {
  const usable = views.filter((view) => view.kind === "image" && !view.error);
  const active = usable.find((view) => view.id === activeId) ?? usable.find((view) => !view.prior);
  if (!active) return null;
  const others = usable.filter((view) => view.prior !== active.prior);
  const partner =
    others.find((view) => view.frontal === active.frontal && view.word === active.word) ??
    others.find((view) => view.frontal === active.frontal) ??
    others[0];
  return partner ? [active.id, partner.id] : null;
}

export class BlinkBar {
  constructor(/** @type {Views} */ views) {
    this.views = views;
    this.showing = html("strong", { "aria-live": "polite" });
    this.run = button("", () => views.toggleRun(), {
      title: tr("Alternate automatically, or only by hand"),
    });
    this.node = html(
      "div",
      {
        class: "blink",
        role: "group",
        "aria-label": tr("Comparison with the prior"),
        hidden: true,
      },
      this.showing,
      button(tr("Flip"), () => views.flip(), { title: tr("Show the other one (space)") }),
      this.run,
      button("−", () => views.faster(-1), { title: tr("Slower (,)") }),
      button("+", () => views.faster(1), { title: tr("Faster (.)") }),
      button(icon("close"), () => views.toggleBlink(), {
        title: tr("End the comparison (b)"),
        "aria-label": tr("End the comparison"),
      }),
    );
  }

  refresh(active) {
    const { blink } = this.views;
    this.node.hidden = !blink.on;
    if (!blink.on) return;
    const prior = Boolean(this.views.get(active)?.prior);
    const words = prior ? tr("Prior") : tr("Current");
    if (this.showing.textContent !== words) this.showing.textContent = words;
    this.showing.classList.toggle("prior", prior);
    this.run.textContent = blink.running ? trc("blinking", "Hold") : trc("blinking", "Run");
  }
}

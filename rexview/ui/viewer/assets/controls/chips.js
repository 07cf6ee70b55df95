// The rows of chips below the image: the views, and the groups of boxes.

import { button, every, html } from "../../../web/components/dom.js";
import { tr, trn } from "../../../web/components/words.js";
import { BlinkBar } from "../views/blink.js";
import { icon } from "./icons.js";

/** @import { Group } from "../types.d.ts" */
/** @import { Viewer } from "../viewer.js" */

export class Chips {
  constructor(/** @type {Viewer} */ viewer) {
    this.viewer = viewer;
    this.viewChips = html("div", {
      class: "chips views",
      role: "group",
      "aria-label": tr("Views"),
    });
    this.groupChips = html("div", {
      class: "chips groups",
      role: "group",
      "aria-label": tr("Boxes"),
    });
    this.comparison = new BlinkBar(viewer.views);
    this.fromStart = button(icon("pin"), () => viewer.groups.toggleFromStart(), {
      class: "chip setting",
      "aria-label": tr("Reference boxes from the start of every case"),
      title: tr("Reference boxes from the start of every case (kept in this browser)"),
    });
    this.node = html(
      "div",
      { class: "strip" },
      this.viewChips,
      this.comparison.node,
      this.groupChips,
    );
  }

  /** Make the chips of a case. */
  fill() {
    const { viewer } = this;
    this.viewChips.replaceChildren(
      ...viewer.views.list.map((view) => {
        const choose = ({ shiftKey, ctrlKey, metaKey }) =>
          viewer.views.choose(view.id, shiftKey || ctrlKey || metaKey);
        return button([view.error ? icon("broken") : null, view.title], choose, {
          class: `chip view${view.prior ? " prior" : ""}`,
          "data-view": view.id,
          title:
            viewer.state.shown.length > 1
              ? tr("Show or hide")
              : tr("Show; with Shift next to the others"),
        });
      }),
    );
    const { list } = viewer.groups;
    // Where one answer at a time is shown, the row remains, so that the image keeps its size.
    const alone = viewer.data.oneGroup && list.length === 0 && viewer.data.groups.length > 0;
    this.groupChips.hidden = list.length === 0 && !alone;
    const reference = list.some((group) => viewer.groups.isReference(group));
    this.fromStart.hidden = !reference || viewer.groups.blinded;
    const none = html("span", { class: "none" }, tr("No boxes"));
    const chips = alone ? [none] : list.map((group) => this.#group(group));
    this.groupChips.replaceChildren(...chips, this.fromStart);
    this.refresh();
  }

  #group(/** @type {Group} */ group) {
    const count = group.boxes.length;
    const undrawable = tr("{n} cannot be drawn", { n: group.undrawable });
    const undrawn = group.undrawable > 0 ? ` · ${undrawable}` : "";
    const amount = trn("{n} box", "{n} boxes", count);
    const reasons = group.reasons.length > 0 ? `\n${group.reasons.join("\n")}` : "";
    const shift = group.key && this.viewer.data.takenKeys?.includes(group.key) ? "⇧" : "";
    const named = group.key ? `${shift}${group.key.toUpperCase()}` : "";
    const key = group.key ? `, ${tr("key {key}", { key: named.replace("⇧", "Shift ") })}` : "";
    const hidden = trn("box hidden", "boxes hidden", count);
    const content = [
      html("span", { class: "eyes" }, icon("eye"), icon("eyeOff")),
      html("span", { class: "swatch", "aria-hidden": "true" }),
      html("span", { class: "name", "aria-hidden": "true" }, group.name),
      html("span", { class: "count", "aria-hidden": "true" }, String(count)),
      html("span", { class: "off", "aria-hidden": "true" }, hidden),
      html("span", { class: "spoken" }, `${group.name}: ${amount}${undrawn}${key}`),
      group.undrawable > 0 ? icon("warning") : null,
      group.key ? html("kbd", { "aria-hidden": "true" }, named) : null,
    ];
    return button(content, () => this.viewer.groups.toggle(group.id), {
      class: `chip group ${group.kind}${this.viewer.data.oneGroup ? " only" : ""}`,
      "data-group": group.id,
      "aria-keyshortcuts": group.key && shift ? `Shift+${group.key}` : group.key,
      title: `${group.name}: ${amount}${undrawn}${key}${reasons}`,
      style: { "--c": group.colour },
    });
  }

  /** Bring pressed states up to date. */
  refresh() {
    const { viewer } = this;
    this.viewChips.hidden = viewer.views.list.length < 2 || viewer.views.blink.on;
    this.comparison.refresh(viewer.state.active);
    for (const chip of every(".view", this.viewChips)) {
      chip.setAttribute("aria-pressed", String(viewer.state.shown.includes(chip.dataset.view)));
      chip.classList.toggle("active", chip.dataset.view === viewer.state.active);
    }
    this.fromStart.setAttribute("aria-pressed", String(viewer.groups.fromStart));
    for (const chip of every(".group", this.groupChips)) {
      chip.setAttribute("aria-pressed", String(viewer.groups.isShown(chip.dataset.group)));
    }
  }
}

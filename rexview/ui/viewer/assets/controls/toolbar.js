// The buttons above the image, in groups; the less used ones fold away on narrow screens.

import { button, html, rootOf, set } from "../../../web/components/dom.js";
import { tr } from "../../../web/components/words.js";
import { figure } from "../pane/annotations.js";
import { icon } from "./icons.js";
import { keyOf } from "./keyboard.js";
import { presetWords } from "./window_settings.js";

/** @import { Header, Look } from "../types.d.ts" */
/** @import { commandsOf } from "./commands.js" */
/** @import { Viewer } from "../viewer.js" */

/** A button; its title names the action and the key, if there is one. */
function toolButton(content, label, key, act, extra = "") {
  return button(content, act, {
    class: `tool ${extra}`.trim(),
    title: key ? `${label} (${key})` : label,
    "aria-label": label,
    "aria-keyshortcuts": key,
  });
}

const TOOLS = [
  ["window", tr("Brightness and contrast")],
  ["pan", tr("Move")],
  ["ruler", tr("Ruler")],
  ["ratio", tr("Cardiothoracic ratio")],
];

export class Toolbar {
  constructor(/** @type {Viewer} */ viewer, /** @type {ReturnType<typeof commandsOf>} */ commands) {
    this.viewer = viewer;
    const make = (command, label, extra) =>
      toolButton(icon(command), label, keyOf(command), commands[command], extra);
    this.tools = new Map(
      TOOLS.map(([tool, label]) => [
        tool,
        toolButton(icon(tool), label, keyOf(tool), () => viewer.tools.choose(tool)),
      ]),
    );
    this.presets = html("select", {
      class: "presets",
      title: tr("Window presets (p)"),
      "aria-label": tr("Window preset"),
      onchange: () => viewer.windows.choose(Number(this.presets.value)),
    });
    this.width = this.#field("W", tr("Window width"), (value) =>
      viewer.windows.set({ width: value }),
    );
    this.centre = this.#field("L", tr("Window level"), (value) =>
      viewer.windows.set({ centre: value }),
    );
    this.invert = make("invert", tr("Invert"));
    this.mirror = make("mirror", tr("Mirror left to right"));
    this.beside = make("beside", tr("Views side by side"));
    this.link = make("link", tr("Link zoom, position and window of the views"));
    this.blink = make("blink", tr("Blink with the prior"));
    this.labels = make("labels", tr("Names on the boxes"));
    this.bin = make("clearMeasures", tr("Remove all measurements"));
    this.full = make("fullScreen", tr("Full screen"));
    this.texts = make("texts", tr("Question and answers beside the picture"));
    this.more = toolButton(icon("more"), tr("More tools"), null, () => this.#unfold());
    const group = (label, extra, ...children) =>
      html("div", { class: `tools ${extra}`, role: "group", "aria-label": label }, ...children);
    this.node = html(
      "div",
      { class: "toolbar", role: "group", "aria-label": tr("Viewer tools") },
      group(tr("Tool"), "", ...this.tools.values(), this.bin),
      group(tr("Window"), "", this.presets, this.width.node, this.centre.node),
      group(tr("Picture"), "", this.invert),
      group(tr("Orientation"), "fold", make("turn", tr("Turn a quarter clockwise")), this.mirror),
      group(
        tr("Size"),
        "",
        make("fit", tr("Fit")),
        button("1:1", commands.actualSize, {
          class: "tool words fold",
          title: tr("One image pixel to one screen pixel (o)"),
          "aria-label": tr("Actual size, 1:1"),
          "aria-keyshortcuts": "o",
        }),
      ),
      group(tr("Zoom"), "fold", make("zoomOut", tr("Smaller")), make("zoomIn", tr("Larger"))),
      group(tr("Views"), "views", this.beside, this.link, this.blink),
      group(
        tr("Page"),
        "end",
        this.labels,
        this.texts,
        this.full,
        make("help", tr("All keys"), "wide"),
        this.more,
      ),
    );
  }

  #field(letter, label, act) {
    const input = html("input", {
      type: "number",
      step: "any",
      "aria-label": label,
      title: label,
      onchange: () => Number.isFinite(input.valueAsNumber) && act(input.valueAsNumber),
      onkeyup: (event) => event.key === "Enter" && this.viewer.activePane.node.focus(),
    });
    return { input, node: html("label", { class: "field fold" }, html("span", {}, letter), input) };
  }

  #unfold() {
    const open = this.node.classList.toggle("unfolded");
    set(this.more, { "aria-expanded": String(open) });
  }

  /** Bring every button up to date with the viewer. */
  refresh() {
    const { viewer } = this;
    const { habits } = viewer.state;
    const pane = viewer.activePane;
    const ready = Boolean(pane?.raster);
    const look = ready ? pane.look : null;
    for (const [tool, node] of this.tools) pressed(node, viewer.tool === tool);
    this.tools.get("ratio").disabled = !viewer.tools.isUsable("ratio");
    this.tools.get("window").disabled = ready && !look.window;
    pressed(this.invert, Boolean(look?.inverted));
    pressed(this.mirror, Boolean(look && look.pose.orientation & 4));
    pressed(this.beside, viewer.state.shown.length > 1);
    pressed(this.link, habits.linked);
    pressed(this.blink, viewer.views.blink.on);
    pressed(this.labels, habits.labels);
    pressed(this.full, viewer.full.on);
    pressed(this.texts, viewer.full.texts);
    this.texts.hidden = !viewer.full.on || !viewer.full.hasTexts;
    const several = viewer.views.list.length > 1;
    this.beside.hidden = !several;
    this.link.hidden = !several;
    this.blink.hidden = !viewer.views.canBlink();
    this.bin.hidden = !viewer.panes.some((one) => !one.measures.isEmpty);
    this.#refreshWindow(ready ? pane.raster.header : null, look);
  }

  #refreshWindow(/** @type {Header} */ header, /** @type {Look} */ look) {
    const names = header?.presets.map((preset) => preset.name) ?? [];
    const manual = look?.window && look.window.name === null;
    const wanted = [...names, ...(manual ? [tr("Custom")] : [])].join("\n");
    if (this.presetNames !== wanted) {
      this.presetNames = wanted;
      const options = names.map((name, place) =>
        html("option", { value: place }, presetWords(name)),
      );
      if (manual) options.push(html("option", { value: -1 }, tr("Custom")));
      this.presets.replaceChildren(...options);
    }
    const usable = Boolean(look?.window);
    for (const control of [this.presets, this.width.input, this.centre.input]) {
      control.disabled = !usable;
    }
    this.presets.parentElement.classList.toggle("unusable", !usable);
    if (!usable) return;
    const chosen = manual ? -1 : names.indexOf(look.window.name);
    this.presets.value = String(chosen);
    const active = rootOf(this.width.input).activeElement;
    if (active !== this.width.input) this.width.input.value = figure(look.window.width);
    if (active !== this.centre.input) this.centre.input.value = figure(look.window.centre);
  }
}

function pressed(node, on) {
  node.setAttribute("aria-pressed", String(on));
}

// Boxes over one image: drawn as SVG, usable by pointer, keyboard and screen reader.
//
// Boxes overlap, so the rectangles themselves take no pointer events: the pane looks for the
// smallest
// box under the pointer.

import { set, svg } from "../../../web/components/dom.js";
import { tr } from "../../../web/components/words.js";
import { freest } from "../image/burned_in.js";

/** @import { Box, Group, Rect } from "../types.d.ts" */

const TOLERANCE_PX = 4; // makes a thin box easier to hit
const TAG_HEIGHT = 15;
const LETTER_PX = 7.4; // about, in a tag

/** The accessible name of a box: "Answer A: right effusion, on the patient's right, lower third" */
export function accessibleName(group, box) {
  const parts = [`${group.name}: ${box.label || tr("box without a label")}`];
  if (box.side) parts.push(box.side);
  if (box.place) parts.push(box.place);
  if (box.score !== null && box.score !== undefined)
    parts.push(tr("score {score}", { score: score(box.score) }));
  if (box.note) parts.push(box.note);
  return parts.join(", ");
}

export function score(value) {
  return value.toFixed(2);
}

/** The smallest of the rectangles that contains the point, else null. */
export function smallestUnder(entries, x, y, tolerance = TOLERANCE_PX) {
  let best = null;
  for (const entry of entries) {
    const { rect } = entry;
    const inside =
      x >= rect.x - tolerance &&
      x <= rect.x + rect.width + tolerance &&
      y >= rect.y - tolerance &&
      y <= rect.y + rect.height + tolerance;
    if (!inside) continue;
    const area = rect.width * rect.height;
    if (best === null || area < best.rect.width * best.rect.height) best = entry;
  }
  return best;
}

/** Black or white, whichever is easier to read on a colour given as #rrggbb (WCAG luminance). */
export function inkOn(colour) {
  const parts = /^#(..)(..)(..)$/.exec(colour)?.slice(1) ?? ["ff", "ff", "ff"];
  const [red, green, blue] = parts.map((part) => {
    const level = Number.parseInt(part, 16) / 255;
    return level <= 0.04045 ? level / 12.92 : ((level + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.179 ? "#08090a" : "#ffffff";
}

// Never the letter R alone: next to the side letters it would look like the patient's right.
function tagOf(group) {
  if (group.tag) return group.tag;
  if (group.key === "0") return group.id; // the key of all boxes identifies no group
  return group.kind === "reference" ? tr("Ref") : (group.key ?? "");
}

/** Possible places of a box's tag in the pane: above it first, inside it only if necessary. */
function tagPlaces(rect, { width, height }, port) {
  const across = (x) => Math.min(Math.max(x, 0), Math.max(0, port.width - width));
  const [left, right] = [across(rect.x), across(rect.x + rect.width - width)];
  const [above, below] = [rect.y - height, rect.y + rect.height];
  const level = Math.min(Math.max(rect.y, 0), Math.max(0, port.height - height));
  const places = [];
  if (above >= 0) places.push([left, above], [right, above]);
  if (below + height <= port.height) places.push([left, below], [right, below]);
  if (rect.x - width >= 0) places.push([rect.x - width, level]);
  if (rect.x + rect.width + width <= port.width) places.push([rect.x + rect.width, level]);
  return places.length > 0 ? places : [[left, level]];
}

/**
 * @typedef {ReturnType<BoxLayer["entry"]>} Entry
 */
export class BoxLayer {
  /**
   * @param {SVGElement} parent
   * @param {Record<"focus" | "blur", (entry: Entry) => void>} on
   */
  constructor(parent, on) {
    this.node = svg("g", { class: "boxes", role: "group", "aria-label": tr("Boxes") });
    this.on = on;
    /** @type {Entry[]} */
    this.entries = [];
    this.enlarged = 1; // enlargement of its tags
    parent.append(this.node);
  }

  /** Set the boxes of one view; groups keep their order. */
  fill(groups, viewId) {
    this.entries = [];
    this.node.replaceChildren();
    for (const group of groups) {
      for (const box of group.boxes) {
        if (box.image !== viewId) continue;
        const entry = this.entry(group, box);
        this.entries.push(entry);
        this.node.append(entry.node);
      }
    }
  }

  entry(/** @type {Group} */ group, /** @type {Box} */ box) {
    const halo = svg("rect", { class: "halo" });
    const line = svg("rect", { class: "line" });
    const letters = svg("text", { y: TAG_HEIGHT - 4 });
    const plate = svg("rect", { class: "plate", height: TAG_HEIGHT, rx: 2 });
    const tag = svg("g", { class: "tag", "aria-hidden": "true" }, plate, letters);
    const node = svg(
      "g",
      {
        class: "box",
        tabindex: "0",
        role: "img",
        "aria-label": accessibleName(group, box),
        "data-box": box.id,
        "data-group": group.id,
        "data-kind": group.kind,
        style: { "--c": group.colour, "--on-c": inkOn(group.colour) },
      },
      halo,
      line,
      tag,
    );
    /** @type {Rect} */
    const rect = null; // until it is placed
    const entry = { group, box, node, halo, line, tag, plate, letters, rect, shown: false };
    node.addEventListener("focus", () => this.on.focus(entry));
    node.addEventListener("blur", () => this.on.blur(entry));
    return entry;
  }

  /** Show the boxes of some groups only. */
  show(isShown) {
    for (const entry of this.entries) {
      entry.shown = isShown(entry.group.id);
      entry.node.style.display = entry.shown ? "" : "none";
    }
  }

  /**
   * Put every box in its place on the image, and its tag where it covers no other tag and nothing
   * that is burned in (`found`).
   */
  place(projection, withLabels, found) {
    const taken = [];
    for (const entry of this.entries) {
      const rect = projection.boxToScreen(entry.box);
      entry.rect = rect;
      for (const part of [entry.halo, entry.line]) set(part, rect);
      const key = tagOf(entry.group);
      const label = withLabels ? `${key} ${entry.box.label}`.trim() : key;
      if (entry.letters.textContent !== label) entry.letters.textContent = label;
      if (label) {
        const width = label.length * LETTER_PX + 8;
        set(entry.plate, { width });
        set(entry.letters, { x: 4 });
        const size = { width: width * this.enlarged, height: TAG_HEIGHT * this.enlarged };
        const places = tagPlaces(rect, size, projection.port);
        const [x, y] = freest(places, size, found, projection, taken);
        if (entry.shown) taken.push({ x, y, ...size });
        const enlarged = this.enlarged === 1 ? "" : ` scale(${this.enlarged})`;
        set(entry.tag, { transform: `translate(${x} ${y})${enlarged}` });
      }
      entry.tag.style.display = label ? "" : "none";
    }
  }

  under(x, y) {
    return smallestUnder(
      this.entries.filter((entry) => entry.shown && entry.rect),
      x,
      y,
    );
  }

  /** Highlight some boxes and dim the rest; null does neither. */
  light(isLit) {
    const any = isLit !== null && this.entries.some((entry) => entry.shown && isLit(entry.box));
    for (const entry of this.entries) {
      entry.node.classList.toggle("lit", any && isLit(entry.box));
      entry.node.classList.toggle("dim", any && !isLit(entry.box));
    }
  }
}

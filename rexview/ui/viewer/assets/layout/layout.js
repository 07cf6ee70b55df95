// The room of the viewer and the arrangement of its panes.

import { rootOf } from "../../../web/components/dom.js";
import { tr } from "../../../web/components/words.js";
import { PageColumns } from "./page_columns.js";
import { Separator } from "./separator.js";

/** @import { Viewer } from "../viewer.js" */

const SIDE_BY_SIDE_FROM_PX = 480; // narrower: one above the other
const LEAST_HEIGHT_PX = 420;
const BELOW_PX = 10;
const LEAST_PANES_PX = [160, 160];

export class Layout {
  /** @param {HTMLElement} place the viewer's container on the page */
  constructor(/** @type {Viewer} */ viewer, place) {
    this.viewer = viewer;
    this.columns = new PageColumns(place, () => this.#room());
    this.between = new Separator({
      name: tr("Size of the views"),
      key: "view-share",
      least: LEAST_PANES_PX,
      frame: () => this.#frame(),
      changed: () => this.#panes(),
    });
    this.between.node.classList.add("between");
    this.observer = new ResizeObserver(() => this.refresh());
    this.observer.observe(viewer.grid);
    this.scroller =
      rootOf(place).host?.closest('[data-testid="stMain"]') ?? document.documentElement;
    if (this.scroller.firstElementChild) this.observer.observe(this.scroller.firstElementChild);
    this.due = null;
    this.count = 0;
    this.narrow = false;
    this.put = new Map(); // last values: setting one again would restyle the page
    window.addEventListener("resize", () => this.refresh(), { signal: viewer.signal });
  }

  /** The panes show other views: little to do if their number is unchanged. */
  arrange() {
    if (this.viewer.panes.length !== this.count) this.refresh();
    else this.filmKnown();
  }

  /** The shape of an image is known. */
  filmKnown() {
    if (this.count > 1 || this.narrow) this.refresh();
  }

  /** The page ran again and may have recreated its columns. */
  soon() {
    this.due ??= requestAnimationFrame(() => this.refresh());
  }

  close() {
    cancelAnimationFrame(this.due);
    this.observer.disconnect();
  }

  refresh() {
    this.due = null;
    const { data, full, panes } = this.viewer;
    this.count = panes.length;
    if (data) this.columns.refresh({ several: panes.length > 1 || full.on, blinded: data.blinded });
    this.#room();
    this.#panes();
  }

  get #ratios() {
    return this.viewer.panes.map((pane) => pane.shownRatio);
  }

  /** The free height of the window below what is above the viewer. */
  #room() {
    const { root, grid, data, panes } = this.viewer;
    if (!data || !root.isConnected) return;
    const { full } = this.viewer;
    this.narrow = grid.clientWidth < SIDE_BY_SIDE_FROM_PX;
    if (data.height && !full.on && !this.narrow) {
      this.#set(root, "--rx-height", data.height);
      return;
    }
    const { scroller } = this;
    const above = root.getBoundingClientRect().top + scroller.scrollTop;
    const room = Math.max(LEAST_HEIGHT_PX, scroller.clientHeight - above - BELOW_PX);
    let height = room;
    if (this.narrow) {
      // a phone: the images' height at its width, and none of them higher than the window
      const chrome = root.clientHeight - grid.clientHeight;
      const films = stackedHeight(this.#ratios, grid.clientWidth);
      height = chrome + Math.min(films, panes.length * scroller.clientHeight);
    }
    this.#set(root, "--rx-height", `${Math.floor(height)}px`);
    this.#set(document.documentElement, "--rx-room", `${Math.floor(room)}px`);
  }

  #set(element, name, value) {
    if (this.put.get(name) === value) return;
    this.put.set(name, value);
    element.style.setProperty(name, value);
  }

  #frame() {
    const { left, top, width, height } = this.viewer.grid.getBoundingClientRect();
    return this.between.upright ? { start: left, size: width } : { start: top, size: height };
  }

  #panes() {
    const { grid, panes } = this.viewer;
    const wide = grid.clientWidth >= SIDE_BY_SIDE_FROM_PX;
    const size = { width: grid.clientWidth, height: grid.clientHeight };
    const columns = wide && panes.length > 1 ? bestColumns(this.#ratios, size) : 1;
    const rows = Math.max(1, Math.ceil(panes.length / columns));
    const two = panes.length === 2;
    const first = two ? (this.between.share ?? 0.5) : 0.5;
    const upright = columns === 2;
    const parts = (count) => Array.from({ length: count }, () => "minmax(0, 1fr)").join(" ");
    const shares = `minmax(0, ${first}fr) minmax(0, ${1 - first}fr)`;
    this.#set(grid, "grid-template-columns", two && upright ? shares : parts(columns));
    this.#set(grid, "grid-template-rows", two && !upright ? shares : parts(rows));
    this.#set(grid, "--rows", rows);
    this.between.node.hidden = !two;
    if (!two) return;
    const percent = `calc(${100 * first}% - 5px)`;
    this.between.node.style.left = upright ? percent : "0";
    this.between.node.style.top = upright ? "0" : percent;
    this.between.refresh(upright, first);
  }
}

export const GUTTER_PX = 20; // left and right of each image, for the side letters
export const FOOT_PX = 20; // below it, for the text
const NEARLY = 0.95; // side by side if that costs little

/**
 * @param {number[]} ratios width by height of each image
 * @param {{width: number, height: number}} room CSS pixels for all panes
 * @returns {number} columns
 */
export function bestColumns(ratios, { width, height }) {
  let best = { columns: 1, area: -1 };
  for (let columns = 1; columns <= ratios.length; columns += 1) {
    const rows = Math.ceil(ratios.length / columns);
    const across = Math.max(width / columns - 2 * GUTTER_PX, 1);
    const down = Math.max(height / rows - FOOT_PX, 1);
    const area = ratios.reduce((sum, ratio) => sum + filmArea(ratio, across, down), 0);
    if (area >= best.area * NEARLY) best = { columns, area: Math.max(area, best.area) };
  }
  return best.columns;
}

function filmArea(ratio, across, down) {
  const high = Math.min(down, across / ratio);
  return high * high * ratio;
}

/** Height of images of these ratios, one above the other, at a width. */
export function stackedHeight(ratios, width) {
  const across = width - 2 * GUTTER_PX;
  return ratios.reduce((sum, ratio) => sum + across / ratio + FOOT_PX, 0);
}

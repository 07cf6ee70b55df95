// The image of a meeting: our viewer without anything around it, and its look as a short text, so
// that
// another screen can look the same.

import { addressOf, adopt, decode } from "../../../../viewer/assets/address.js";
import { FITTED } from "../../../../viewer/assets/image/geometry.js";
import { Viewer } from "../../../../viewer/assets/viewer.js";
import { html } from "../../../../web/components/dom.js";
import { listenToPage } from "../../../../web/components/events.js";

/** @import { Content } from "../types.d.ts" */

// The image takes all the height; toolbar and chips are shown on request.
const STYLE = `
  :host { display: block; min-width: 0; min-height: 0; height: 100%; }
  .place, .rx { height: 100%; }
  .rx { min-height: 0; border: 0; border-radius: 0; --stage: #000; }
  .panes { min-height: 0; }
  :host(:not([data-tools])) :is(.toolbar, .strip) { display: none; }
  :host(:not([data-tools])) .panes:not(:has(.pane + .pane)) .foot .line { display: none; }
  .foot:not(:has(.remarks > *)) { padding: 0 6px; }
  .box rect.halo { stroke-width: 7; }
  .box rect.line { stroke-width: 3.5; }
  .box.lit rect.line, .box:focus rect.line { stroke-width: 5; }
  :host(:not([data-shown])) .panes { visibility: hidden; }
  .edge { font-size: var(--rx-size, 22px); }
  .marks { position: absolute; inset: 0; width: 100%; height: 100%; pointer-events: none; z-index: 2; }
  .mark polyline { fill: none; stroke-linecap: round; stroke-linejoin: round; }
  .mark .halo { stroke: rgb(0 0 0 / 0.85); stroke-width: 9; }
  .mark .line { stroke: #ffe14d; stroke-width: 5; }
  .pointed { fill: #ff3b30; stroke: #fff; stroke-width: 2.5; }
  :host([data-mark="arrow"]) .stage, :host([data-mark="draw"]) .stage { cursor: crosshair; }
  :host([data-mark="pointer"]) .stage { cursor: none; }
`;
const TAG_PX = 11; // the names of boxes on a desk; here they have the size of the text
const OF_ANSWERS = "boxes";
const OF_REPORT = "report";

export class Film {
  /**
   * @param {{ changed: () => void, renew: () => void }} on called when its look changes, and when
   * its
   *   links have expired
   */
  constructor(on) {
    this.on = on;
    this.node = html("div", { class: "film-place" });
    this.root = this.node.attachShadow({ mode: "open" });
    this.abort = new AbortController();
    this.offered = new Set(); // groups of the case that were shown once
    listenToPage("painted", () => this.#painted(), this.abort.signal);
  }

  /** Start, once it is on the page. */
  begin(/** @type {string} */ style) {
    if (this.viewer) return;
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(`${style}\n${STYLE}`);
    this.root.adoptedStyleSheets = [sheet];
    this.viewer = new Viewer(/** @type {any} */ (this.root));
    this.viewer.tell = (name) => name === "refresh" && this.on.renew();
  }

  #painted() {
    const enlarged = parseFloat(getComputedStyle(this.node).fontSize) / TAG_PX;
    for (const pane of this.panes) {
      if (pane.boxes.enlarged === enlarged) continue;
      pane.boxes.enlarged = enlarged;
      this.viewer.repaint(pane);
    }
    this.on.changed();
  }

  close() {
    this.abort.abort();
    this.viewer?.close();
  }

  /** Show the content of some steps of a case. */
  show(/** @type {Content} */ content, /** @type {Set<string>} */ shown) {
    const { viewer } = content;
    if (this.case !== viewer.case) this.offered.clear();
    this.case = viewer.case;
    this.node.toggleAttribute("data-shown", true);
    const boxes = shown.has(OF_ANSWERS);
    const groups = viewer.groups
      .filter(({ kind }) => boxes && (kind !== "reference" || shown.has(OF_REPORT)))
      .map((group) => (group.kind === "reference" ? group : { ...group, tag: group.id }));
    const views = viewer.views.filter(({ kind }) => boxes || kind !== "returned");
    for (const group of groups) {
      if (this.offered.has(group.id)) continue;
      this.offered.add(group.id); // a group hidden on another case was another model's
      this.viewer.state.setGroup(group, true);
    }
    this.viewer.show({ ...viewer, groups, views });
  }

  /** Whether the toolbar and the chips are visible. */
  toggleTools() {
    this.node.toggleAttribute("data-tools");
    this.viewer.layout.refresh();
    this.viewer.changed();
    return this.node.hasAttribute("data-tools");
  }

  /** Its look: views, zoom, window, boxes; null while unknown. */
  get look() {
    return addressOf(this.viewer);
  }

  /** Apply another screen's look; an empty text is the usual look. */
  set look(/** @type {string | null} */ text) {
    if (text === null || text === this.look) return;
    if (adopt(this.viewer, text ? decode(text) : this.#usual)) this.viewer.arrange();
  }

  get #usual() {
    const { usual } = this.viewer.views;
    const views = usual ? [{ id: usual, pose: { ...FITTED }, window: null, inverted: false }] : [];
    return { caseId: this.case, active: usual, views, groups: null, linked: true };
  }

  /** The views of the case: id, title, whether it is shown. */
  get views() {
    const { views, state } = this.viewer;
    return views.list.map(({ id, title }) => ({ id, title, shown: state.shown.includes(id) }));
  }

  choose(/** @type {string} */ view) {
    this.viewer.views.choose(view, false);
  }

  get panes() {
    return this.viewer?.panes ?? [];
  }

  /** The pane at a place of the screen, with that place in pixels of its stored image. */
  at(/** @type {PointerEvent} */ event) {
    for (const pane of this.panes) {
      const frame = pane.stage.getBoundingClientRect();
      const [x, y] = [event.clientX - frame.left, event.clientY - frame.top];
      if (!pane.raster || !pane.current || x < 0 || y < 0 || x > frame.width || y > frame.height)
        continue;
      return { pane, point: pane.current.toImage(x, y).map(Math.round) };
    }
    return null;
  }
}

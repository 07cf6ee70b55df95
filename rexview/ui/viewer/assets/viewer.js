// The viewer as a whole: combines the parts, gets data from the page, draws, reports to the page.
//
// Actions on the image are not sent to the server, except "navigate", "report" and "refresh".

import { html, whenIdle } from "../../web/components/dom.js";
import { listenToPage, tellPage } from "../../web/components/events.js";
import { mounting } from "../../web/components/mount.js";
import { tr } from "../../web/components/words.js";
import { Address, addressOf, adopt, decode } from "./address.js";
import { BoxGroups } from "./boxes/box_groups.js";
import { WordLinks } from "./boxes/word_links.js";
import { CaseTurning } from "./case_turning.js";
import { Chips } from "./controls/chips.js";
import { commandsOf } from "./controls/commands.js";
import { Help } from "./controls/help.js";
import { Keyboard } from "./controls/keyboard.js";
import { Toolbar } from "./controls/toolbar.js";
import { Tools } from "./controls/tools.js";
import { WindowSettings } from "./controls/window_settings.js";
import { FullScreen } from "./layout/full_screen.js";
import { Layout } from "./layout/layout.js";
import { MeasureBar } from "./measure/measure_bar.js";
import { Pane } from "./pane/pane.js";
import { ViewState } from "./view_state.js";
import { Views } from "./views/views.js";

/** @import { Tell } from "../../web/components/events.js" */
/** @import { ViewerData } from "./types.d.ts" */

const FRAME_MS = 12; // a little less than one at 60 Hz
/** @type {Viewer} the one that receives keys */
let current = null;

export class Viewer {
  constructor(/** @type {HTMLElement} */ place) {
    this.abort = new AbortController();
    const { signal } = this.abort;
    this.signal = signal; // ends all listeners
    /** @type {ViewerData} */
    this.data = null;
    /** @type {Tell} */
    this.tell = null;
    this.named = null; // the group named by the page, and its case
    /** @type {Pane[]} */
    this.panes = [];
    this.dirty = new Set();
    this.frames = 0;
    this.frame = null; // the scheduled drawing, if any
    this.paintedAt = 0;
    this.state = new ViewState();
    this.views = new Views(this);
    this.groups = new BoxGroups(this);
    this.windows = new WindowSettings(this);
    this.tools = new Tools(this);
    this.full = new FullScreen(this);
    const commands = commandsOf(this);
    this.toolbar = new Toolbar(this, commands);
    this.chips = new Chips(this);
    this.measureBar = new MeasureBar(this);
    this.grid = html("div", { class: "panes" });
    this.live = html("div", { class: "spoken", "aria-live": "polite" });
    this.help = new Help(() => this.help.toggle(false));
    this.root = html(
      "section",
      { class: "rx", "aria-label": tr("Radiograph viewer") },
      this.toolbar.node,
      this.measureBar.node,
      this.grid,
      this.chips.node,
      this.live,
      this.help.node,
    );
    this.place = html("div", { class: "place" }, this.root);
    place.append(this.place);
    for (const name of ["pointerdown", "focusin"]) {
      this.root.addEventListener(name, () => (current = this), true);
    }
    this.keyboard = new Keyboard(this, commands);
    this.turning = new CaseTurning(this);
    this.wordLinks = new WordLinks(this.groups, signal);
    this.address = new Address(() => addressOf(this), signal);
    const hashChanged = () => adopt(this, decode(location.hash)) && this.arrange();
    window.addEventListener("hashchange", hashChanged, { signal });
    listenToPage("group", (detail) => this.#name(detail), signal);
    this.layout = new Layout(this, this.place);
    this.grid.append(this.layout.between.node);
    current = this;
  }

  close() {
    this.abort.abort();
    this.views.blink.stop();
    this.wordLinks.lightWordsOf([]);
    this.address.close();
    this.full.leave();
    this.layout.close();
    for (const pane of this.panes) pane.close();
    this.place.remove();
    if (current === this) current = null;
  }

  // --- data from the page ----------------------------------------------------------------------

  update(/** @type {ViewerData} */ data, /** @type {Tell} */ setTriggerValue) {
    this.tell = setTriggerValue;
    this.layout.soon();
    if (!this.turning.take(data)) return; // the page has not followed yet
    this.show(data);
    this.turning.came(data.case);
  }

  /** Show a case. */
  show(/** @type {ViewerData} */ data) {
    const text = JSON.stringify({ ...data, ahead: null, turning: null });
    if (text === this.received) {
      this.data = data;
      this.address.touch(); // the page ran again and may have removed our part of the address
      return;
    }
    this.received = text;
    const fresh = this.data?.case !== data.case;
    this.data = data;
    this.asked = false;
    if (fresh) this.groups.pin(null);
    if (fresh && data.oneGroup)
      for (const group of data.groups) this.state.setGroup(group, group.shown);
    this.help.note(data);
    this.#take(fresh);
    if (fresh) {
      this.renewals = 0;
      this.tools.begin();
      adopt(this, decode(location.hash));
    }
    this.chips.fill();
    this.arrange();
  }

  /**
   * Set the groups and views of the case. Where the page shows one group at a time (oneGroup of the
   * data)
   * only those of the last named group exist: no key, chip or link shows the others.
   */
  #take(fresh) {
    const { case: name, oneGroup, blinded, groups, views, active } = this.data;
    const group = this.named?.case === name ? this.named.group : null;
    const offered = (id) => !oneGroup || id === null || id === group;
    this.groups.take(
      groups.filter(({ id }) => offered(id)),
      blinded,
    );
    this.views.take(
      views.filter((view) => offered(view.group)),
      active,
      fresh,
    );
  }

  /** The page names the group that may be shown. */
  #name({ case: name, group }) {
    if (this.named?.case === name && this.named.group === group) return;
    this.named = { case: name, group };
    if (!this.data?.oneGroup || this.data.case !== name) return;
    this.#take(false);
    this.chips.fill();
    this.arrange();
  }

  /** Request new links to pixels from the page, once a case; return whether they are requested. */
  renewLinks() {
    if (this.asked) return true;
    if (this.renewals > 0) return false;
    this.asked = true;
    this.renewals += 1;
    this.tell("refresh", Date.now());
    return true;
  }

  // --- panes and drawing -----------------------------------------------------------------------

  get tool() {
    return this.tools.chosen;
  }

  get activePane() {
    return this.panes.find((pane) => pane.view?.id === this.state.active) ?? this.panes[0] ?? null;
  }

  activate(pane) {
    if (!pane.view || this.state.active === pane.view.id) return;
    this.state.active = pane.view.id;
    this.changed();
  }

  /** Assign a pane to every view that is to be shown. */
  arrange() {
    const { shown } = this.state;
    while (this.panes.length > shown.length) this.panes.pop().close();
    while (this.panes.length < shown.length) {
      const pane = new Pane(this);
      this.panes.push(pane);
      this.grid.insertBefore(pane.node, this.layout.between.node);
    }
    this.grid.querySelector(".empty")?.remove();
    if (shown.length === 0)
      this.grid.append(html("p", { class: "empty" }, tr("This case has no image.")));
    shown.forEach((id, place) => {
      this.panes[place].open(this.views.get(id));
      this.panes[place].refreshBoxes();
    });
    this.groups.lightWhere(null);
    this.layout.arrange();
    this.changed();
  }

  /** A pane has its image, or has found that there is none. */
  loaded() {
    this.layout.filmKnown();
    this.changed();
    if (!this.panes.every((pane) => pane.isLoaded)) return;
    whenIdle(() => this.turning.fetchAhead(), 500);
  }

  /** Something visible has changed: draw all panes, refresh buttons, write the address. */
  changed() {
    for (const pane of this.panes) this.repaint(pane);
    this.address.touch();
  }

  repaint(pane) {
    this.dirty.add(pane);
    if (this.frame !== null) return;
    // The first change of a frame is drawn at once, further ones with the next frame.
    if (performance.now() - this.paintedAt > FRAME_MS) {
      this.frame = 0;
      queueMicrotask(() => this.#paint());
    } else this.frame = requestAnimationFrame(() => this.#paint());
  }

  #paint() {
    this.frame = null;
    this.paintedAt = performance.now();
    const panes = this.panes.filter((pane) => this.dirty.has(pane) && pane.view);
    this.dirty.clear();
    for (const pane of panes) pane.paint();
    for (const pane of this.panes) {
      const active = this.panes.length > 1 && pane === this.activePane;
      pane.node.classList.toggle("active", active);
    }
    this.grid.classList.toggle("comparing", this.views.blink.on);
    this.toolbar.refresh();
    this.measureBar.refresh();
    this.chips.refresh();
    if (!panes.some((pane) => pane.isLoaded)) return;
    this.frames += 1;
    this.root.dataset.painted = String(this.frames);
    if (this.panes.every((pane) => pane.isLoaded)) this.root.dataset.paintedCase = this.data.case;
    tellPage("painted", { case: this.data.case });
  }

  // --- to the page and to the reader -----------------------------------------------------------

  announce(words) {
    this.live.textContent = words;
  }

  /** Whether keys pressed anywhere on the page are meant for this viewer. */
  ownsKeys() {
    return current === this && this.root.isConnected && this.root.getClientRects().length > 0;
  }
}

export const mount = mounting((place) => new Viewer(place));

// The viewer as a whole: which views are on screen, what is chosen, what is told to the page.
//
// mount() is called by the loader on every run of the page's script. It makes the viewer once for a
// place on the page and afterwards only hands it new data. Nothing the reader does to the picture
// goes to the server; only "navigate", "report" and "refresh" do.

import { Address, decode, encode } from "./address.js";
import { Blink, BLINK_SECONDS, blinkPair } from "./blink.js";
import { Chips } from "./chips.js";
import { commandsOf } from "./commands.js";
import { html } from "./dom.js";
import { Help } from "./help.js";
import { Keyboard } from "./keyboard.js";
import { Linking } from "./linking.js";
import { standardOrientation } from "./orientation.js";
import { Pane } from "./pane.js";
import { pixelStore } from "./pixels.js";
import { ViewState } from "./state.js";
import { Toolbar } from "./toolbar.js";
import { adjusted, presetWindow } from "./windowing.js";

const MOST_PANES = 4;
const SIDE_BY_SIDE_FROM_PX = 560; // narrower: one above the other
const WINDOW_DRAG_PX = 380;
const mounted = new WeakMap(); // place on the page -> viewer
let current = null; // the viewer that keys go to

export function mount(component) {
  const place = component.parentElement;
  if (!mounted.has(place)) mounted.set(place, new Viewer(place));
  const viewer = mounted.get(place);
  viewer.generation += 1;
  const { generation } = viewer;
  viewer.update(component.data, component.setTriggerValue);
  return () => {
    if (viewer.generation !== generation) return; // a later run owns the viewer
    mounted.delete(place);
    viewer.destroy();
  };
}

class Viewer {
  constructor(place) {
    this.generation = 0;
    this.state = new ViewState();
    this.views = [];
    this.groups = [];
    this.panes = [];
    this.dirty = new Set();
    this.frames = 0;
    this.blink = new Blink(() => this.flip());
    this.#build(place);
    current = this;
  }

  #build(place) {
    const commands = commandsOf(this);
    this.toolbar = new Toolbar(this, commands);
    this.chips = new Chips(this);
    this.grid = html("div", { class: "panes" });
    this.live = html("div", { class: "spoken", "aria-live": "polite" });
    this.help = new Help(() => this.toggleHelp(false));
    this.root = html(
      "section",
      { class: "rx", "aria-label": "Radiograph viewer" },
      this.toolbar.node,
      this.grid,
      this.chips.node,
      this.live,
      this.help.node,
    );
    place.append(this.root);
    for (const name of ["pointerdown", "focusin"]) {
      this.root.addEventListener(name, () => (current = this), true);
    }
    this.root.addEventListener("fullscreenchange", () => this.changed());
    this.keyboard = new Keyboard(this, commands);
    this.linking = new Linking((isLit) => this.#lightBoxes(isLit));
    this.address = new Address(() => this.#addressText());
    this.hashListener = () => this.#readAddress() && this.#arrange();
    window.addEventListener("hashchange", this.hashListener);
    this.observer = new ResizeObserver(() => this.#layout());
    this.observer.observe(this.grid);
  }

  destroy() {
    this.blink.stop();
    this.keyboard.close();
    this.linking.close();
    this.address.close();
    this.observer.disconnect();
    window.removeEventListener("hashchange", this.hashListener);
    for (const pane of this.panes) pane.destroy();
    this.root.remove();
    if (current === this) current = null;
  }

  // --- data from the page ----------------------------------------------------------------------

  update(data, setTriggerValue) {
    this.tell = setTriggerValue;
    const text = JSON.stringify(data);
    if (text === this.received) {
      this.address.touch(); // the page ran again and may have dropped our part of the address
      return;
    }
    this.received = text;
    const sameCase = this.data?.case === data.case;
    this.data = data;
    this.views = data.views;
    this.groups = data.groups;
    this.root.style.setProperty("--rx-height", data.height);
    this.renewed = false;
    if (!sameCase) {
      this.blink.stop();
      this.state.reset();
      this.state.shown = this.views.length > 0 ? [data.active ?? this.views[0].id] : [];
      this.state.active = this.state.shown[0] ?? null;
      this.#readAddress();
      this.tool = this.state.habits.tool ?? (matchMedia("(pointer: coarse)").matches ? "pan" : "window");
    } else {
      const there = (id) => this.views.some((view) => view.id === id);
      this.state.shown = this.state.shown.filter(there);
      if (this.state.shown.length === 0 && this.views.length > 0) this.state.shown = [this.views[0].id];
      if (!there(this.state.active)) this.state.active = this.state.shown[0] ?? null;
    }
    this.chips.fill();
    this.#arrange();
  }

  #readAddress() {
    const seen = decode(location.hash);
    if (!seen || seen.caseId !== this.data?.case) return false;
    const views = seen.views.filter(({ id }) => this.views.some((view) => view.id === id));
    for (const { id, pose, window, inverted } of views) {
      this.state.looks.set(id, { pose, window: null, inverted, wanted: window });
      const pane = this.panes.find((one) => one.view?.id === id);
      if (pane?.raster) this.state.settle(id, pane.raster.header);
    }
    if (views.length > 0) {
      this.state.shown = views.map(({ id }) => id).slice(0, MOST_PANES);
      this.state.active = this.state.shown.includes(seen.active) ? seen.active : this.state.shown[0];
    }
    this.state.habits.linked = seen.linked;
    if (seen.groups) {
      for (const group of this.groups) this.state.setGroup(group, seen.groups.includes(group.id));
    }
    return true;
  }

  #addressText() {
    const { state } = this;
    if (!this.data || !this.root.isConnected) return "";
    const views = state.shown.map((id) => {
      const look = state.look(id);
      const header = this.panes.find((pane) => pane.view?.id === id)?.raster?.header;
      const usual = header && look.window?.name === header.presets[header.initial]?.name;
      const named = look.window?.name ? { preset: look.window.name } : look.window;
      return { id, pose: look.pose, inverted: look.inverted, window: usual ? null : (named ?? look.wanted) };
    });
    const changedGroups = this.groups.some((group) => state.groupShown(group) !== group.shown);
    const groups = changedGroups
      ? this.groups.filter((group) => state.groupShown(group)).map(({ id }) => id)
      : null;
    const seen = { caseId: this.data.case, active: state.active, views, groups, linked: state.habits.linked };
    const first = this.data.active ?? this.views[0]?.id;
    const plain = encode({
      ...seen,
      views: first ? [{ id: first, pose: { zoom: 1, x: 0, y: 0, orientation: 0 }, window: null, inverted: false }] : [],
      active: first,
      groups: null,
      linked: true,
    });
    const text = encode(seen);
    return text === plain ? "" : text;
  }

  /** Ask the page for fresh links, once for each set of data; returns whether it was asked. */
  renewLinks() {
    if (this.renewed) return true;
    if (this.renewedFor === this.data.case) return false;
    this.renewed = true;
    this.renewedFor = this.data.case;
    this.tell("refresh", Date.now());
    return true;
  }

  // --- panes -----------------------------------------------------------------------------------

  get activePane() {
    return this.panes.find((pane) => pane.view?.id === this.state.active) ?? this.panes[0] ?? null;
  }

  activate(pane) {
    if (!pane.view || this.state.active === pane.view.id) return;
    this.state.active = pane.view.id;
    this.changed();
  }

  #arrange() {
    const { shown } = this.state;
    while (this.panes.length > Math.max(shown.length, 1)) this.panes.pop().destroy();
    while (this.panes.length < shown.length) {
      const pane = new Pane(this);
      this.panes.push(pane);
      this.grid.append(pane.node);
    }
    if (shown.length === 0) {
      for (const pane of this.panes.splice(0)) pane.destroy();
      this.grid.replaceChildren(html("p", { class: "empty" }, "This case has no image."));
    } else {
      for (const stray of this.grid.querySelectorAll(".empty")) stray.remove();
    }
    shown.forEach((id, place) => {
      this.panes[place].open(this.views.find((view) => view.id === id));
      this.panes[place].refreshBoxes();
    });
    this.#layout();
    this.changed();
  }

  #layout() {
    const count = this.panes.length;
    const wide = this.grid.clientWidth >= SIDE_BY_SIDE_FROM_PX;
    const columns = wide ? (count <= 3 ? count : 2) : 1;
    this.grid.style.setProperty("--columns", Math.max(columns, 1));
    this.grid.style.setProperty("--rows", Math.ceil(Math.max(count, 1) / Math.max(columns, 1)));
    this.grid.dataset.count = count;
  }

  loaded() {
    this.changed();
    if (!this.panes.every((pane) => pane.raster || pane.view?.error)) return;
    const wanted = [...this.views.filter((view) => !view.error), ...this.data.prefetch];
    const fetchAhead = () => pixelStore.prefetch(wanted);
    if (window.requestIdleCallback) requestIdleCallback(fetchAhead, { timeout: 500 });
    else setTimeout(fetchAhead, 100);
  }

  /** Something that is seen has changed: draw all panes, refresh buttons, write the address. */
  changed() {
    for (const pane of this.panes) this.repaint(pane);
    this.stale = true;
    this.address.touch();
  }

  repaint(pane) {
    this.dirty.add(pane);
    this.frame ??= requestAnimationFrame(() => this.#paint());
  }

  #paint() {
    this.frame = null;
    const panes = [...this.dirty].filter((pane) => pane.view && this.panes.includes(pane));
    this.dirty.clear();
    const drawn = panes.map((pane) => pane.paint());
    for (const pane of this.panes) {
      pane.node.classList.toggle("active", this.panes.length > 1 && pane === this.activePane);
    }
    if (this.stale) {
      this.stale = false;
      this.toolbar.refresh();
      this.chips.refresh();
    } else this.toolbar.refresh();
    if (!drawn.some(Boolean)) return;
    this.frames += 1;
    this.root.dataset.painted = this.frames;
    if (this.panes.every((pane) => pane.raster || pane.view?.error)) {
      this.root.dataset.paintedCase = this.data.case;
    }
    this.#say("painted", { case: this.data.case, frame: this.frames });
  }

  #say(name, detail) {
    const event = new CustomEvent(`rexview:${name}`, { detail, bubbles: true, composed: true, cancelable: true });
    return this.root.dispatchEvent(event);
  }

  announce(words) {
    this.live.textContent = words;
  }

  // --- views -----------------------------------------------------------------------------------

  chooseView(id, beside) {
    const { state } = this;
    this.#endBlink();
    if (!beside && state.shown.length <= 1) state.shown = [id];
    else if (!state.shown.includes(id)) state.shown = [...state.shown, id].slice(-MOST_PANES);
    else if (state.shown.length > 1) state.shown = state.shown.filter((one) => one !== id);
    state.active = state.shown.includes(id) ? id : state.shown[0];
    this.#arrange();
  }

  nextView() {
    const { state, views } = this;
    if (views.length < 2) return;
    const place = views.findIndex(({ id }) => id === state.active);
    const next = views[(place + 1) % views.length].id;
    if (state.shown.length > 1 && state.shown.includes(next)) state.active = next;
    else state.shown = state.shown.map((id) => (id === state.active ? next : id));
    state.active = next;
    this.#arrange();
    this.announce(views[(place + 1) % views.length].title);
  }

  toggleBeside() {
    const { state } = this;
    this.#endBlink();
    if (state.shown.length > 1) state.shown = [state.active];
    else state.shown = this.views.slice(0, MOST_PANES).map(({ id }) => id);
    if (!state.shown.includes(state.active)) state.shown[state.shown.length - 1] = state.active;
    this.#arrange();
  }

  toggleLink() {
    const { habits } = this.state;
    habits.linked = !habits.linked;
    this.announce(habits.linked ? "Views linked" : "Views not linked");
    this.changed();
  }

  canBlink() {
    return blinkPair(this.views, this.state.active) !== null;
  }

  toggleBlink() {
    if (this.blink.on) {
      this.#endBlink();
      this.#arrange();
      return;
    }
    const pair = blinkPair(this.views, this.state.active);
    if (!pair) {
      this.announce("There is no prior to compare with");
      return;
    }
    this.state.shown = [pair[0]];
    this.state.active = pair[0];
    this.#arrange();
    this.blink.start(pair, this.state.habits.blinkSeconds);
    this.changed();
  }

  #endBlink() {
    if (!this.blink.on) return;
    const first = this.blink.pair[0];
    this.blink.stop();
    this.state.shown = [first];
    this.state.active = first;
  }

  flip() {
    if (!this.blink.on) return;
    const { state } = this;
    const other = this.blink.other(state.active);
    if (state.habits.linked) {
      const { orientation } = state.look(other).pose;
      state.look(other).pose = { ...state.look(state.active).pose, orientation };
    }
    state.shown = [other];
    state.active = other;
    this.#arrange();
  }

  toggleBlinkRun() {
    if (this.blink.running) this.blink.hold();
    else this.blink.run(this.state.habits.blinkSeconds);
    this.changed();
  }

  blinkFaster(step) {
    const { habits } = this.state;
    const place = BLINK_SECONDS.indexOf(habits.blinkSeconds) - step;
    habits.blinkSeconds = BLINK_SECONDS[Math.min(Math.max(place, 0), BLINK_SECONDS.length - 1)];
    if (this.blink.running) this.blink.run(habits.blinkSeconds);
    this.announce(`${habits.blinkSeconds} seconds each`);
  }

  // --- boxes -----------------------------------------------------------------------------------

  hasGroupKey(key) {
    return this.groups.some((group) => group.key === key);
  }

  toggleGroupByKey(key) {
    const group = this.groups.find((one) => one.key === key);
    if (group) this.toggleGroup(group.id);
    else this.announce("There are no reference boxes");
  }

  toggleGroup(id) {
    const group = this.groups.find((one) => one.id === id);
    const shown = !this.state.groupShown(group);
    this.state.setGroup(group, shown);
    this.#groupsChanged();
    this.announce(`${group.name}: boxes ${shown ? "shown" : "hidden"}`);
  }

  toggleAllGroups() {
    const shown = !this.groups.some((group) => this.state.groupShown(group));
    for (const group of this.groups) this.state.setGroup(group, shown);
    this.#groupsChanged();
    this.announce(shown ? "All boxes shown" : "All boxes hidden");
  }

  #groupsChanged() {
    for (const pane of this.panes) pane.showGroups();
    this.chips.refresh();
    this.address.touch();
    this.#say("boxes", { shown: this.groups.filter((g) => this.state.groupShown(g)).map(({ id }) => id) });
  }

  toggleLabels() {
    this.state.habits.labels = !this.state.habits.labels;
    this.changed();
  }

  /** Light boxes from a pane, with the words of the page that belong to them. */
  light(boxes) {
    const ids = new Set((boxes ?? []).map((box) => box.id));
    this.#lightBoxes(boxes ? (box) => ids.has(box.id) : null);
    this.linking.mark(boxes ?? []);
    this.#say("hover", { boxes: [...ids] });
  }

  #lightBoxes(isLit) {
    for (const pane of this.panes) pane.boxes.light(isLit);
  }

  // --- window ----------------------------------------------------------------------------------

  /** Change the window as a drag by (dx, dy) CSS pixels does: right is wider, down is darker. */
  adjustWindow(pane, dx, dy) {
    if (!pane?.raster || !pane.look.window) return;
    this.state.adjustWindow(pane.view.id, Math.exp((2 * dx) / WINDOW_DRAG_PX), dy / WINDOW_DRAG_PX);
    this.changed();
  }

  setWindow({ centre, width }) {
    const { look } = this.activePane;
    if (!look.window || (width !== undefined && width <= 0)) return;
    const window = adjusted(look.window, 1, 0);
    look.window = { ...window, centre: centre ?? window.centre, width: width ?? window.width };
    this.changed();
  }

  /** Give every view that moves along the preset of that name, the first one where it has none. */
  choosePreset(index) {
    const name = this.activePane?.raster?.header.presets[index]?.name;
    if (name === undefined) return;
    this.#eachTogether((look, header) => {
      const place = header.presets.findIndex((preset) => preset.name === name);
      if (place >= 0) look.window = presetWindow(header, place);
    });
    this.announce(`Window: ${name}`);
  }

  nextPreset() {
    const pane = this.activePane;
    const { presets } = pane?.raster?.header ?? { presets: [] };
    if (presets.length === 0) return;
    const place = presets.findIndex((preset) => preset.name === pane.look.window.name);
    this.choosePreset((place + 1) % presets.length);
  }

  resetWindow() {
    this.#eachTogether((look, header) => {
      look.window = presetWindow(header, header.initial);
      look.inverted = false;
    });
  }

  #eachTogether(change) {
    const ids = this.state.together(this.state.active);
    for (const pane of this.panes) {
      if (pane.raster && ids.includes(pane.view.id)) change(pane.look, pane.raster.header);
    }
    this.changed();
  }

  toggleInvert() {
    const pane = this.activePane;
    if (!pane?.raster) return;
    this.state.setInverted(pane.view.id, !pane.look.inverted);
    this.changed();
  }

  standardOrientation() {
    const pane = this.activePane;
    const orientation = pane?.view && standardOrientation(pane.view.orientation);
    if (pane?.raster && orientation !== null) pane.orient(orientation);
  }

  // --- tools -----------------------------------------------------------------------------------

  setTool(tool, toggle = false) {
    const pane = this.activePane;
    if (tool === "ratio" && pane?.view?.word === "LATERAL") {
      this.announce("The ratio is measured on a frontal view");
      return;
    }
    const off = toggle && this.tool === tool;
    this.tool = off ? "window" : tool;
    if (["window", "pan"].includes(this.tool)) this.state.habits.tool = this.tool;
    this.announce(off ? "Tool put away" : { ruler: "Ruler: drag along what you measure", ratio: "Drag across the heart, then across the thorax" }[tool] ?? "");
    this.changed();
  }

  placeMeasure() {
    const pane = this.activePane;
    if (!pane?.raster || !["ruler", "ratio"].includes(this.tool)) return;
    const kind = pane.measures.nextKind(this.tool);
    if (kind) pane.measures.placeDefault(kind, pane.acrossAxis());
    this.changed();
  }

  clearMeasures() {
    for (const pane of this.panes) if (pane.raster) pane.measures.clear();
    this.changed();
  }

  // --- the rest --------------------------------------------------------------------------------

  ownsKeys() {
    return current === this && this.root.isConnected && this.root.getClientRects().length > 0;
  }

  get helpOpen() {
    return this.help.open;
  }

  toggleHelp(open = !this.help.open) {
    this.help.toggle(open);
  }

  /** What Escape does now, or null. */
  escaping() {
    if (this.help.open) return () => this.toggleHelp(false);
    if (this.blink.on) return () => this.toggleBlink();
    if (["ruler", "ratio"].includes(this.tool)) return () => this.setTool("window");
    if (this.root.classList.contains("filled")) return () => this.toggleFullScreen();
    return null;
  }

  escape() {
    this.escaping()?.();
  }

  toggleFullScreen() {
    if (document.fullscreenElement) document.exitFullscreen();
    else if (this.root.classList.contains("filled")) this.root.classList.remove("filled");
    else if (this.root.requestFullscreen) {
      this.root.requestFullscreen().catch(() => this.root.classList.add("filled"));
    } else this.root.classList.add("filled");
  }

  go(direction) {
    const target = this.data.neighbours[direction];
    if (!target) {
      this.announce(direction === "next" ? "This is the last case" : "This is the first case");
      return;
    }
    if (this.#say("navigate", { direction, case: target })) {
      this.tell("navigate", { direction, case: target });
    }
  }

  showReport() {
    const report = document.getElementById("report");
    const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
    if (report) report.scrollIntoView({ behavior: still ? "auto" : "smooth", block: "start" });
    else this.tell("report", true);
  }
}

// The views on screen: one, several side by side, or two alternating.

import { tr } from "../../../web/components/words.js";
import { BLINK_SECONDS, Blink, blinkPair } from "./blink.js";

/** @import { View } from "../types.d.ts" */
/** @import { Viewer } from "../viewer.js" */

const MOST_PANES = 4;

export class Views {
  constructor(/** @type {Viewer} */ viewer) {
    this.viewer = viewer;
    /** @type {View[]} */
    this.list = [];
    this.blink = new Blink(() => this.flip());
  }

  get(id) {
    return this.list.find((view) => view.id === id);
  }

  /** Set the views of a case; the reader's choice remains if its views exist. */
  take(list, first, fresh) {
    const { state } = this.viewer;
    this.list = list;
    const usual = this.get(first)?.id ?? list[0]?.id ?? null;
    if (fresh) {
      this.blink.stop();
      state.reset();
    }
    this.usual = usual;
    state.shown = state.shown.filter((id) => this.get(id));
    if (state.shown.length === 0 && usual !== null) state.shown = [usual];
    if (!state.shown.includes(state.active)) state.active = state.shown[0] ?? null;
    if (this.blink.on && !this.blink.pair.every((id) => this.get(id))) this.blink.stop();
  }

  /** Show these views, if the case has them. */
  showOnly(ids, active) {
    const { state } = this.viewer;
    const there = ids.filter((id) => this.get(id)).slice(0, MOST_PANES);
    if (there.length === 0) return;
    this.blink.stop();
    state.shown = there;
    state.active = there.includes(active) ? active : there[0];
  }

  /** A chip was pressed: show that view, or with `beside` add or remove it. */
  choose(id, beside) {
    const { state } = this.viewer;
    this.#endBlink();
    if (!beside && state.shown.length <= 1) state.shown = [id];
    else if (!state.shown.includes(id)) state.shown = [...state.shown, id].slice(-MOST_PANES);
    else if (state.shown.length > 1) state.shown = state.shown.filter((one) => one !== id);
    state.active = state.shown.includes(id) ? id : state.shown[0];
    this.viewer.arrange();
  }

  next() {
    const { state } = this.viewer;
    if (this.list.length < 2) return;
    this.#endBlink();
    const place = this.list.findIndex(({ id }) => id === state.active);
    const { id: next, title } = this.list[(place + 1) % this.list.length];
    if (!state.shown.includes(next)) {
      state.shown = state.shown.map((id) => (id === state.active ? next : id));
    }
    state.active = next;
    this.viewer.arrange();
    this.viewer.announce(title);
  }

  /** All views side by side, or the active one alone. */
  toggleBeside() {
    const { state } = this.viewer;
    this.#endBlink();
    if (state.shown.length > 1) state.shown = [state.active];
    else if (this.list.length > 1) {
      const first = this.list.slice(0, MOST_PANES).map(({ id }) => id);
      state.shown = first.includes(state.active) ? first : [...first.slice(0, -1), state.active];
    }
    this.viewer.arrange();
  }

  toggleLabels() {
    const { habits } = this.viewer.state;
    habits.labels = !habits.labels;
    this.viewer.changed();
  }

  toggleLink() {
    const { habits } = this.viewer.state;
    habits.linked = !habits.linked;
    this.viewer.announce(habits.linked ? tr("Views linked") : tr("Views not linked"));
    this.viewer.changed();
  }

  // --- comparison with the prior ---------------------------------------------------------------

  canBlink() {
    return this.blink.on || blinkPair(this.list, this.viewer.state.active) !== null;
  }

  toggleBlink() {
    const { viewer } = this;
    const pair = this.blink.on ? null : blinkPair(this.list, viewer.state.active);
    if (this.blink.on) this.#endBlink();
    else if (pair) {
      viewer.state.shown = [pair[0]];
      viewer.state.active = pair[0];
      this.blink.start(pair, viewer.state.habits.blinkSeconds);
      viewer.turning.fetchAhead(pair);
    } else {
      viewer.announce(tr("There is no prior to compare with"));
      return;
    }
    viewer.arrange();
  }

  #endBlink() {
    if (!this.blink.on) return;
    const { state } = this.viewer;
    const [first] = this.blink.pair;
    this.blink.stop();
    state.shown = [first];
    state.active = first;
  }

  /** Show the other image of the pair, at the same place and size while the views are linked. */
  flip() {
    if (!this.blink.on) return;
    const { state } = this.viewer;
    const other = this.blink.other(state.active);
    if (state.habits.linked) {
      const { orientation } = state.look(other).pose;
      state.look(other).pose = { ...state.look(state.active).pose, orientation };
    }
    state.shown = [other];
    state.active = other;
    this.viewer.arrange();
  }

  toggleRun() {
    if (this.blink.running) this.blink.hold();
    else this.blink.run(this.viewer.state.habits.blinkSeconds);
    this.viewer.changed();
  }

  faster(step) {
    const { habits } = this.viewer.state;
    const place = BLINK_SECONDS.indexOf(habits.blinkSeconds) - step;
    habits.blinkSeconds = BLINK_SECONDS[Math.min(Math.max(place, 0), BLINK_SECONDS.length - 1)];
    if (this.blink.running) this.blink.run(habits.blinkSeconds);
    this.viewer.announce(tr("{n} seconds each", { n: habits.blinkSeconds }));
  }
}

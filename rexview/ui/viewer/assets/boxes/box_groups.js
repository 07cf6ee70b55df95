// Which groups of boxes are shown, and which boxes are highlighted.

import { tr } from "../../../web/components/words.js";
import { remember, remembered } from "../storage.js";

/** @import { Group, Pinned } from "../types.d.ts" */
/** @import { Viewer } from "../viewer.js" */

const FROM_START = "reference-from-start"; // a reader's setting, stored in this browser

export class BoxGroups {
  constructor(/** @type {Viewer} */ viewer) {
    this.viewer = viewer;
    /** @type {Group[]} */
    this.list = [];
    this.given = []; // as the page requested them
    /** @type {Pinned | null} */
    this.pinned = null;
  }

  /** Set the groups of a case; the reference is shown initially if wanted and allowed. */
  take(groups, blinded) {
    this.blinded = blinded;
    this.given = groups;
    this.list = groups.map((group) =>
      this.isReference(group) && this.fromStart ? { ...group, shown: true } : group,
    );
  }

  isReference(group) {
    return group.kind === "reference";
  }

  /** Whether the reference boxes are shown initially; never on a blinded page. */
  get fromStart() {
    return !this.blinded && remembered(FROM_START) === true;
  }

  toggleFromStart() {
    if (this.blinded) return;
    const on = !this.fromStart;
    remember(FROM_START, on);
    this.take(this.given, this.blinded);
    const reference = this.list.find((group) => this.isReference(group));
    if (on && reference) this.viewer.state.setGroup(reference, true);
    this.#changed();
    this.viewer.announce(
      on
        ? tr("Reference boxes shown from the start")
        : tr("Reference boxes not shown from the start"),
    );
  }

  isShown(id) {
    const group = this.list.find((one) => one.id === id);
    return group !== undefined && this.viewer.state.groupShown(group);
  }

  shownIds() {
    return this.list.filter(({ id }) => this.isShown(id)).map(({ id }) => id);
  }

  /** The shown ids if they differ from the page's request, else null. */
  changedIds() {
    if (this.viewer.data?.oneGroup) return null; // no link shows boxes that were not requested
    const usual = this.list.every((group) => this.isShown(group.id) === group.shown);
    return usual ? null : this.shownIds();
  }

  hasKey(key) {
    return this.list.some((group) => group.key === key);
  }

  toggleByKey(key) {
    const group = this.list.find((one) => one.key === key);
    if (group) this.toggle(group.id);
    else this.viewer.announce(tr("There are no reference boxes"));
  }

  toggle(id) {
    const group = this.list.find((one) => one.id === id);
    const shown = !this.isShown(id);
    this.viewer.state.setGroup(group, shown);
    this.#changed();
    const { name } = group;
    this.viewer.announce(
      shown ? tr("{name}: boxes shown", { name }) : tr("{name}: boxes hidden", { name }),
    );
  }

  toggleAll() {
    if (this.list.length === 0) {
      this.viewer.announce(tr("There are no boxes"));
      return;
    }
    const shown = this.shownIds().length === 0;
    for (const group of this.list) this.viewer.state.setGroup(group, shown);
    this.#changed();
    this.viewer.announce(shown ? tr("All boxes shown") : tr("All boxes hidden"));
  }

  #changed() {
    const { viewer } = this;
    for (const pane of viewer.panes) pane.showGroups();
    viewer.chips.refresh();
    viewer.address.touch();
  }

  /** Highlight boxes and their words on the page; null ends it. */
  light(boxes) {
    const ids = new Set((boxes ?? []).map((box) => box.id));
    this.lightWhere(boxes ? (box) => ids.has(box.id) : null);
    this.viewer.wordLinks.lightWordsOf(boxes ?? []);
  }

  /** Highlight the boxes of a test; null returns to the pinned ones, if any. */
  lightWhere(isLit) {
    const test = isLit ?? this.pinned?.isLit ?? null;
    for (const pane of this.viewer.panes) pane.boxes.light(test);
  }

  /** Keep boxes highlighted, with their groups and a view that has them; a null key ends it. */
  pin(key, isLit) {
    if ((this.pinned?.key ?? null) === key) return;
    for (const group of this.pinned?.revealed ?? []) this.viewer.state.setGroup(group, false);
    const had = (this.pinned?.revealed ?? []).length > 0;
    this.pinned = null;
    if (key === null) {
      if (had) this.#changed();
      return;
    }
    const meant = this.list.filter((group) => group.boxes.some(isLit));
    const revealed = meant.filter((group) => !this.isShown(group.id));
    this.pinned = { key, isLit, revealed };
    for (const group of revealed) this.viewer.state.setGroup(group, true);
    const images = new Set(
      meant.flatMap(({ boxes }) => boxes.filter(isLit).map(({ image }) => image)),
    );
    const { shown } = this.viewer.state;
    const first = [...images].find((id) => this.viewer.views.get(id));
    if (first && !shown.some((id) => images.has(id)))
      this.viewer.views.choose(first, shown.length > 1);
    if (had || revealed.length > 0) this.#changed();
  }
}

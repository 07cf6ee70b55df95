// The viewer's part in turning to other cases: keys and buttons, prefetched images, and a message
// while a case is waited for.

import { turning } from "../../turning/assets/turning.js";
import { whenIdle } from "../../web/components/dom.js";
import { tr } from "../../web/components/words.js";
import { noteSeen } from "../../web/saving/assets/seen_cases.js";
import { pixelStore } from "./image/pixels.js";

/** @import { Step } from "../../turning/assets/types.d.ts" */
/** @import { Direction, View, ViewerData } from "./types.d.ts" */
/** @import { Viewer } from "./viewer.js" */

const COMING = tr("The next case is loading…");
const SLOW_MS = 150; // a shorter wait needs no message
const MOST_AFTER = 8; // cases whose images are prefetched in the reader's direction
const MOST_BEFORE = 3; // and in the opposite direction
const LAST = { next: tr("This is the last case"), previous: tr("This is the first case") };
/** @type {Record<Direction, string>} */
const BUTTONS = { next: ".st-key-case_next button", previous: ".st-key-case_previous button" };

/** The view that a case shows first. */
function firstView(/** @type {ViewerData} */ { views, active }) {
  return views.find((view) => view.id === active) ?? views[0];
}

export class CaseTurning {
  constructor(/** @type {Viewer} */ viewer) {
    this.viewer = viewer;
    turning.enter(this);
    const unlisten = turning.listen({
      show: (record) => {
        viewer.show(record.viewer);
        whenIdle(() => this.fetchAhead(), 50); // images of passed cases are no longer needed
      },
      waiting: (waits) => this.#wait(waits),
      arrived: () => whenIdle(() => this.fetchAhead(), 500),
    });
    viewer.signal.addEventListener("abort", () => {
      clearTimeout(this.slow);
      unlisten();
      turning.leave(this);
    });
    const options = { capture: true, signal: viewer.signal };
    document.addEventListener("click", (event) => this.#pressed(event), options);
  }

  /** Accept the page's data; return whether it is of the case to show. */
  take(/** @type {ViewerData} */ data) {
    const given = [...(data.ahead ?? []), data];
    turning.configure(
      data.turning,
      given.map((one) => ({ case: one.case, viewer: one })),
    );
    return !turning.isBehind(data.case);
  }

  /** The page has followed. */
  came(caseId) {
    turning.came(caseId);
  }

  go(/** @type {Direction} */ direction) {
    if (!turning.step(direction === "next" ? 1 : -1)) this.viewer.announce(LAST[direction]);
  }

  ask(wanted) {
    this.viewer.tell("navigate", wanted);
  }

  /** Cases that readers saw with models named are recorded, even if the page is closed. */
  left(/** @type {Set<string>} */ cases) {
    if (this.viewer.data?.blinded) return;
    noteSeen(cases);
  }

  // The page's own buttons only know the case that the page has followed to.
  #pressed(event) {
    for (const direction of /** @type {Direction[]} */ (["next", "previous"])) {
      const button = event.target.closest?.(BUTTONS[direction]);
      if (!button || button.disabled) continue;
      event.preventDefault();
      event.stopPropagation();
      this.go(direction);
    }
  }

  #wait(waits) {
    const { notice } = this;
    clearTimeout(this.slow);
    this.notice = null;
    if (notice?.node.textContent === COMING) notice.tell(null);
    if (!waits) return;
    this.slow = setTimeout(() => {
      const pane = this.viewer.activePane;
      this.viewer.announce(COMING);
      if (pane?.raster) {
        this.notice = pane.notice;
        this.notice.tell(COMING);
      }
    }, SLOW_MS);
  }

  /** Prefetch images that may be needed next: given views first, then the likeliest. */
  fetchAhead(first = []) {
    const { data, views } = this.viewer;
    if (!data) return undefined;
    const rank = (view) => (first.includes(view.id) ? 0 : 1);
    const own = views.list.filter(({ url }) => url !== null).sort((a, b) => rank(a) - rank(b));
    const [next, ...others] = this.#around(data.case);
    const nearest = next && first.length === 0 ? [next] : []; // before other views of this case
    const shown = own.filter(({ id }) => this.viewer.state.shown.includes(id));
    return pixelStore.prefetch([...shown, ...nearest, ...own, ...others]);
  }

  /**
   * The first views of the cases around, likeliest first.
   *
   * @returns {View[]}
   */
  #around(here) {
    const { store, direction } = turning;
    const back = /** @type {Step} */ (-direction);
    const cases = [
      ...store.from(here, direction, MOST_AFTER),
      ...store.from(here, back, MOST_BEFORE),
    ];
    return cases.map(({ viewer }) => firstView(viewer)).filter((view) => view && view.url !== null);
  }
}

// The tour of the demonstration (rexview/ui/guide/guides.py makes the HTML of each step).

import { forget, remember, remembered } from "../../viewer/assets/storage.js";
import { mount as mountLinked } from "../../web/streamlit_adapter/in_app.js";

const TOUR = "tour"; // absent: never started, "on", "done"

/**
 * @param {object} all
 * @param {HTMLElement} all.parentElement
 * @param {{ html: string, again: boolean, begins: boolean }} all.data `begins`: the tour starts on
 *   this page; `again`: it shows no step, but a button to restart the tour
 */
export function mount({ parentElement: root, data }) {
  if (!data.again) {
    const state = remembered(TOUR);
    const shown = data.begins ? state !== "done" : state === "on";
    if (shown) remember(TOUR, "on");
    mountLinked({ parentElement: root, data: { html: shown ? data.html : "" } });
  } else {
    mountLinked({ parentElement: root, data });
  }
  if (root.dataset.rxTour) return;
  root.dataset.rxTour = "here";
  // before the link is followed: the next page must find its state
  root.addEventListener("click", (event) => clicked(root, event), { capture: true });
}

function clicked(root, event) {
  const target = /** @type {Element} */ (event.target);
  if (target.closest(".rx-tour-again a")) forget(TOUR);
  if (!target.closest("[data-end]")) return;
  remember(TOUR, "done");
  mountLinked({ parentElement: root, data: { html: "" } });
}

// The pages at the bottom of a phone's screen (rexview/ui/web/app/shell.py makes the HTML).
import { mount as mountLinked } from "../../streamlit_adapter/in_app.js";
import { keepFocus } from "./keep_focus.js";
import { keepPresses } from "./keep_presses.js";

/** Close the list of more pages, and return the focus if it was inside. */
function close(more) {
  const inside = more.contains(document.activeElement);
  more.open = false;
  if (inside) more.querySelector("summary").focus();
}

export function mount(/** @type {{ parentElement: HTMLElement, data: object }} */ all) {
  mountLinked(all);
  keepFocus(); // this part is on every page
  keepPresses();
  const { parentElement: root } = all;
  if (root.dataset.rxCloses) return;
  root.dataset.rxCloses = "";
  const listed = () => root.querySelector("details[open]");
  // an open list closes on a touch elsewhere, on its own links and on Escape
  document.addEventListener("pointerdown", (event) => {
    const more = listed();
    if (more && !more.contains(/** @type {Node} */ (event.target))) close(more);
  });
  root.addEventListener("click", (event) => {
    const more = listed();
    if (more && /** @type {Element} */ (event.target).closest("a")) close(more);
  });
  root.addEventListener("keydown", (event) => {
    const more = listed();
    if (!more || event.key !== "Escape") return;
    event.stopPropagation();
    close(more);
  });
}

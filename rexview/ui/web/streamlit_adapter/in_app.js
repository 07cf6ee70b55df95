// Shows HTML made by the app and follows its links inside the app, without a reload.
// The HTML is sent complete and escaped by rexview/ui/web/link/in_app.py.

import { heldRankings, listenToRankings } from "../../tables/ranked.js";

// The address changes as on any site. Streamlit runs the page of an address when the browser
// reports
// a navigation to it, as for the back button. So back and forward work as expected.
function follow(address) {
  window.history.pushState({}, "", new URL(address, document.baseURI));
  window.dispatchEvent(new PopStateEvent("popstate", { state: {} }));
}

function show(root, html) {
  if (root.source === html) return;
  const active = root.contains(document.activeElement) ? document.activeElement : null;
  const focused = active?.getAttribute("href");
  const another = root.source !== undefined;
  const putBack = heldRankings(root);
  root.innerHTML = html;
  root.source = html;
  putBack();
  if (focused) {
    root.querySelector(`[href="${CSS.escape(focused)}"]`)?.focus({ preventScroll: true });
  }
  // A new list is read from its start.
  if (another && root.getBoundingClientRect().top < 0) root.scrollIntoView({ block: "start" });
}

/** Follow a link of ours inside the app, if the click means that. */
export function followLink(/** @type {MouseEvent} */ event) {
  const link = /** @type {Element} */ (event.target).closest?.("a[data-rx-page]");
  const elsewhere = event.ctrlKey || event.metaKey || event.shiftKey || event.altKey;
  if (!link || event.button !== 0 || elsewhere) return;
  event.preventDefault();
  follow(link.getAttribute("href"));
}

// A picture that cannot be loaded is replaced by a message.
function failed(event) {
  const picture = event.target.closest?.("img[data-rx-thumb]");
  if (!picture) return;
  const note = document.createElement("span");
  note.className = "rx-nopicture";
  note.textContent = "The image cannot be shown";
  picture.closest("[data-rx-frame]").replaceChildren(note);
}

// Runs again whenever the data changes: the listeners are set once, with the element.
export function mount({ parentElement, data }) {
  if (data.go) {
    if (parentElement.rexviewWent !== data.go) follow(data.go);
    parentElement.rexviewWent = data.go;
    return;
  }
  let root = parentElement.querySelector(":scope > .rx-linked");
  if (!root) {
    root = document.createElement("div");
    root.className = "rx-linked";
    root.addEventListener("click", followLink);
    listenToRankings(root);
    root.addEventListener("error", failed, true);
    parentElement.append(root);
  }
  show(root, data.html);
}

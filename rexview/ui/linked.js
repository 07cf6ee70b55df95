// Shows HTML made by the app and reports which of its links was clicked.
// The HTML arrives ready and escaped from rexview/ui/linked.py.

export default function ({ parentElement, data, setTriggerValue }) {
  let root = parentElement.querySelector(":scope > .rx-linked");
  if (!root) {
    root = document.createElement("div");
    root.className = "rx-linked";
    parentElement.append(root);
  }
  if (root.dataset.shown !== String(data.html.length) || root.source !== data.html) {
    const focused = root.contains(document.activeElement)
      ? document.activeElement.getAttribute("href")
      : null;
    root.innerHTML = data.html;
    root.source = data.html;
    root.dataset.shown = String(data.html.length);
    if (focused) {
      root.querySelector(`[href="${CSS.escape(focused)}"]`)?.focus({ preventScroll: true });
    }
  }

  const clicked = (event) => {
    const link = event.target.closest?.("a[data-rx-page]");
    const elsewhere = event.ctrlKey || event.metaKey || event.shiftKey || event.altKey;
    if (!link || event.button !== 0 || elsewhere) return;
    event.preventDefault();
    setTriggerValue("open", link.getAttribute("href"));
  };
  // A picture that cannot be loaded says so in its place.
  const failed = (event) => {
    const picture = event.target.closest?.("img[data-rx-thumb]");
    if (!picture) return;
    const note = document.createElement("span");
    note.className = "rx-nopicture";
    note.textContent = "The image cannot be shown";
    picture.closest("[data-rx-frame]").replaceChildren(note);
  };
  root.addEventListener("click", clicked);
  root.addEventListener("error", failed, true);
  return () => {
    root.removeEventListener("click", clicked);
    root.removeEventListener("error", failed, true);
  };
}

// A button that copies the address of the page as it stands now: with the filter, the case, and what
// the viewer keeps behind the "#", which the server never sees. The review set is always in it: whoever
// opens the link may have another one open.

const SAID_MS = 2500;

function address({ set }) {
  const found = new URL(window.location.href);
  if (!found.searchParams.get(set.key)) found.searchParams.set(set.key, set.name);
  return found.href;
}

async function copy(field, data) {
  field.value = address(data);
  if (navigator.clipboard && window.isSecureContext) {
    await navigator.clipboard.writeText(field.value);
    return true;
  }
  return false;
}

let shown = null; // what the page has said last

export function mount({ parentElement, data }) {
  shown = data;
  if (parentElement.querySelector(".rx-share")) return;
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = "Copy link";
  button.title = "A colleague who opens the link sees the same case, view, window and boxes";
  const field = document.createElement("input");
  field.readOnly = true;
  field.hidden = true;
  field.setAttribute("aria-label", "Link to this page");
  const said = document.createElement("span");
  said.setAttribute("role", "status");
  button.addEventListener("click", async () => {
    const copied = await copy(field, shown).catch(() => false);
    field.hidden = copied;
    if (!copied) field.select(); // no clipboard here: the link is shown, ready to be copied
    said.textContent = copied ? "Copied" : "";
    setTimeout(() => (said.textContent = ""), SAID_MS);
  });
  field.addEventListener("blur", () => (field.hidden = true));
  const root = document.createElement("div");
  root.className = "rx-share";
  root.append(button, field, said);
  parentElement.append(root);
}

// A button that copies the address of the page as it stands now: with the filter, the case, and what
// the viewer keeps behind the "#", which the server never sees.

const SAID_MS = 2500;

async function copy(field) {
  field.value = window.location.href;
  if (navigator.clipboard && window.isSecureContext) {
    await navigator.clipboard.writeText(field.value);
    return true;
  }
  return false;
}

export default function ({ parentElement }) {
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
    const copied = await copy(field).catch(() => false);
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

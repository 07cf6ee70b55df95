// A button that copies the current address of the page: with the filter, the case, and the viewer's
// state
// after the "#", which the server never gets. It always names the review set, because the receiver
// may
// have another one open.

import { turning } from "../turning/assets/turning.js";
import { button, html } from "../web/components/dom.js";
import { mounting } from "../web/components/mount.js";
import { tr } from "../web/components/words.js";

const COPIED_MS = 2500;

class ShareButton {
  constructor(/** @type {HTMLElement} */ place) {
    this.data = null;
    this.status = html("span", { role: "status" });
    this.field = html("input", {
      readonly: true,
      hidden: true,
      "aria-label": tr("Link to this page"),
      onblur: () => (this.field.hidden = true),
    });
    const copy = button(tr("Copy link"), () => this.copy(), {
      title: tr("A colleague who opens the link sees the same case, view, window and boxes"),
    });
    this.root = html("div", { class: "rx-share" }, copy, this.field, this.status);
    place.append(this.root);
  }

  update(data) {
    this.data = data;
  }

  close() {
    this.root.remove();
  }

  address() {
    const { set } = this.data;
    const found = new URL(window.location.href);
    if (!found.searchParams.get(set.key)) found.searchParams.set(set.key, set.name);
    if (turning.shown) found.searchParams.set("case", turning.shown); // the page may be behind
    return found.href;
  }

  async copy() {
    this.field.value = this.address();
    const copied = await toClipboard(this.field.value);
    this.field.hidden = copied;
    if (!copied) this.field.select(); // no clipboard here: the link is shown, ready to be copied
    this.status.textContent = copied ? tr("Copied") : "";
    setTimeout(() => (this.status.textContent = ""), COPIED_MS);
  }
}

/** Copy a text; return false if the browser has no clipboard or does not allow it. */
async function toClipboard(text) {
  if (!navigator.clipboard || !window.isSecureContext) return false;
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}

export const mount = mounting((place) => new ShareButton(place));

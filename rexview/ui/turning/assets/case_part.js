// A part of the texts of a case: HTML made by the app, replaced at once when the reader turns to
// another
// case. It is sent complete and escaped, by the page or in advance (case/case_page.py).

import { html } from "../../web/components/dom.js";
import { mounting } from "../../web/components/mount.js";
import { serverNodes } from "../../web/components/server_html.js";
import { turning } from "./turning.js";

/** @import { CaseRecord } from "./types.d.ts" */

class CasePart {
  constructor(/** @type {HTMLElement} */ place) {
    this.page = { case: null, part: "", html: "" };
    this.drawn = null;
    this.root = html("div", { class: "rx-part stHtml" }); // styled like Streamlit's own HTML
    place.append(this.root);
    this.unlisten = turning.listen({
      has: (record) => this.#textOf(record) !== undefined,
      show: (record) => this.#turned(record),
      waiting: () => this.#followed(),
    });
  }

  update(data) {
    this.page = data;
    this.#followed();
  }

  /** The page's content is shown together with the image, which may arrive later. */
  #followed() {
    if (this.page.case !== null && turning.isOf(this.page.case)) this.#draw(this.page);
    this.#showIfOfCase();
  }

  /** Texts of another case than the shown one must not be read with it. */
  #showIfOfCase() {
    const { case: name } = this.root.dataset;
    this.root.style.visibility = name === undefined || turning.isOf(name) ? "" : "hidden";
  }

  close() {
    this.unlisten();
    this.root.remove();
  }

  #textOf(/** @type {CaseRecord} */ { case: name, texts }) {
    return this.page.case === name ? this.page.html : texts?.[this.page.part];
  }

  #turned(/** @type {CaseRecord} */ record) {
    this.#draw({ case: record.case, html: this.#textOf(record) });
  }

  #draw({ case: name, html: made }) {
    this.root.dataset.case = name;
    this.#showIfOfCase();
    if (this.drawn === made) return;
    this.drawn = made;
    this.root.replaceChildren(...serverNodes(made));
  }
}

export const mount = mounting((place) => new CasePart(place));

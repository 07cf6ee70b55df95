// The widths of the viewer's column on the page and the one next to it.
//
// Streamlit lays columns out itself. A chosen width is a property on their block and marks on the
// two
// columns (data-rx-column), which style.css uses. A run of the page may recreate the elements:
// refresh() is called after each.

import { rootOf } from "../../../web/components/dom.js";
import { tr } from "../../../web/components/words.js";
import { limitShare, Separator } from "./separator.js";

/**
 * Minimum widths of both columns in pixels, and the browser's key for their widths. Next to the
 * score pad the image is as wide as the pad allows, whatever was chosen elsewhere.
 */
const OPEN = { key: "film-share", least: [320, 320] };
const BLINDED = { key: "film-share-scoring", least: [320, 560] };
const COLUMN = '[data-testid="stColumn"]';

export class PageColumns {
  /** @param {HTMLElement} place the viewer's container */
  constructor(place, /** @type {() => void} */ changed) {
    this.place = place;
    this.told = changed;
  }

  #divide(blinded) {
    if (this.separator && this.blinded === blinded) return;
    this.blinded = blinded;
    this.separator?.node.remove();
    this.separator = new Separator({
      name: tr("Width of the picture"),
      ...(blinded ? BLINDED : OPEN),
      frame: () => this.#frame(),
      changed: () => this.refresh({ several: this.several, blinded }),
    });
    this.separator.node.classList.add("page");
    this.place.append(this.separator.node);
  }

  get #film() {
    return (rootOf(this.place).host ?? this.place).closest(COLUMN);
  }

  /** The other column, null if the page has none or several. */
  get texts() {
    const film = this.#film;
    const columns = [...(film?.parentElement.children ?? [])].filter((one) => one.matches(COLUMN));
    return columns.length === 2 && columns[0] === film ? columns[1] : null;
  }

  #frame() {
    const block = this.#film.parentElement;
    const gap = Number.parseFloat(getComputedStyle(block).columnGap) || 0;
    const { left, width } = block.getBoundingClientRect();
    return { start: left + gap / 2, size: width - gap, gap };
  }

  /** Mark the columns and set their widths; `several` views get more than one does. */
  refresh({ several, blinded }) {
    this.#divide(blinded);
    this.several = several;
    const { separator, texts } = this;
    if (texts === null) {
      separator.node.hidden = true;
      return;
    }
    const film = this.#film;
    setData(film, "rxColumn", "film");
    setData(texts, "rxColumn", "texts");
    const block = film.parentElement;
    setData(block, "rxSeveral", several && !blinded ? "" : null);
    setData(block, "rxShared", separator.share === null ? null : "");
    if (separator.share !== null) {
      const share = limitShare(separator.share, this.#frame().size, separator.least); // of another window
      if (block.style.getPropertyValue("--rx-film") !== String(share)) {
        block.style.setProperty("--rx-film", String(share));
      }
    }
    const [a, b] = [film.getBoundingClientRect(), texts.getBoundingClientRect()];
    const beside = b.width > 0 && b.left >= a.right;
    separator.node.hidden = !beside;
    if (!beside) return;
    const { size, gap } = this.#frame();
    separator.node.style.width = `${gap}px`;
    separator.refresh(true, a.width / size);
    this.told();
  }
}

function setData(element, name, value) {
  if (value === null) delete element.dataset[name];
  else if (element.dataset[name] !== value) element.dataset[name] = value;
}

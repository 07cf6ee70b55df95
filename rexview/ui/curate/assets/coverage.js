// The number of chosen questions by category and tag, next to the wanted number. It is computed
// here, so
// that the numbers change with the key.

import { html } from "../../web/components/dom.js";
import { tr } from "../../web/components/words.js";
import { count } from "./values.js";

/** @import { Candidate, Counts, DeskData, Rows } from "./types.d.ts" */

const MOST_VALUES = 12;

export class Coverage {
  constructor() {
    this.whole = html("b");
    this.categories = html("ul", { class: "categories" });
    this.tags = html("dl", { class: "tag-counts" });
    this.more = html("details", {}, html("summary", {}, tr("Tags of the chosen")), this.tags);
    this.root = html(
      "section",
      { class: "coverage", "aria-label": tr("Chosen so far") },
      this.whole,
      this.categories,
      this.more,
    );
    this.more.addEventListener("toggle", () => this.data && this.#drawTags());
    /** @type {Map<string, [Candidate[], Record<string, Rows>][]>} */
    this.counted = new Map(); // case -> its part of the page's counts, and its current part
  }

  /** Set new counts from the page, which include these studies as they were sent with it. */
  update(/** @type {DeskData} */ data) {
    this.data = data;
    this.counted.clear();
  }

  /**
   * @param {string} study
   * @param {Candidate[]} candidates
   * @param {Record<string, Rows>} before its part of the page's counts
   * @param {Record<string, Rows>} now
   */
  draw(study, candidates, before, now) {
    const first = this.counted.get(study)?.[0] ?? [candidates, before];
    this.counted.set(study, [first, [candidates, now]]);
    /** @type {Counts} */
    const counts = structuredClone(this.data.counts);
    for (const [given, latest] of this.counted.values()) {
      count(counts, ...given, -1);
      count(counts, ...latest, 1);
    }
    this.counts = counts;
    this.#draw();
  }

  #draw() {
    const { words, targets } = this.data;
    const { chosen, categories } = this.counts;
    this.whole.textContent =
      targets.all === null
        ? tr("{n} chosen", { n: chosen })
        : tr("{n} of {wanted} chosen", { n: chosen, wanted: targets.all });
    const names = { ...words.categories };
    for (const word of Object.keys(categories))
      if (categories[word] > 0) names[word] ??= word === "" ? tr("No category") : word;
    this.categories.replaceChildren(
      ...Object.entries(names).map(([word, name]) => {
        const found = categories[word] ?? 0;
        const wanted = targets.categories[word] ?? null;
        return html(
          "li",
          { "data-category": word, class: wanted !== null && found >= wanted ? "enough" : null },
          `${name} `,
          html("b", {}, String(found)),
          of(wanted),
        );
      }),
    );
    this.#drawTags();
  }

  #drawTags() {
    if (!this.more.open || !this.counts) return;
    const nodes = Object.entries(this.data.words.tags).flatMap(([name, label]) => {
      const found = Object.entries(this.counts.tags[name] ?? {}).filter(([, number]) => number > 0);
      found.sort(([a, many], [b, few]) => few - many || (a < b ? -1 : 1));
      const shown = found.slice(0, MOST_VALUES).map(([value, number]) => `${value} ${number}`);
      if (found.length > MOST_VALUES)
        shown.push(tr("and {n} more", { n: found.length - MOST_VALUES }));
      return [html("dt", {}, label), html("dd", {}, shown.join(" · ") || "–")];
    });
    this.tags.replaceChildren(...nodes);
  }
}

const of = (wanted) => (wanted === null ? "" : ` ${tr("of {wanted}", { wanted })}`);

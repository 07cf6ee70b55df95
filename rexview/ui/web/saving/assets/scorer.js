// The reader's name without sign-in: the line on every pad, and the field that asks for it.

import { html, set } from "../../components/dom.js";
import { tr } from "../../components/words.js";

/** @import { Scorer } from "./types.d.ts" */

let kept = "";

/** Store the given name in this browser; once, because another tab may have taken another since. */
export function keepName(/** @type {Scorer} */ scorer) {
  if (!scorer?.cookie || scorer.cookie === kept) return;
  kept = scorer.cookie;
  // biome-ignore lint/suspicious/noDocumentCookie: pages without TLS have no cookieStore
  document.cookie = scorer.cookie;
}

/** "Scoring as Ann · change". */
export class ScorerLine {
  constructor(words = tr("Scoring as {name}")) {
    this.words = words;
    this.node = html("span", { class: "rx-scorer", hidden: true });
    this.drawn = "";
  }

  draw(/** @type {Scorer} */ scorer) {
    const state = JSON.stringify(scorer);
    if (state === this.drawn) return;
    this.drawn = state;
    this.node.hidden = !scorer?.name;
    if (!scorer?.name) return;
    const [before, after] = this.words.split("{name}");
    const change = html("a", { href: scorer.change, title: tr("Change the name") }, tr("change"));
    const name = html("b", { title: scorer.name }, scorer.name);
    this.node.replaceChildren(before, name, `${after} · `, change);
  }
}

/** A field for the name; the name known on this machine and names used in the set are offered. */
export class NameField {
  constructor() {
    this.offers = html("datalist", { id: `rx-names-${Math.random().toString(36).slice(2)}` });
    this.input = html("input", {
      type: "text",
      placeholder: tr("Your name"),
      "aria-label": tr("Your name"),
      oninput: () => (this.touched = true),
    });
    this.touched = false;
    this.node = html("span", { class: "rx-name" }, this.input, this.offers);
  }

  /** The name in the field, without spaces around it. */
  get value() {
    return this.input.value.trim();
  }

  draw(/** @type {Scorer} */ scorer) {
    if (!scorer || scorer.name) return;
    if (!this.touched) this.input.value = scorer.proposed;
    const names = JSON.stringify(scorer.used);
    if (names === this.offered) return;
    this.offered = names;
    set(this.input, { list: scorer.used.length > 0 && this.offers.id });
    this.offers.replaceChildren(...scorer.used.map((name) => html("option", { value: name })));
  }
}

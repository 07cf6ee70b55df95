// The text next to the image: the question, always visible, and one panel below it. A panel that is
// longer than its place is paged, with a note on how much is below.

import { button, html, set } from "../../../web/components/dom.js";
import { serverNodes } from "../../../web/components/server_html.js";
import { tr } from "../../../web/components/words.js";

/** @import { Content } from "./types.d.ts" */

/** The panel that a step shows. */
const PANEL_OF = {
  answers: "answers",
  boxes: "answers",
  models: "answers",
  report: "report",
  scores: "scores",
  flags: "flags",
};
const NAMES = {
  answers: tr("Answers"),
  boxes: tr("Boxes"),
  report: tr("Report"),
  scores: tr("Scores"),
  flags: tr("Failures"),
  decision: tr("Decision"),
};
const PAGE_SHARE = 0.85; // of its height, for each page

export class Panels {
  /** @param {HTMLElement} decision content of the panel for decisions; it is never recreated */
  constructor(decision) {
    this.decision = decision;
    this.open = "";
    this.drawn = { question: "", panel: "" };
    this.question = html("div", { class: "asked", tabindex: "0" });
    this.tabs = html("div", { class: "tabs", role: "tablist", "aria-label": tr("Shown") });
    this.body = html("div", { class: "panel", tabindex: "0", role: "tabpanel" });
    this.more = button(tr("▾ More below"), () => this.page(1), { class: "more" });
    this.notice = html("p", { class: "notice", hidden: true });
    this.extra = html("div", { class: "beside" }, this.notice);
    this.node = html(
      "aside",
      { class: "side", "aria-label": tr("Question and answers") },
      this.question,
      this.tabs,
      html("div", { class: "panel-place" }, this.body, this.more),
      this.extra,
    );
    this.body.addEventListener("scroll", () => this.#mark());
    this.observer = new ResizeObserver(() => this.#mark());
    this.observer.observe(this.body);
    this.decision.hidden = true;
  }

  close() {
    this.observer.disconnect();
  }

  /**
   * Show a case up to its newest step. With `turnTo` that step's panel is opened.
   *
   * @param {Content} content
   * @param {string[]} shown keys of the steps that are shown
   * @param {{ turnTo: string | null, decides: boolean }} how
   */
  show(content, shown, { turnTo, decides }) {
    const last = shown.at(-1);
    this.#fill("question", this.question, content.question);
    const there = Object.keys(content.panels).filter((name) => shown.includes(name));
    if (decides) there.push("decision");
    this.content = content;
    const before = this.open;
    if (turnTo) this.open = PANEL_OF[turnTo] ?? turnTo;
    if (this.open === "answers" && !there.includes("answers")) this.open = "boxes";
    if (!there.includes(this.open)) this.open = there.at(-1) ?? "";
    /** Whether the step adds a new text. */
    this.turned = turnTo !== null && this.open !== before && this.open !== "";
    set(this.notice, { hidden: content.notice === "" });
    this.notice.textContent = content.notice;
    this.#tabs(there);
    this.#panel(turnTo !== null && last !== undefined);
  }

  #fill(name, place, text) {
    if (this.drawn[name] === text) return false;
    this.drawn[name] = text;
    place.replaceChildren(...serverNodes(text));
    return true;
  }

  #tabs(there) {
    const tabs = there.map((name) =>
      button(NAMES[name] ?? name, () => this.turn(name), {
        role: "tab",
        "aria-selected": String(name === this.open),
      }),
    );
    this.tabs.replaceChildren(...tabs);
    this.tabs.hidden = there.length === 0;
  }

  /** Open an existing panel. */
  turn(/** @type {string} */ name) {
    this.open = name;
    for (const tab of this.tabs.children)
      set(tab, { "aria-selected": String(tab.textContent === NAMES[name]) });
    this.#panel(true);
  }

  #panel(fromTop) {
    const decides = this.open === "decision";
    this.decision.hidden = !decides;
    if (decides) {
      if (this.drawn.panel !== null) this.body.replaceChildren(this.decision);
      this.drawn.panel = null;
    } else if (this.#fill("panel", this.body, this.content.panels[this.open] ?? "") && fromTop)
      this.body.scrollTop = 0;
    this.#mark();
  }

  /** A page further down (1) or up (-1); whether there was one. */
  page(/** @type {1 | -1} */ by) {
    const before = this.body.scrollTop;
    this.body.scrollTop += by * this.body.clientHeight * PAGE_SHARE;
    return this.body.scrollTop !== before;
  }

  #mark() {
    const { scrollTop, scrollHeight, clientHeight } = this.body;
    // it keeps its place: a panel that grows at its end would move the text back
    const below = scrollHeight - scrollTop - clientHeight;
    this.more.style.visibility = below < 12 ? "hidden" : "";
  }
}

// The thin bar above the image: case, steps, time and tools.

import { icon } from "../../../viewer/assets/controls/icons.js";
import { button, html, set } from "../../../web/components/dom.js";
import { tr, trn } from "../../../web/components/words.js";
import { minutes } from "./timer.js";

/** @import { Cases } from "../../live/assets/types.d.ts" */
/** @import { Film } from "./film/film.js" */
/** @import { AgendaItem } from "./types.d.ts" */

/** @type {[name: string, picture: string, title: string][]} */
const TOOLS = [
  ["pointer", "pointer", tr("Pointer (Shift+P)")],
  ["arrow", "arrow", tr("Arrow (Shift+V)")],
  ["draw", "draw", tr("Draw (Shift+F)")],
  ["clear", "clearMeasures", tr("Remove arrows and lines (Delete)")],
];
/** @type {[name: string, words: string, key: string][]} */
const MENU = [
  ["larger", tr("Larger text"), ""],
  ["smaller", tr("Smaller text"), ""],
  ["look", tr("Light or dark"), tr("Shift+L")],
  ["alone", tr("Film alone"), "q"],
  ["tools", tr("Tools of the picture"), "u"],
  ["notes", tr("Notes in their own window"), tr("Shift+N")],
  ["join", tr("Let others follow"), tr("Shift+J")],
  ["showAll", tr("Show all steps"), tr("Shift+S")],
  ["decide", tr("Decide"), tr("Shift+D")],
  ["full", tr("Full screen"), "x"],
  ["help", tr("All keys"), "?"],
];
const ONLY_LEADING = new Set(["notes", "join", "showAll", "decide"]);
const STAYS_OPEN = new Set(["larger", "smaller"]);
const SHORT = { question: tr("Image"), models: tr("Names") }; // a bar has little room

export class Bar {
  /** @param {Record<string, (...given: any[]) => void>} acts */
  constructor(acts) {
    this.acts = acts;
    const sign = (/** @type {string} */ name, content, title) =>
      button(content, () => acts[name](), { class: "sign", title, "aria-label": title });
    this.exit = html(
      "a",
      { class: "sign", title: tr("Leave"), "aria-label": tr("Leave") },
      icon("close"),
    );
    this.before = sign("caseBefore", "‹", tr("Case before (k)"));
    this.after = sign("nextCase", "›", tr("Next case (j)"));
    this.place = button("", () => acts.goTo(), { class: "where", title: tr("Go to a case (g)") });
    this.views = html("div", { class: "part views", role: "group", "aria-label": tr("Views") });
    this.section = html("span", { class: "section" });
    this.steps = html("div", { class: "steps", role: "group", "aria-label": tr("Steps") });
    this.next = button(tr("Show"), () => acts.nextStep(), {
      class: "next",
      title: tr("Next step (space)"),
    });
    this.time = button("0:00", () => acts.timer(), { class: "time", title: tr("Timer (Shift+T)") });
    this.marks = new Map(
      TOOLS.map(([name, picture, title]) => [name, sign(name, icon(picture), title)]),
    );
    this.people = html("span", { class: "people" });
    this.said = html("span", { class: "said", role: "status" });
    this.own = [this.before, this.after, this.next, this.time, ...this.marks.values()];
    this.more = button(icon("more"), () => this.#unfold(), {
      class: "sign",
      title: tr("More"),
      "aria-label": tr("More"),
      "aria-expanded": "false",
    });
    this.menu = html("div", {
      class: "menu",
      role: "group",
      "aria-label": tr("More"),
      hidden: true,
    });
    this.node = html(
      "header",
      { class: "bar", onclick: (/** @type {MouseEvent} */ event) => this.#release(event) },
      html("div", { class: "part" }, this.exit, this.before, this.place, this.after),
      html("div", { class: "part middle" }, this.steps, this.next),
      this.views,
      this.section,
      html(
        "div",
        { class: "part end" },
        this.said,
        this.people,
        this.time,
        ...this.marks.values(),
        this.more,
      ),
      this.menu,
    );
  }

  /** A click leaves the keys to the meeting: the space bar is the next step. */
  #release(/** @type {MouseEvent} */ event) {
    const pressed = /** @type {Element} */ (event.target).closest("button");
    if (event.detail > 0) pressed?.blur();
  }

  #unfold(open = this.menu.hidden) {
    this.menu.hidden = !open;
    set(this.more, { "aria-expanded": String(open) });
  }

  /** @param {{ leads: boolean, exit: string }} how */
  begin({ leads, exit }) {
    set(this.exit, { href: exit });
    for (const node of this.own) node.hidden = !leads;
    this.menu.replaceChildren(
      ...MENU.filter(([name]) => leads || !ONLY_LEADING.has(name)).map(([name, words, key]) =>
        button([html("span", {}, words), key ? html("kbd", {}, key) : null], () => {
          this.acts[name]();
          if (!STAYS_OPEN.has(name)) this.#unfold(false);
        }),
      ),
    );
  }

  /**
   * Show the position in the meeting: followers only know the length of the agenda.
   *
   * @param {AgendaItem[]} agenda
   * @param {Cases | null} cases
   * @param {string | null} id
   */
  where(agenda, cases, id) {
    const place = agenda.findIndex((item) => item.case === id);
    const number = place + 1 || (cases?.reached.find(([, one]) => one === id)?.[0] ?? 0);
    const total = agenda.length || (cases?.total ?? 0);
    this.place.textContent = number ? tr("Case {n} of {total}", { n: number, total }) : "";
    this.place.hidden = number === 0;
    this.section.textContent = agenda[place]?.section ?? "";
    set(this.before, { disabled: number <= 1 });
    set(this.after, { disabled: number >= total });
  }

  /**
   * @param {[key: string, name: string][]} steps
   * @param {number} step the last one that is shown
   * @param {number} last the last one that may be turned to
   */
  drawSteps(steps, step, last) {
    this.steps.replaceChildren(
      ...steps.map(([key, name], at) =>
        button(SHORT[key] ?? name, () => this.acts.goToStep(at), {
          class: "step",
          "data-step": key,
          "data-shown": at <= step,
          "aria-current": at === step ? "step" : null,
          disabled: at > last,
          title: at <= step ? name : tr("Show: {step}", { step: name }),
        }),
      ),
    );
    const following = steps[step + 1];
    this.next.textContent = following
      ? tr("Show: {step}", { step: SHORT[following[0]] ?? following[1] })
      : tr("Decide");
  }

  /** Offer the views of a case that has several. */
  drawViews(/** @type {Film} */ film) {
    const { views } = film;
    const state = JSON.stringify(views);
    if (state === this.viewsDrawn) return;
    this.viewsDrawn = state;
    this.views.hidden = views.length < 2;
    this.views.replaceChildren(
      ...views.map(({ id, title, shown }) =>
        button(title, () => film.choose(id), { title, "aria-pressed": String(shown) }),
      ),
    );
  }

  /** The number of others present. */
  followed(/** @type {number} */ count) {
    this.people.textContent = count > 0 ? trn("{n} follows", "{n} follow", count) : "";
  }

  drawTime(/** @type {number} */ seconds, /** @type {AgendaItem | undefined} */ item, running) {
    const planned = item?.minutes ?? null;
    const of = planned === null ? "" : ` / ${tr("{n} min", { n: planned })}`;
    this.time.textContent = `${running ? "" : "❚❚ "}${minutes(seconds)}${of}`;
    this.time.toggleAttribute("data-over", planned !== null && seconds > planned * 60);
  }

  press(/** @type {string | null} */ tool) {
    for (const [name, node] of this.marks)
      if (name !== "clear") set(node, { "aria-pressed": String(name === tool) });
  }
}

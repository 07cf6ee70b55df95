// Everybody's opinion before the models are named: given on an own device, shown to all as counts.

import { button, html, set } from "../../../../components/dom.js";
import { tr, trc, trn } from "../../../../components/words.js";

/** @import { Votes } from "../../../live/assets/types.d.ts" */
/** @import { Grade, Letter } from "../types.d.ts" */

const OTHERS = [
  ["none", trc("answer", "None")],
  ["unsure", tr("Cannot say")],
];

export class VoteCard {
  /**
   * @param {{ give: (right: string | null, harm: number | null) => Promise<string | null>,
   *   show: (shown: boolean) => void, grades: () => Grade[],
   *   own: () => { right: string | null, harm: number | null } | null }} on
   */
  constructor(on) {
    this.on = on;
    /** @type {Votes} */
    this.votes = null;
    /** @type {Letter[]} */
    this.letters = [];
    this.node = html("section", { class: "votes", "aria-label": tr("Opinions"), hidden: true });
  }

  /** @param {{ votes: Votes, letters: Letter[], leads: boolean, here: boolean }} now */
  update({ votes, letters, leads, here }) {
    const state = JSON.stringify([votes, letters, leads, here, this.on.own()]);
    if (state === this.drawn) return;
    this.drawn = state;
    this.votes = votes;
    this.letters = letters;
    const nobody = leads && votes !== null && votes.of + votes.count === 0;
    const none = votes !== null && !votes.open && votes.count === 0; // none was asked for
    this.node.hidden = votes === null || nobody || none || !here || letters.length === 0;
    if (this.node.hidden || votes === null) return;
    const { count, of, open, result } = votes;
    const total = Math.max(of, count);
    const head = html(
      "p",
      {},
      html("b", {}, tr("Who is right?")),
      ` ${trn("{n} of {total} gave an opinion", "{n} of {total} gave an opinion", count, { total })}`,
    );
    const nodes = /** @type {Node[]} */ ([head]);
    if (result) nodes.push(this.#result(result));
    else if (open && !leads) nodes.push(this.#ballot());
    const named = letters.some(({ model }) => model); // nothing is collected any more
    if (leads && count > 0 && !(result && named))
      nodes.push(
        button(result ? tr("Go on collecting") : tr("Show opinions"), () => this.on.show(!result), {
          class: "plain",
        }),
      );
    if (votes.problem) nodes.push(html("p", { role: "alert" }, votes.problem));
    this.node.replaceChildren(...nodes);
  }

  get #rows() {
    return [...this.letters.map(({ letter, name }) => [letter, name]), ...OTHERS];
  }

  #result(
    /** @type {{ right: Record<string, number>, harm: Record<string, number> }} */ { right, harm },
  ) {
    const rows = (/** @type {string[][]} */ list, given) => {
      const all = Math.max(1, ...Object.values(given));
      return list.map(([key, name]) =>
        html(
          "li",
          {},
          html("span", {}, name),
          html("meter", { min: 0, max: all, value: given[key] ?? 0 }),
          html("b", {}, String(given[key] ?? 0)),
        ),
      );
    };
    const grades = this.on.grades().map(([grade, name]) => [String(grade), `${grade} ${name}`]);
    return html(
      "div",
      { class: "result" },
      html("ul", { "aria-label": tr("Who is right?") }, ...rows(this.#rows, right)),
      html("ul", { "aria-label": tr("Harm") }, ...rows(grades, harm)),
    );
  }

  #ballot() {
    const own = this.on.own() ?? { right: null, harm: null };
    const give = async (/** @type {string | null} */ right, /** @type {number | null} */ harm) => {
      const problem = await this.on.give(right, harm);
      this.drawn = "";
      this.update({ votes: this.votes, letters: this.letters, leads: false, here: true });
      if (problem) this.node.append(html("p", { role: "alert" }, problem));
    };
    const choice = (name, isOn, act) => {
      const node = button(name, act, { class: "choice" });
      set(node, { "aria-pressed": String(isOn) });
      return node;
    };
    return html(
      "div",
      { class: "ballot" },
      html(
        "div",
        { role: "group", "aria-label": tr("Who is right?") },
        ...this.#rows.map(([key, name]) =>
          choice(name, own.right === key, () => give(key, own.harm)),
        ),
      ),
      html("p", {}, tr("Harm of the worst answer")),
      html(
        "div",
        { role: "group", "aria-label": tr("Harm") },
        ...this.on.grades().map(([grade, name, meaning]) => {
          const node = choice(`${grade} ${name}`, own.harm === grade, () => give(own.right, grade));
          node.title = meaning;
          return node;
        }),
      ),
    );
  }
}

// Everybody's opinion before the models are named: given on one's own device, shown to all as
// counts.

import { arrange, button, html, set } from "../../../../web/components/dom.js";
import { tr, trc, trn } from "../../../../web/components/words.js";

/** @import { Vote, Votes } from "../../../live/assets/types.d.ts" */
/** @import { Grade, Letter } from "../types.d.ts" */

const OTHERS = [
  ["none", trc("answer", "None")],
  ["unsure", tr("Cannot say")],
];

/** @typedef {{ votes: Votes, letters: Letter[], leads: boolean, here: boolean }} Now */

export class VoteCard {
  /**
   * Actions name the case of the drawn opinions: another may already be on its way.
   *
   * @param {{ give: (id: string, vote: Partial<Vote>) => Promise<string | null>,
   *   show: (id: string, shown: boolean) => void, grades: () => Grade[],
   *   own: (id: string) => Vote | null }} on
   */
  constructor(on) {
    this.on = on;
    /** @type {Now} */
    this.now = { votes: null, letters: [], leads: false, here: false };
    this.drawn = "";
    this.asked = "";
    /** @type {HTMLElement | null} */
    this.ballot = null;
    /** @type {{ node: HTMLElement, half: keyof Vote, value: string | number }[]} */
    this.choices = [];
    const show = (name, shown) =>
      button(name, () => this.on.show(this.now.votes?.case ?? "", shown), { class: "plain" });
    this.show = show(tr("Show opinions"), true);
    this.goOn = show(tr("Continue collecting"), false);
    this.node = html("section", { class: "votes", "aria-label": tr("Opinions"), hidden: true });
  }

  update(/** @type {Now} */ now) {
    const { votes, letters, leads, here } = now;
    const state = JSON.stringify([now, votes && this.on.own(votes.case)]);
    if (state === this.drawn) return;
    this.drawn = state;
    this.now = now;
    const nobody = leads && votes !== null && votes.of + votes.count === 0;
    const none = votes !== null && !votes.open && votes.count === 0; // none was requested
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
    else if (open && !leads) nodes.push(this.#ballot(votes.case));
    const named = letters.some(({ model }) => model); // voting has ended
    if (leads && count > 0 && !(result && named)) nodes.push(result ? this.goOn : this.show);
    if (votes.problem) nodes.push(html("p", { role: "alert" }, votes.problem));
    arrange(this.node, nodes);
  }

  get #rows() {
    return [...this.now.letters.map(({ letter, name }) => [letter, name]), ...OTHERS];
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

  async #give(/** @type {string} */ id, /** @type {Partial<Vote>} */ vote) {
    const taken = this.on.give(id, vote);
    this.update(this.now); // a press is visible at once
    const problem = await taken;
    this.update(this.now);
    if (problem && this.now.votes?.case === id)
      this.node.append(html("p", { role: "alert" }, problem));
  }

  /** The ballot of a case: the same elements while others vote, so that a press is not lost. */
  #ballot(/** @type {string} */ id) {
    const grades = this.on.grades();
    const asked = JSON.stringify([id, this.#rows, grades]);
    if (this.ballot === null || asked !== this.asked) {
      this.asked = asked;
      this.choices = [];
      this.ballot = this.#newBallot(id, grades);
    }
    const own = this.on.own(id);
    for (const { node, half, value } of this.choices)
      set(node, { "aria-pressed": String(own?.[half] === value) });
    return this.ballot;
  }

  #newBallot(/** @type {string} */ id, /** @type {Grade[]} */ grades) {
    const choice = (/** @type {string} */ name, /** @type {keyof Vote} */ half, value) => {
      const node = button(name, () => this.#give(id, { [half]: value }), { class: "choice" });
      this.choices.push({ node, half, value });
      return node;
    };
    return html(
      "div",
      { class: "ballot" },
      html(
        "div",
        { role: "group", "aria-label": tr("Who is right?") },
        ...this.#rows.map(([key, name]) => choice(name, "right", key)),
      ),
      html("p", {}, tr("Harm of the worst answer")),
      html(
        "div",
        { role: "group", "aria-label": tr("Harm") },
        ...grades.map(([grade, name, meaning]) => {
          const node = choice(`${grade} ${name}`, "harm", grade);
          node.title = meaning;
          return node;
        }),
      ),
    );
  }
}

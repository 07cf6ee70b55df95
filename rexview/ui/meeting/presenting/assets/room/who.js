// The participants, the presenter, and taking over.

import { button, html } from "../../../../web/components/dom.js";
import { tr } from "../../../../web/components/words.js";

/** @import { Connection, People } from "../../../live/assets/types.d.ts" */

export class Who {
  /**
   * @param {{ ask: () => void, answer: (number: number, yes: boolean) => void,
   *   around: (looking: boolean) => void }} on
   */
  constructor(on) {
    this.on = on;
    /** @type {People | null} */
    this.now = null;
    this.leads = false;
    this.away = false;
    this.node = html("section", { class: "who", "aria-label": tr("Who is there"), hidden: true });
  }

  connection(/** @type {Connection} */ connection) {
    this.away = connection === "away";
    this.#draw();
  }

  people(/** @type {People} */ people, /** @type {boolean} */ leads) {
    this.now = people;
    this.leads = leads;
    this.#draw();
  }

  /** The number of participants besides the user. */
  get others() {
    return (this.now?.people ?? []).filter(({ here, number }) => here && number !== this.now?.you)
      .length;
  }

  #name(/** @type {number | null} */ number) {
    return this.now?.people.find((one) => one.number === number)?.name || tr("Someone");
  }

  #draw() {
    const { now, leads } = this;
    const nodes = [];
    const line = (/** @type {string} */ words, /** @type {Node[]} */ ...acts) =>
      html("p", {}, html("span", {}, words), ...acts);
    if (this.away) nodes.push(line(tr("Not connected. Trying again…")));
    if (now && leads)
      for (const number of now.asking)
        nodes.push(
          line(
            tr("{name} asks to present.", { name: this.#name(number) }),
            button(tr("Hand over"), () => this.on.answer(number, true)),
            button(tr("Keep"), () => this.on.answer(number, false)),
          ),
        );
    if (now && !leads) nodes.push(...this.#following(line, now));
    this.node.replaceChildren(...nodes);
    this.node.hidden = nodes.length === 0;
  }

  #following(line, /** @type {People} */ now) {
    const own = now.people.find(({ number }) => number === now.you);
    const asked = now.asking.includes(now.you);
    const around = own?.looking
      ? button(tr("Rejoin"), () => this.on.around(false))
      : button(tr("Look around"), () => this.on.around(true));
    const acts = now.leader === null && !own?.looking ? [] : [around];
    if (now.may_lead && !asked) acts.push(button(tr("Ask to present"), () => this.on.ask()));
    const who =
      now.leader === null
        ? tr("No one is presenting yet. It starts here automatically.")
        : tr("{name} presents.", { name: this.#name(now.leader) });
    const words = own?.looking ? `${tr("You look around.")} ${who}` : who;
    return [line(asked ? `${words} ${tr("You have asked to present.")}` : words, ...acts)];
  }
}

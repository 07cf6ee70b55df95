// The four criteria of a candidate: the person's scores, and the model's once they may be seen.

import { plain } from "../../pad/assets/task_frame.js";
import { button, html, set } from "../../web/components/dom.js";
import { tr } from "../../web/components/words.js";
import { latestOf, sumOf } from "./values.js";

/** @import { Rows } from "./types.d.ts" */
/** @import { Card } from "./card.js" */

const LEVELS = [1, 2, 3, 4, 5];

export class Criteria {
  constructor(/** @type {Card} */ card) {
    this.card = card;
    const { criteria } = card.desk.data.words;
    this.rows = Object.entries(criteria).map(([name, label]) => {
      const levels = LEVELS.map((level) =>
        button(String(level), () => card.desk.scoring.score(name, level), {
          class: "level",
          role: "radio",
          "aria-checked": "false",
        }),
      );
      const model = html("span", { class: "model" });
      const row = html(
        "div",
        { class: "criterion", onclick: () => card.desk.scoring.to(name) },
        html("span", { class: "name" }, label),
        html("span", { class: "levels", role: "radiogroup", "aria-label": label }, ...levels),
        model,
      );
      return { name, levels, model, row };
    });
    this.total = html("p", { class: "total" });
    this.reveal = plain(
      html("span", {}, tr("Show without scoring"), " ", html("kbd", {}, "s")),
      () => card.desk.scoring.skip(),
    );
    this.others = html("ul", { class: "others" });
    this.comment = html("p", { class: "before" });
    this.root = html(
      "section",
      { class: "criteria", "aria-label": tr("Scores") },
      ...this.rows.map(({ row }) => row),
      html("div", { class: "totals" }, this.total, this.reveal),
      this.comment,
      this.others,
    );
  }

  draw(/** @type {Rows} */ written) {
    const { candidate, desk } = this.card;
    const names = this.rows.map(({ name }) => name);
    const rate = latestOf(candidate, "rate", written);
    for (const { name, levels, model, row } of this.rows) {
      row.classList.toggle("current", desk.scoring.criterion === name);
      for (const [place, node] of levels.entries())
        set(node, { "aria-checked": String(rate?.[name] === place + 1) });
      model.textContent = candidate.model
        ? tr("model {sum}", { sum: String(candidate.model.scores[name] ?? "–") })
        : "";
    }
    const own = sumOf(names, rate);
    const parts = [own === null ? "" : tr("Your sum {sum} of 20.", { sum: String(own) })];
    if (candidate.hidden) {
      const coming = own !== null || (rate !== null && this.isSkipped(rate));
      parts.push(
        coming
          ? tr("The model's scores will follow.")
          : tr("The model's scores are hidden until you have scored."),
      );
    } else if (candidate.model) {
      const { sum, stated } = candidate.model;
      parts.push(
        sum === null ? tr("The model left out a score.") : tr("Model's sum {sum}.", { sum }),
      );
      if (stated !== null && stated !== sum)
        parts.push(tr("The model itself stated {sum}.", { sum: stated }));
    } else parts.push(tr("No model has scored this one."));
    if (rate?.after_model && !this.isSkipped(rate))
      parts.push(tr("Given after you saw the model's scores: not counted in agreement."));
    this.total.textContent = parts.filter(Boolean).join(" ");
    this.reveal.hidden = !candidate.hidden;
    const comment = candidate.model?.comment ?? "";
    this.comment.textContent = comment && tr("The model: {words}", { words: comment });
    this.comment.hidden = !comment;
    this.others.replaceChildren(
      ...candidate.others.map(({ name, words }) =>
        html("li", {}, html("b", {}, name), ` ${words}`),
      ),
    );
  }

  isSkipped(rate) {
    return this.rows.every(({ name }) => rate[name] === null);
  }
}

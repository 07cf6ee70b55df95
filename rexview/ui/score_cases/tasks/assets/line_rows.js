// The lines of a report as rows: each with its edit, headed by its section.

import { html } from "../../../web/components/dom.js";
import { tr } from "../../../web/components/words.js";

/** @import { CorrectionPad } from "./corrections.js" */

const SECTIONS = {
  findings: tr("Findings"),
  impression: tr("Impression"),
  comparison: tr("Comparison"),
  indication: tr("Indication"),
};

export function lineRows(/** @type {CorrectionPad} */ pad, places, record) {
  const { lines } = pad.case.content;
  let section = null;
  return places.flatMap((place) => {
    const row = lineRow(pad, place, record);
    const own = place.includes("+") ? section : (lines[Number(place) - 1]?.section ?? null);
    if (own === section || place === "0") return [row];
    section = own;
    return [html("li", { class: "section" }, SECTIONS[own] ?? tr("Other")), row];
  });
}

function lineRow(/** @type {CorrectionPad} */ pad, place, record) {
  const edit = pad.edit(place, record);
  const isCurrent = place === pad.current;
  const action = edit?.action ?? null;
  const added = place.includes("+");
  const number = place === "0" ? "" : added ? "+" : place;
  const before = added || place === "0" ? "" : pad.text(place);
  const shown = [];
  if (place === "0") shown.push(html("span", { class: "hint" }, tr("Before the first line")));
  else if (action === "substitute" || action === "delete") shown.push(html("del", {}, before));
  else if (!added) shown.push(html("span", {}, before));
  if (edit?.edited && action !== "delete") shown.push(" ", html("ins", {}, edit.edited));
  const { severities, kinds } = pad.data.words;
  const about = [];
  if (edit && action !== "keep") {
    about.push(edit.severity === null ? tr("no severity yet") : severities[edit.severity]);
    if (edit.kind) about.push(kinds[edit.kind]);
  }
  return html(
    "li",
    {
      "data-place": place,
      "data-action": action,
      "data-severity": action && action !== "keep" ? edit.severity : null,
      "data-current": isCurrent,
      class: "line",
    },
    html(
      "div",
      { class: "said", onclick: () => pad.select(place) },
      html("b", {}, action === "keep" ? "✓" : number),
      html("p", {}, ...shown, about.length > 0 ? html("small", {}, about.join(" · ")) : null),
    ),
    isCurrent ? pad.editor.node : null,
  );
}

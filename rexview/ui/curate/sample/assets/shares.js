// The experts' findings in the sample so far: the share of each defect, next to the paper's.

import { html } from "../../../web/components/dom.js";
import { tr } from "../../../web/components/words.js";

/** @import { Shares } from "./types.d.ts" */

export function drawShares(/** @type {HTMLElement} */ place, /** @type {Shares} */ shares) {
  const text = JSON.stringify(shares);
  if (place.dataset.shown === text) return;
  place.dataset.shown = text;
  const { read, sample, of, unsure } = shares;
  const words = [
    tr("Read {read} of {sample}, drawn from {of} questions that fail no check.", {
      read,
      sample,
      of,
    }),
  ];
  if (unsure > 0) words.push(tr("{n} undecided.", { n: unsure }));
  const head = [tr("Defect"), tr("Found"), tr("Share (95% interval)"), shares.paper];
  place.replaceChildren(
    html("p", {}, words.join(" ")),
    html(
      "table",
      {},
      html("thead", {}, html("tr", {}, ...head.map((one) => html("th", { scope: "col" }, one)))),
      html(
        "tbody",
        {},
        ...shares.rows.map(({ name, found, share, paper }) =>
          html(
            "tr",
            {},
            html("th", { scope: "row" }, name),
            ...[found, share, paper].map((cell) => html("td", {}, cell)),
          ),
        ),
      ),
    ),
  );
}

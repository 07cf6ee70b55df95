// What experts found in the sample so far: the share of each defect, beside the paper's.

import { html } from "../../../components/dom.js";

/** @import { Shares } from "./types.d.ts" */

export function drawShares(/** @type {HTMLElement} */ place, /** @type {Shares} */ shares) {
  const text = JSON.stringify(shares);
  if (place.dataset.shown === text) return;
  place.dataset.shown = text;
  const unsure = shares.unsure > 0 ? ` ${shares.unsure} not told.` : "";
  const words = `Read ${shares.read} of ${shares.sample}, drawn from ${shares.of} questions that no check fails.${unsure}`;
  const head = ["Defect", "Found", "Share (95 % interval)", shares.paper];
  place.replaceChildren(
    html("p", {}, words),
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

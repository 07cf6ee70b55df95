// What is said below the fields for a consensus when it was not taken, or when another one stands.

import { button, html } from "../../components/dom.js";

/** @import { ConsensusForm } from "./consensus.js" */

export const NOTHING = { score: null, comment: null };
export const same = (one, other) => one.score === other.score && one.comment === other.comment;

function valueNodes({ score, comment }) {
  const first = score === null ? "no score" : html("b", {}, String(score));
  return comment ? [first, `, “${comment}”`] : [first];
}

export function noticeNodes(/** @type {ConsensusForm} */ form) {
  const { returned } = form;
  if (returned && (form.isBehind || !returned.overtaken)) return refusedNodes(form);
  if (!form.overtaken) return asideNodes(form);
  return form.data.other ? theirsNodes(form) : ownNodes(form);
}

/** Not taken for another reason than that one stands, or it is not known yet which. */
function refusedNodes(/** @type {ConsensusForm} */ form) {
  const words = html("p", {}, `Yours is not saved. ${form.returned.reason}`);
  if (form.isBehind) return [words];
  const again = button("Try again", () => form.keepMine());
  return [words, again, button("Put away", () => form.takeTheirs())];
}

/** Somebody else's stands. */
function theirsNodes(/** @type {ConsensusForm} */ form) {
  const { other } = form.data;
  const kept = form.returned ? "Yours is not saved: it is kept on this computer." : "";
  return [
    html(
      "p",
      {},
      `${other.name} recorded `,
      ...valueNodes(other),
      ` on ${other.at}, after this page was shown. ${kept}`,
    ),
    same(form.own, NOTHING) ? "" : button("Keep mine", () => form.keepMine()),
    button("Take theirs", () => form.takeTheirs()),
  ];
}

/** One's own stands that was recorded in another window. */
function ownNodes(/** @type {ConsensusForm} */ form) {
  const { stands, at } = form.data;
  return [
    html(
      "p",
      {},
      "You recorded ",
      ...valueNodes(stands),
      ` on ${at}. Given in a window that did not show this, and not saved: `,
      ...valueNodes(form.own),
    ),
    button("Record the unsaved one", () => form.keepMine()),
    button("Keep the saved one", () => form.takeTheirs()),
  ];
}

function asideNodes(/** @type {ConsensusForm} */ form) {
  if (!form.aside) return [];
  return [
    html("p", {}, "Yours, not saved: ", ...valueNodes(form.aside)),
    button("Use mine", () => form.endAside(form.aside)),
    button("Put away", () => form.endAside(form.value)),
  ];
}

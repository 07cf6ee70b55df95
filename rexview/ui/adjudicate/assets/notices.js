// Messages below the fields for a consensus: it was refused, or there is another one.

import { button, html } from "../../web/components/dom.js";
import { tr } from "../../web/components/words.js";

/** @import { ConsensusForm } from "./consensus.js" */

export const NOTHING = { score: null, comment: null };
export const same = (one, other) => one.score === other.score && one.comment === other.comment;

const HERE = "\uE000"; // no character of any text

/** A sentence with nodes in the place of `HERE`. */
function around(/** @type {string} */ words, nodes) {
  const place = words.indexOf(HERE);
  return [words.slice(0, place), ...nodes, words.slice(place + HERE.length)];
}

function valueNodes({ score, comment }) {
  const first = score === null ? tr("no score") : html("b", {}, String(score));
  return comment ? [first, `, “${comment}”`] : [first];
}

export function noticeNodes(/** @type {ConsensusForm} */ form) {
  const { returned } = form;
  if (returned && (form.isBehind || !returned.overtaken)) return refusedNodes(form);
  if (!form.overtaken) return asideNodes(form);
  return form.data.other ? theirsNodes(form) : ownNodes(form);
}

/** Refused for another reason than a stored consensus, or this is not known yet. */
function refusedNodes(/** @type {ConsensusForm} */ form) {
  const words = html(
    "p",
    {},
    tr("Consensus not saved. {reason}", { reason: form.returned.reason }),
  );
  if (form.isBehind) return [words];
  const again = button(tr("Try again"), () => form.keepMine());
  return [words, again, button(tr("Dismiss"), () => form.takeTheirs())];
}

/** There is somebody else's consensus. */
function theirsNodes(/** @type {ConsensusForm} */ form) {
  const { other } = form.data;
  const kept = form.returned ? tr("Your consensus is not saved: it is kept on this computer.") : "";
  return [
    html(
      "p",
      {},
      ...around(
        tr("{name} recorded {consensus} on {time}, after this page was shown.", {
          name: other.name,
          consensus: HERE,
          time: other.at,
        }),
        valueNodes(other),
      ),
      ` ${kept}`,
    ),
    same(form.own, NOTHING) ? "" : button(tr("Keep mine"), () => form.keepMine()),
    button(tr("Take theirs"), () => form.takeTheirs()),
  ];
}

/** There is the user's own consensus, recorded in another window. */
function ownNodes(/** @type {ConsensusForm} */ form) {
  const { stands, at } = form.data;
  return [
    html(
      "p",
      {},
      ...around(
        tr("You recorded {consensus} on {time}.", { consensus: HERE, time: at }),
        valueNodes(stands),
      ),
      " ",
      tr("Entered in a window that did not show this, and not saved:"),
      " ",
      ...valueNodes(form.own),
    ),
    button(tr("Record the unsaved one"), () => form.keepMine()),
    button(tr("Keep the saved one"), () => form.takeTheirs()),
  ];
}

function asideNodes(/** @type {ConsensusForm} */ form) {
  if (!form.aside) return [];
  return [
    html("p", {}, tr("Your entry, not saved:"), " ", ...valueNodes(form.aside)),
    button(tr("Use mine"), () => form.endAside(form.aside)),
    button(tr("Dismiss"), () => form.endAside(form.value)),
  ];
}

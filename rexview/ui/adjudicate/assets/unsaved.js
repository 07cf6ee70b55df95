// Unsaved consensus entries, above the fields: the server refuses them now, or somebody else has
// recorded one meanwhile on a case that is not on the screen.

import { button, html } from "../../web/components/dom.js";
import { mounting } from "../../web/components/mount.js";
import { tr } from "../../web/components/words.js";
import { outbox } from "../../web/saving/assets/outbox.js";
import { OutboxView } from "../../web/saving/assets/outbox_view.js";

class Unsaved extends OutboxView {
  constructor(place) {
    super(place, { class: "rx-consensus rx-consensus-notice", role: "alert" });
  }

  draw() {
    const waiting = outbox.pendingHere("adjudicate");
    const notices = [];
    if (waiting.length > 0 && outbox.reason) {
      notices.push(
        html(
          "p",
          {},
          tr("The consensus is not saved yet. It is kept on this computer and will be sent."),
          " ",
          outbox.reason,
        ),
        button(tr("Save now"), () => outbox.hurry()),
      );
    }
    const back = outbox.returnedHere("adjudicate");
    const shown = ({ case: of, shown: answer }) =>
      of === this.data.case && this.data.shown.includes(answer);
    const elsewhere = back.filter(([, one]) => !shown(one));
    for (const of of new Set(elsewhere.map(([, one]) => one.case))) {
      const ofCase = elsewhere.filter(([, one]) => one.case === of);
      const reason = [...new Set(ofCase.map(([, one]) => one.reason))].join(" ");
      notices.push(
        html("p", {}, tr("Your consensus on {case} is not saved. {reason}", { case: of, reason })),
        of === this.data.case
          ? ""
          : button(tr("Go to {case}", { case: of }), () => this.tell("go", of)),
        button(tr("Dismiss"), () => outbox.putAway(ofCase.map(([key]) => key))),
      );
    }
    this.root.replaceChildren(...notices);
  }
}

export const mount = mounting((place) => new Unsaved(place));

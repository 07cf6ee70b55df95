// On every page: sends the entries that wait in this browser. Entries of other pages, which the
// page
// itself does not show, are reported at the lower edge: that they wait, or were refused.

import { button, html } from "../../components/dom.js";
import { TYPING } from "../../components/key_guards.js";
import { mounting } from "../../components/mount.js";
import { tr, trn } from "../../components/words.js";
import { keepTypedFields } from "../../streamlit_adapter/typed_fields.js";
import { outbox } from "./outbox.js";
import { OutboxView } from "./outbox_view.js";

const MEETING_PAGE = "meeting page"; // as in ui/web/saving/entries.py

class Waiting extends OutboxView {
  constructor(place) {
    const typing = () => Boolean(document.activeElement?.matches(TYPING));
    super(place, { class: "rx-waiting", role: "status" }, { busy: typing });
    this.drawn = "";
  }

  update(data, tell) {
    super.update(data, tell);
    keepTypedFields(data.taken);
  }

  draw() {
    const { data } = this;
    const elsewhere = (one) => (one.page ?? "score page") !== data.outbox.page;
    // seen cases are sent when possible, and need no attention
    const waiting = outbox.pending().filter((one) => elsewhere(one) && one.kind !== "seen");
    const stuck = outbox.ticket === null || outbox.reason !== null;
    const refused = outbox.returned.all(outbox.owner).filter(([, one]) => elsewhere(one));
    const state = JSON.stringify([
      data.set,
      stuck && waiting.length,
      outbox.reason,
      data.named,
      refused,
    ]);
    if (state === this.drawn) return;
    this.drawn = state;
    this.root.replaceChildren(
      ...(stuck && waiting.length > 0 ? this.waitingNodes(waiting.length) : []),
      ...this.refusedNodes(refused),
    );
  }

  waitingNodes(count) {
    const { data } = this;
    if (!data.named) {
      const kept = trn(
        "{n} entry is not saved yet: kept on this computer.",
        "{n} entries are not saved yet: kept on this computer.",
        count,
      );
      const account = html("a", { href: this.address(data.account) }, tr("Enter your name"));
      const [before, after] = tr("{link} to send it.").split("{link}");
      return [html("p", {}, `${kept} ${before}`, account, after)];
    }
    const kept = trn(
      "{n} entry is not saved yet: kept on this computer, sent from any page.",
      "{n} entries are not saved yet: kept on this computer, sent from any page.",
      count,
    );
    const reason = outbox.reason ?? tr("The database cannot be reached.");
    return [
      html("p", {}, `${kept} ${reason}`),
      button(tr("Save now"), () =>
        outbox.ticket ? outbox.hurry() : this.tell("refresh", Date.now()),
      ),
    ];
  }

  /**
   * Refused entries, with a link to where they are shown. Those about a meeting can be dismissed
   * here,
   * too: no page shows those of a removed meeting.
   */
  refusedNodes(refused) {
    const byPlace = new Map();
    for (const one of refused) {
      const key = JSON.stringify([one[1].page ?? "score page", one[1].case]);
      byPlace.set(key, [...(byPlace.get(key) ?? []), one]);
    }
    return [...byPlace].flatMap(([key, entries]) => {
      const [page, of] = JSON.parse(key);
      const what = trn(
        "{n} entry on {case} not accepted:",
        "{n} entries on {case} not accepted:",
        entries.length,
        { case: of },
      );
      const known = this.data.pages[page];
      const link = known && html("a", { href: this.address(known[0], of, known[2]) }, known[1]);
      const line = html("p", {}, what, " ", link ?? tr("kept on this computer."));
      if (page !== MEETING_PAGE) return [line];
      const said = entries.map(([, { reason, value }]) => {
        const words = value?.text ?? value?.comment;
        return html("p", {}, words ? `${reason} “${words}”` : reason);
      });
      const away = () => outbox.putAway(entries.map(([name]) => name));
      return [line, ...said, button(tr("Dismiss"), away)];
    });
  }

  /** The address of a page of the app, with the open set. */
  address(page, of = null, task = null) {
    const query = Object.entries({ set: this.data.set, case: of, task }).filter(
      ([, value]) => value,
    );
    return `${page}?${new URLSearchParams(query)}`;
  }
}

export const mount = mounting((place) => new Waiting(place));

// The frame of every item of a task: progress and saved state, refused entries, the report if the
// study's rules show it, the end.

import { button, html, set } from "../../web/components/dom.js";
import { serverNodes } from "../../web/components/server_html.js";
import { tr } from "../../web/components/words.js";
import { outbox } from "../../web/saving/assets/outbox.js";
import { ScorerLine } from "../../web/saving/assets/scorer.js";

/** @import { TaskPad } from "./task_pad.js" */

export function plain(words, act, attributes = {}) {
  return button(words, act, { class: "plain", ...attributes });
}

export class TaskFrame {
  constructor(/** @type {TaskPad} */ pad) {
    this.pad = pad;
    const { items } = pad.words;
    this.place = html("b", { class: "place" });
    this.tally = html("span", { class: "tally" });
    this.meter = html("progress", { max: "1", value: "0", "aria-label": items.meter });
    this.previous = plain("‹", () => pad.turn(-1), {
      title: items.previousKey,
      "aria-label": items.previous,
    });
    this.next = plain(tr("Next ›"), () => pad.turn(1), {
      title: items.nextKey,
      class: "plain next",
    });
    this.scorer = new ScorerLine();
    this.saved = html("span", { class: "saved", role: "status" });
    this.alert = html("p", { class: "alert", role: "alert", hidden: true });
    this.returned = html("div", { class: "returned", role: "alert", hidden: true });
    this.finish = html("div", { class: "finish", hidden: true });
    this.message = html("span", { class: "message", "aria-live": "polite" });
    this.body = html("div", { class: "task" });
    this.asking = html(
      "div",
      { class: "finish", hidden: true },
      html("span", {}, tr("Show the radiologist's report? Your viewing is recorded.")),
      plain(tr("Show it"), () => pad.fetchReport(), { class: "strong" }),
      plain(tr("No"), () => (this.asking.hidden = true)),
    );
    this.seen = html(
      "p",
      { class: "seen", hidden: true },
      tr(
        "You have seen this case on the Case page, where answers and models are shown. This is recorded.",
      ),
    );
    this.reportNode = html("div", { class: "report", tabindex: "0", hidden: true });
    this.feet = html("footer", {}, this.message);
    this.root = html(
      "section",
      { class: "rx-pad rx-task", "aria-label": items.plural },
      html(
        "header",
        { class: "bar" },
        this.previous,
        this.place,
        this.next,
        html("span", { class: "how" }, this.meter, this.tally),
        this.scorer.node,
        this.saved,
      ),
      this.alert,
      this.returned,
      this.finish,
      this.asking,
      this.seen,
      this.reportNode,
      this.body,
      this.feet,
    );
  }

  refresh() {
    const { pad } = this;
    const { total, done, skipped } = pad.data.worklist;
    const { items } = pad.words;
    this.place.textContent = items.place({ place: pad.case.place, total });
    const tally = [items.done(done)];
    if (skipped) tally.push(tr("{n} left out", { n: skipped }));
    this.tally.textContent = tally.join(" · ");
    this.meter.value = total > 0 ? (done + skipped) / total : 0;
    set(this.previous, { disabled: !pad.case.previous });
    set(this.next, { disabled: !pad.case.next });
    this.seen.hidden = !pad.case.own.unblinded;
    this.#report();
    this.#saved();
    this.#returned();
    this.#finish(pad.isFinished(pad.data.worklist), skipped > 0);
  }

  #report() {
    const { report } = this.pad.case;
    const markup = report?.html ?? "";
    if (this.reportHtml !== markup) {
      this.reportHtml = markup;
      this.reportNode.replaceChildren(...serverNodes(markup));
      this.reportNode.hidden = !(report?.always || (markup && this.pad.reportWanted));
      this.pad.reportWanted = false;
    }
  }

  #saved() {
    this.scorer.draw(outbox.scorer);
    const { state, message, reason } = outbox.status(...this.pad.words.kinds);
    this.saved.dataset.state = state;
    const words = state === "waiting" ? tr("Not saved yet") : message;
    if (this.saved.textContent !== words) this.saved.textContent = words;
    const text = state === "waiting" ? `${message} ${reason}` : "";
    if (this.alert.textContent !== text) this.alert.textContent = text;
    this.alert.hidden = text === "";
  }

  /** Refused entries remain here until the reader dismisses them. */
  #returned() {
    const { page, kinds } = this.pad.words;
    const every = outbox.returned
      .all(outbox.owner)
      .filter(([, one]) => one.page === page && kinds.includes(one.kind));
    const listed = JSON.stringify([this.pad.case.case, every]); // only of the item shown it is saved again
    if (listed === this.listed) return;
    this.listed = listed;
    this.returned.hidden = every.length === 0;
    this.returned.replaceChildren(
      ...every.map(([key, entry]) =>
        html(
          "section",
          {},
          html(
            "p",
            {},
            html("b", {}, tr("Not saved ({case})", { case: entry.case })),
            `: ${entry.reason}`,
          ),
          html("p", {}, this.pad.told(entry)),
          plain(tr("Dismiss"), () => outbox.putAway([key])),
          this.#again(key, entry),
        ),
      ),
    );
  }

  #again(key, entry) {
    const act = this.pad.again(entry);
    if (!act) return null;
    return plain(tr("Save mine"), () => {
      outbox.putAway([key]);
      act();
    });
  }

  #finish(isDone, leftOut) {
    const { allDone, allDoneOrOut } = this.pad.words.items;
    const nodes = isDone
      ? [html("b", {}, leftOut ? allDoneOrOut : allDone), ...this.pad.ending()]
      : [];
    const text = nodes.map((node) => node.textContent).join("|");
    if (text !== this.finished) this.finish.replaceChildren(...nodes);
    this.finished = text;
    this.finish.hidden = nodes.length === 0;
  }
}

// Everything of the pad around the answers: progress and saved state, question, tabs, the anchors of
// the marked row, the buttons below.

import { button, html, set } from "../../../web/components/dom.js";
import { tr } from "../../../web/components/words.js";
import { outbox } from "../../../web/saving/assets/outbox.js";
import { ScorerLine } from "../../../web/saving/assets/scorer.js";
import { LEVELS } from "./answer.js";
import { counted, missing } from "./case_record.js";
import {
  allScored,
  sawNamed,
  sawReport,
  skippedWords,
  tallyOf,
  unfinishedWords,
} from "./pad_words.js";

/** @import { Row } from "./answer.js" */
/** @import { Pad } from "./pad.js" */
/** @import { PadCase } from "./types.d.ts" */

function plain(words, act, attributes = {}) {
  return button(words, act, { class: "plain", ...attributes });
}

export class Frame {
  constructor(/** @type {Pad} */ pad) {
    this.pad = pad;
    this.place = html("b", { class: "place" });
    this.tally = html("span", { class: "tally" });
    this.meter = html("progress", { max: "1", value: "0", "aria-label": tr("Cases scored") });
    this.previous = plain("‹", () => pad.turn("previous"), {
      title: tr("Previous case (p)"),
      "aria-label": tr("Previous case"),
    });
    this.next = plain(tr("Next ›"), () => pad.turn("next"), {
      title: tr("Next case (n)"),
      class: "plain next",
    });
    this.scorer = new ScorerLine();
    this.saved = html("span", { class: "saved", role: "status" });
    this.bar = html(
      "header",
      { class: "bar" },
      this.previous,
      this.place,
      this.next,
      plain(tr("Cases"), () => pad.sheets.cases(), { title: tr("List of your cases") }),
      html("span", { class: "how" }, this.meter, this.tally),
      this.scorer.node,
      this.saved,
      plain("?", () => pad.sheets.help(), {
        class: "plain keys",
        title: tr("Keys (?)"),
        "aria-label": tr("Keys"),
      }),
    );
    this.alert = html("p", { class: "alert", role: "alert", hidden: true });
    this.complaints = html("div", { class: "complaints", role: "alert" });
    this.finish = html("div", { class: "finish", hidden: true });
    this.seen = html("div", { class: "seen", hidden: true });
    this.question = html("div", { class: "question" });
    this.report = html("div", { class: "report", tabindex: "0", hidden: true });
    this.tabs = html("div", { class: "tabs", role: "group", "aria-label": tr("Answers") });
    this.answers = html("div", { class: "answers" });
    this.anchors = html("aside", { class: "anchors", "aria-label": tr("Rubric") });
    this.body = html("div", { class: "body" }, this.answers, this.anchors);
    this.undo = plain(tr("Undo"), () => pad.scoring.undo(), { title: tr("Undo (u)") });
    this.skip = plain(tr("Skip…"), () => pad.sheets.skip(), { title: tr("Skip this case (s)") });
    this.reportButton = plain(tr("Report"), () => pad.scoring.report(), {
      title: tr("Report (g)"),
    });
    this.reveal = plain(tr("Name the models…"), () => pad.sheets.reveal(false));
    this.message = html("span", { class: "message", "aria-live": "polite" });
    this.unfinished = html("span", { class: "unfinished", hidden: true });
    this.feet = html(
      "footer",
      {},
      this.undo,
      this.skip,
      this.reportButton,
      this.reveal,
      this.message,
      this.unfinished,
    );
    this.root = html(
      "section",
      { class: "rx-pad", "aria-label": tr("Score pad") },
      this.bar,
      this.alert,
      this.complaints,
      pad.returned.node,
      this.finish,
      this.question,
      this.seen,
      this.report,
      this.tabs,
      this.body,
      this.feet,
      pad.sheets.node,
    );
  }

  /** Put a case on the pad. */
  show(/** @type {PadCase} */ padCase, views) {
    const { pad } = this;
    this.question.innerHTML = padCase.question; // made and escaped by the server
    this.report.innerHTML = padCase.report.html ?? "";
    if (padCase.report.state !== "shown") this.report.hidden = true;
    else if (padCase.report.always) this.report.hidden = false;
    this.answers.replaceChildren(...views.map(({ node }) => node));
    this.tabButtons = padCase.answers.map((answer) =>
      button(
        [answer.name, html("span", { class: "count" })],
        () => pad.selection.showAnswer(answer.slot),
        { class: "tab", "data-slot": answer.slot, style: { "--c": answer.colour } },
      ),
    );
    this.tabs.replaceChildren(...this.tabButtons);
    this.anchored = null;
  }

  toggleReport(open = this.report.hidden) {
    this.report.hidden = !open;
    if (open) this.report.scrollIntoView({ block: "nearest" });
  }

  /** A short message about the last action. */
  say(words) {
    this.message.textContent = words;
  }

  /** A message that remains until dismissed; the same text is shown once. */
  complain(words) {
    if ([...this.complaints.children].some((line) => line.firstChild.textContent === words)) return;
    const line = html(
      "p",
      {},
      words,
      " ",
      plain(tr("Close"), () => line.remove()),
    );
    this.complaints.append(line);
  }

  refresh(record, row) {
    const { pad } = this;
    const { data } = pad;
    const { total, done, skipped } = data.worklist;
    this.place.textContent = tr("Case {place} of {total}", { place: pad.case.place, total });
    this.place.title = pad.case.case;
    this.tally.textContent = tallyOf({ done, skipped });
    this.meter.value = total > 0 ? (done + skipped) / total : 0;
    set(this.previous, { disabled: !pad.case.previous });
    set(this.next, { disabled: !pad.case.next });
    this.#saved();
    this.#tabs(record);
    this.#anchors(row, record);
    const state = pad.stateHere();
    this.next.classList.toggle("strong", state === "done" && Boolean(pad.case.next));
    set(this.undo, { disabled: pad.scoring.done.length === 0 || pad.locked });
    set(this.skip, { disabled: pad.locked || state === "done" });
    this.reportButton.hidden = data.protocol.report !== "on_request";
    set(this.reportButton, { "aria-expanded": String(!this.report.hidden) });
    const closed = state === "done" || state === "skipped";
    this.reveal.hidden = data.protocol.reveal !== "per_case" || pad.locked || !closed;
    this.#finish(record, { total, done, skipped });
    this.#seen(record.seen ?? {});
    this.#unfinished(record, state);
  }

  /** What the reader saw of the case besides its answers, and the choice to score it anyway. */
  #seen({ report, unblinded }) {
    const { pad } = this;
    const lines = [];
    const named = unblinded && sawNamed(unblinded);
    if (unblinded && pad.held) {
      lines.push(
        html(
          "p",
          { class: "ask" },
          `${named} `,
          tr("Scores given now are not blinded; this is recorded."),
          " ",
          plain(tr("Score it all the same"), () => pad.scoring.accept(), { class: "strong" }),
          " ",
          plain(tr("Skip…"), () => pad.sheets.skip()),
        ),
      );
    } else if (unblinded) {
      lines.push(html("p", {}, `${named} `));
    }
    if (report) lines.push(html("p", {}, sawReport(report)));
    const text = `${pad.held}|${lines.map((line) => line.textContent).join("|")}`;
    if (this.sawText !== text) this.seen.replaceChildren(...lines);
    this.sawText = text;
    this.seen.hidden = lines.length === 0;
  }

  /** The missing parts of a started case: until they are given it does not count. */
  #unfinished(record, state) {
    const { pad } = this;
    const open = missing(pad.case, record);
    const begun = counted(pad.case, record).given > 0 && open.length > 0;
    this.unfinished.hidden = !begun || pad.locked;
    if (!begun) return;
    const names = open.map(({ slot, items }) => [slot, items?.map((item) => pad.titleOf(item))]);
    const words = unfinishedWords(state, names);
    if (this.unfinished.textContent !== words) this.unfinished.textContent = words;
    this.unfinished.title = words;
  }

  #saved() {
    this.scorer.draw(outbox.scorer);
    const { state, message, reason } = outbox.status("score", "verdict", "skip");
    this.saved.dataset.state = state;
    if (this.saved.textContent !== message)
      this.saved.textContent = state === "waiting" ? tr("Not saved yet") : message;
    const text = state === "waiting" ? `${message} ${reason}` : "";
    if (this.alert.textContent !== text) this.alert.textContent = text;
    this.alert.hidden = text === "";
  }

  #tabs(record) {
    const { pad } = this;
    for (const tab of this.tabButtons) {
      const answer = pad.case.answers.find(({ slot }) => slot === tab.dataset.slot);
      const { needed, given } = counted({ answers: [answer] }, record);
      set(tab, { "aria-pressed": String(answer.slot === pad.selection.slot) });
      tab.classList.toggle("whole", needed === given);
      const name = pad.case.names?.[answer.slot];
      tab.firstChild.textContent = name ? `${answer.name}: ${name}` : answer.name;
      tab.lastChild.textContent = needed > 0 ? `${given}/${needed}` : tr("no score needed");
    }
  }

  // The anchors of the marked row's dimension; choosing one scores.
  #anchors(row, record) {
    this.anchors.hidden = row === null;
    if (row === null) return;
    const score = record.scores[row.key]?.score ?? null;
    if (this.anchored !== row.key) {
      this.anchored = row.key;
      this.choices = this.#choices(row);
      this.anchors.replaceChildren(...this.#rubric(row), html("ol", {}, ...this.choices));
      this.fitRubric();
    }
    for (const choice of this.choices) {
      choice.classList.toggle("chosen", Number(choice.dataset.level) === score);
    }
  }

  /** Above the anchors of a row: its dimension, and its question. */
  #rubric(/** @type {Row} */ row) {
    const where = this.pad.case.answers.length > 1 ? `${row.answer.name} · ` : "";
    const { question } = this.pad.dimension(row.item.dimension);
    return [html("h4", {}, html("small", {}, where), row.title), html("p", {}, question)];
  }

  #choices(/** @type {Row} */ row) {
    const { anchors } = this.pad.dimension(row.item.dimension);
    const act = (level) => this.pad.locked || this.pad.scoring.score(row, level);
    return [...LEVELS]
      .reverse()
      .map((level) =>
        html(
          "li",
          { "data-level": level, onclick: () => act(level) },
          html("b", {}, String(level)),
          html("span", {}, anchors[level] ?? ""),
        ),
      );
  }

  /**
   * Make the rubric as high as its longest dimension here, and give the answer's text the rest: the
   * rubric
   * does not jump from row to row, and the text is not cut above free space.
   */
  fitRubric() {
    const { anchors, pad } = this;
    const width = anchors.offsetWidth;
    const state = [pad.case?.case, width].join();
    if (!width || state === this.fitted) return;
    this.fitted = state;
    const probe = html("aside", { class: "anchors probe", "aria-hidden": "true" });
    probe.style.width = `${width}px`;
    anchors.after(probe);
    const heights = pad.rows.map((row) => {
      probe.replaceChildren(...this.#rubric(row), html("ol", {}, ...this.#choices(row)));
      return probe.offsetHeight;
    });
    probe.remove();
    this.body.style.setProperty("--rubric", `${Math.max(0, ...heights)}px`);
  }

  #finish(record, { total, done, skipped }) {
    const { pad } = this;
    const words = [];
    if (record.skip !== null && pad.stateHere() === "skipped") {
      words.push(html("span", {}, skippedWords(record.skip)));
      if (!pad.locked) words.push(plain(tr("Take back"), () => pad.scoring.skip(null)));
    }
    if (pad.locked)
      words.push(html("span", {}, tr("The models are named; scores can no longer be changed.")));
    else if (done + skipped === total) {
      words.push(html("b", {}, allScored({ total, skipped })));
      if (pad.data.protocol.reveal === "at_end") {
        words.push(
          plain(tr("Name the models…"), () => pad.sheets.reveal(true), { class: "strong" }),
        );
      }
    }
    const text = words.map((word) => word.textContent).join("|");
    if (this.finished !== text) this.finish.replaceChildren(...words);
    this.finished = text;
    this.finish.hidden = words.length === 0;
  }
}

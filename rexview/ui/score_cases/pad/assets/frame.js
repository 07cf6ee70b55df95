// Everything of the pad around the answers: progress and saved state, question, tabs, the anchors of
// the marked row, the buttons below.

import { clock, dayUnlessToday } from "../../../components/clock.js";
import { button, html, set } from "../../../components/dom.js";
import { outbox } from "../../../saving/assets/outbox.js";
import { LEVELS } from "./answer.js";
import { counted, missing } from "./case_record.js";

/** @import { Pad } from "./pad.js" */
/** @import { PadCase } from "./types.d.ts" */

const TIMING = { before: "before scoring", during: "while scoring", after: "after scoring" };

function plain(words, act, attributes = {}) {
  return button(words, act, { class: "plain", ...attributes });
}

/** When something was seen, as the reader's clock has it: the day only where it is not today. */
function at({ at: moment }) {
  const time = new Date(moment);
  if (Number.isNaN(time.getTime())) return "";
  const day = dayUnlessToday(time);
  return `${day && `on ${day} `}at ${clock(time)}`;
}

export class Frame {
  constructor(/** @type {Pad} */ pad) {
    this.pad = pad;
    this.place = html("b", { class: "place" });
    this.tally = html("span", { class: "tally" });
    this.meter = html("progress", { max: "1", value: "0", "aria-label": "Cases scored" });
    this.previous = plain("‹", () => pad.turn("previous"), {
      title: "Previous case (p)",
      "aria-label": "Previous case",
    });
    this.next = plain("Next ›", () => pad.turn("next"), {
      title: "Next case (n)",
      class: "plain next",
    });
    this.saved = html("span", { class: "saved", role: "status" });
    this.bar = html(
      "header",
      { class: "bar" },
      this.previous,
      this.place,
      this.next,
      plain("Cases", () => pad.sheets.cases(), { title: "List of your cases" }),
      html("span", { class: "how" }, this.meter, this.tally),
      this.saved,
      plain("?", () => pad.sheets.help(), {
        class: "plain keys",
        title: "Keys (?)",
        "aria-label": "Keys",
      }),
    );
    this.alert = html("p", { class: "alert", role: "alert", hidden: true });
    this.complaints = html("div", { class: "complaints", role: "alert" });
    this.finish = html("div", { class: "finish", hidden: true });
    this.seen = html("div", { class: "seen", hidden: true });
    this.question = html("div", { class: "question" });
    this.report = html("div", { class: "report", tabindex: "0", hidden: true });
    this.tabs = html("div", { class: "tabs", role: "group", "aria-label": "Answers" });
    this.answers = html("div", { class: "answers" });
    this.anchors = html("aside", { class: "anchors", "aria-label": "Rubric" });
    this.undo = plain("Undo", () => pad.scoring.undo(), { title: "Undo (u)" });
    this.skip = plain("Skip…", () => pad.sheets.skip(), { title: "Skip this case (s)" });
    this.reportButton = plain("Report", () => pad.scoring.report(), { title: "Report (g)" });
    this.reveal = plain("Name the models…", () => pad.sheets.reveal(false));
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
      { class: "rx-pad", "aria-label": "Score pad" },
      this.bar,
      this.alert,
      this.complaints,
      pad.returned.node,
      this.finish,
      this.question,
      this.seen,
      this.report,
      this.tabs,
      html("div", { class: "body" }, this.answers, this.anchors),
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

  /** A short word about what was just done. */
  say(words) {
    this.message.textContent = words;
  }

  /** What the reader must know, until it is put away; the same words once. */
  complain(words) {
    if ([...this.complaints.children].some((line) => line.firstChild.textContent === words)) return;
    const line = html(
      "p",
      {},
      words,
      " ",
      plain("Close", () => line.remove()),
    );
    this.complaints.append(line);
  }

  refresh(record, row) {
    const { pad } = this;
    const { data } = pad;
    const { total, done, skipped } = data.worklist;
    this.place.textContent = `Case ${pad.case.place} of ${total}`;
    this.place.title = pad.case.case;
    this.tally.textContent = `${done} scored${skipped ? ` · ${skipped} skipped` : ""}`;
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

  /** What the reader saw of the case besides its answers, and whether to score it all the same. */
  #seen({ report, unblinded }) {
    const { pad } = this;
    const lines = [];
    if (unblinded && pad.held) {
      lines.push(
        html(
          "p",
          { class: "ask" },
          `You have seen this case with the models named ${at(unblinded)}. `,
          "Scores given now are not blinded; it is recorded. ",
          plain("Score it all the same", () => pad.scoring.accept(), { class: "strong" }),
          " ",
          plain("Skip…", () => pad.sheets.skip()),
        ),
      );
    } else if (unblinded) {
      lines.push(html("p", {}, `You have seen this case with the models named ${at(unblinded)}. `));
    }
    if (report)
      lines.push(html("p", {}, `You saw the report ${at(report)}, ${TIMING[report.timing]}.`));
    const text = `${pad.held}|${lines.map((line) => line.textContent).join("|")}`;
    if (this.sawText !== text) this.seen.replaceChildren(...lines);
    this.sawText = text;
    this.seen.hidden = lines.length === 0;
  }

  /** What is missing on a case that is begun: until then it counts nowhere. */
  #unfinished(record, state) {
    const { pad } = this;
    const open = missing(pad.case, record);
    const begun = counted(pad.case, record).given > 0 && open.length > 0;
    this.unfinished.hidden = !begun || pad.locked;
    if (!begun) return;
    const parts = open.map(({ slot, items }) => {
      const names = items?.map((item) => pad.titleOf(item));
      return `Answer ${slot}${names ? ` (${names.join(", ")})` : ""}`;
    });
    const what =
      state === "skipped"
        ? "Skipped: the scores given count nowhere."
        : "Not finished: counts nowhere yet.";
    const words = state === "skipped" ? what : `${what} Missing: ${parts.join("; ")}`;
    if (this.unfinished.textContent !== words) this.unfinished.textContent = words;
    this.unfinished.title = words;
  }

  #saved() {
    const { state, message, reason } = outbox.status();
    this.saved.dataset.state = state;
    if (this.saved.textContent !== message)
      this.saved.textContent = state === "waiting" ? "Not saved yet" : message;
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
      tab.lastChild.textContent = needed > 0 ? `${given}/${needed}` : "no score needed";
    }
  }

  // The anchors of the marked row's dimension; choosing one scores.
  #anchors(row, record) {
    this.anchors.hidden = row === null;
    if (row === null) return;
    const score = record.scores[row.key]?.score ?? null;
    if (this.anchored !== row.key) {
      this.anchored = row.key;
      const { question, anchors } = this.pad.dimension(row.item.dimension);
      const where = this.pad.case.answers.length > 1 ? `${row.answer.name} · ` : "";
      this.choices = [...LEVELS]
        .reverse()
        .map((level) =>
          html(
            "li",
            {
              "data-level": level,
              onclick: () => this.pad.locked || this.pad.scoring.score(row, level),
            },
            html("b", {}, String(level)),
            html("span", {}, anchors[level] ?? ""),
          ),
        );
      this.anchors.replaceChildren(
        html("h4", {}, html("small", {}, where), row.title),
        html("p", {}, question),
        html("ol", {}, ...this.choices),
      );
    }
    for (const choice of this.choices) {
      choice.classList.toggle("chosen", Number(choice.dataset.level) === score);
    }
  }

  #finish(record, { total, done, skipped }) {
    const { pad } = this;
    const words = [];
    if (record.skip !== null && pad.stateHere() === "skipped") {
      words.push(html("span", {}, `Skipped: ${record.skip}`));
      if (!pad.locked) words.push(plain("Take back", () => pad.scoring.skip(null)));
    }
    if (pad.locked)
      words.push(html("span", {}, "The models are named; scores can no longer be changed."));
    else if (done + skipped === total) {
      words.push(html("b", {}, `All ${total} cases are scored${skipped ? " or skipped" : ""}.`));
      if (pad.data.protocol.reveal === "at_end") {
        words.push(plain("Name the models…", () => pad.sheets.reveal(true), { class: "strong" }));
      }
    }
    const text = words.map((word) => word.textContent).join("|");
    if (this.finished !== text) this.finish.replaceChildren(...words);
    this.finished = text;
    this.finish.hidden = words.length === 0;
  }
}

// A meeting on the whole screen: led from here, or followed. The image and the question are always
// visible; everything else is shown step by step. The content is requested from the server, which
// sends
// no more of a case than its presenter has shown.

import { html } from "../../../web/components/dom.js";
import { mounting } from "../../../web/components/mount.js";
import { tr } from "../../../web/components/words.js";
import { outbox } from "../../../web/saving/assets/outbox.js";
import { DecisionForm } from "../../decisions/assets/decision_form.js";
import { joinRoom } from "../../live/assets/live.js";
import { actsOf } from "./acts.js";
import { Appearance } from "./appearance.js";
import { Bar } from "./bar.js";
import { Film } from "./film/film.js";
import { Marks } from "./film/marks.js";
import { meaning } from "./keys.js";
import { NotesWindow } from "./notes_window.js";
import { Panels } from "./panels.js";
import { marksOf, pointedAt, toShare } from "./room/shared.js";
import { VoteCard } from "./room/votes.js";
import { Who } from "./room/who.js";
import { CaseList, JoinSheet, KeyList } from "./sheets.js";
import { keepShown, Timer } from "./timer.js";

/** @import { Tell } from "../../../web/components/events.js" */
/** @import { Cases, Votes } from "../../live/assets/types.d.ts" */
/** @import { Content, MeetingData, Shared } from "./types.d.ts" */

const AGAIN_MS = 1000;

export class Presenting {
  constructor(/** @type {HTMLElement} */ place) {
    this.abort = new AbortController();
    /** @type {MeetingData} data of the page */
    this.data = /** @type {any} */ (null);
    /** @type {{ case: string, step: number } | null} */
    this.at = null;
    /** @type {Content | null} */
    this.content = null;
    this.leads = false;
    this.deciding = false; // also before the last step
    /** @type {Votes} */
    this.votes = null;
    /** @type {Cases | null} */
    this.cases = null;
    this.acts = actsOf(this);
    this.film = new Film({ changed: () => this.#painted(), renew: () => this.#fetch(null) });
    this.marks = new Marks(this.film, () => this.#share());
    const decision = html("div", { class: "decision" });
    this.form = new DecisionForm(decision);
    this.panels = new Panels(decision);
    this.bar = new Bar(this.acts);
    this.list = new CaseList(
      (id) => this.goTo(id, 0),
      () => this.tell("headlines", Date.now()),
    );
    this.keys = new KeyList(() => this.film.viewer.help.toggle(true));
    this.join = new JoinSheet(() => this.room.ticket);
    this.who = new Who({
      ask: () => this.room.askToLead(),
      answer: (number, yes) => this.room.answer(number, yes),
      around: (looking) => this.room.lookAround(looking),
    });
    this.vote = new VoteCard({
      give: (id, vote) => this.room.vote(id, vote),
      show: (id, shown) => this.room.showVotes(id, shown),
      grades: () => this.data.harm,
      own: (id) => this.room?.ownVote(id) ?? null,
    });
    this.notes = new NotesWindow(this);
    this.timer = new Timer({
      tick: () => this.#tick(),
      passed: (id, seconds) => this.leads && keepShown(this.data.meeting, id, seconds),
    });
    this.panels.extra.prepend(this.vote.node, this.who.node);
    const main = html("div", { class: "main" }, this.film.node, this.panels.node);
    this.root = html(
      "section",
      { class: "rx-present", "aria-label": tr("Meeting"), tabindex: "-1" },
      this.bar.node,
      main,
      this.list.node,
      this.keys.node,
      this.join.node,
    );
    this.appearance = new Appearance(this.root, main, this.film);
    place.append(this.root);
    const key = (/** @type {KeyboardEvent} */ event) => this.key(event);
    window.addEventListener("keydown", key, { capture: true, signal: this.abort.signal });
  }

  close() {
    this.abort.abort();
    this.timer.close();
    this.notes.close();
    this.room?.leave();
    this.form.close();
    this.film.close();
    this.panels.close();
    this.root.remove();
  }

  update(/** @type {MeetingData} */ data, /** @type {Tell} */ tell) {
    this.data = data;
    this.tell = tell;
    outbox.configure(data.outbox);
    if (data.decisions) this.form.update(data.decisions);
    for (const { case: id, seconds } of data.agenda) this.timer.know(id, seconds);
    this.list.renew(data.agenda);
    if (this.room) {
      this.room.renew(data.room);
      return this.leads && !this.at ? this.#lead(true) : this.#where();
    }
    // the link that led here still has the focus, and would take the next press of the space bar
    this.root.focus({ preventScroll: true });
    this.film.begin(data.viewerStyle);
    this.appearance.begin();
    this.bar.begin({ leads: data.leads, exit: data.exit });
    this.#where();
    this.bar.drawSteps(data.meeting.steps, -1, -1);
    this.room = joinRoom({
      ticket: data.room,
      role: data.leads ? "lead" : "follow",
      onState: (state) => this.#follow(/** @type {any} */ (state)),
      onPresence: (people) => {
        this.who.people(people, this.leads);
        this.bar.followed(this.leads ? this.who.others : 0);
      },
      onCases: (cases) => {
        this.cases = cases;
        this.#where();
      },
      onVotes: (votes) => {
        this.votes = votes;
        this.#opinions();
      },
      onLeading: (leading) => this.#lead(leading),
      onConnection: (connection) => this.who.connection(connection),
      onRenew: () => this.tell("refresh", Date.now()),
      onProblem: (problem) => this.say(problem),
    });
  }

  say(/** @type {string} */ words) {
    this.bar.said.textContent = words;
  }

  // --- the shown case ----------------------------------------------------------------------------

  #lead(/** @type {boolean} */ leading) {
    if (!leading) this.timer.turn(""); // time shown from here counts
    this.leads = leading;
    if (leading && this.data.agenda.length === 0) this.tell("leads", this.room.window);
    this.bar.begin({ leads: leading, exit: this.data.exit });
    const shown = /** @type {Shared | null} */ (this.room.state);
    const start = shown?.case ?? this.data.start ?? "";
    const there = this.data.agenda.find(({ case: id }) => id === start) ?? this.data.agenda[0];
    if (leading && there) this.goTo(there.case, there.case === shown?.case ? shown.step : 0);
    else this.#draw(null);
  }

  /** Another screen shows something. */
  async #follow(/** @type {Shared} */ state) {
    if (this.leads) return;
    const turned = this.at?.case !== state.case || this.at.step !== state.step;
    if (turned) this.at = { case: state.case, step: state.step };
    this.followed = state;
    if (turned) await this.#fetch(state.step);
    else this.#asFollowed();
  }

  #asFollowed() {
    const { followed } = this;
    if (this.leads || this.room.looking || followed?.case !== this.film.case) return;
    this.film.look = followed.look ?? "";
    this.marks.take(marksOf(followed), pointedAt(followed));
  }

  /** Show a case up to a step, and share that. */
  async goTo(/** @type {string} */ id, /** @type {number} */ step) {
    if (!this.leads && !this.room.looking) this.room.lookAround();
    const turned = this.at?.case !== id;
    if (turned) {
      this.marks.clear();
      this.deciding = false;
    }
    this.at = { case: id, step };
    if (this.leads) this.timer.turn(id);
    const told = this.#share();
    if (turned || (this.content?.step ?? -1) < step) await told;
    await this.#fetch(step);
  }

  /** Show the current case: at once if it is loaded. `step` is the one to turn to. */
  async #fetch(/** @type {number | null} */ step) {
    const { at } = this;
    if (!at) return;
    if (step === null || this.content?.case !== at.case || this.content.step < at.step) {
      try {
        if (step === null) this.room.fetched.clear(); // its links have expired
        const { content } = await this.room.fetchCase(at.case, at.step);
        if (this.at?.case !== at.case) return;
        if (!content) return void this.say(tr("{case} is no longer in the set.", at));
        this.content = content;
        this.say("");
      } catch (error) {
        const again = () => this.at === at && !this.abort.signal.aborted && this.#fetch(step);
        setTimeout(again, AGAIN_MS);
        return void this.say(/** @type {Error} */ (error).message);
      }
    }
    this.#draw(step);
  }

  #draw(/** @type {number | null} */ turnTo) {
    const { at, content } = this;
    if (!at || content?.case !== at.case) return;
    const step = Math.min(at.step, content.step);
    const shown = content.steps.slice(0, step + 1).map(([key]) => key);
    this.film.show(content, new Set(shown));
    const to = turnTo === null ? null : (shown.at(-1) ?? null);
    const decides = this.leads && (this.isWhole || this.deciding);
    if (decides) {
      const subjects = content.letters.map(({ letter, name }) => ({ key: letter, name }));
      subjects.unshift({ key: "", name: tr("The case") });
      // while an earlier step is shown the content may have more: it must not show it
      const proposals = this.isWhole ? content.proposals : {};
      this.form.open({ meeting: this.data.meeting.id, case: at.case, subjects, proposals });
    }
    this.panels.show(content, shown, { turnTo: to, decides });
    this.appearance.answersShown(content.letters.length);
    if (this.panels.turned) this.appearance.alone(false);
    this.bar.drawSteps(content.steps, step, this.leads ? this.last : content.step);
    this.root.dataset.step = shown.at(-1) ?? "";
    this.root.dataset.case = at.case;
    this.#where();
    this.#opinions();
    this.#asFollowed();
    this.#tick();
    this.notes.refresh();
  }

  get isWhole() {
    return this.content !== null && (this.at?.step ?? -1) >= this.content.steps.length - 1;
  }

  #where() {
    this.bar.where(this.data.agenda, this.cases, this.at?.case ?? null);
  }

  #opinions() {
    const here = this.votes?.case === this.at?.case;
    const letters = this.content?.case === this.at?.case ? this.content?.letters : [];
    this.vote.update({ votes: this.votes, letters: letters ?? [], leads: this.leads, here });
  }

  // --- what others see ---------------------------------------------------------------------------

  #painted() {
    this.marks.draw();
    this.appearance.filmKnown();
    this.bar.drawViews(this.film);
    this.#share();
    this.notes.mirror();
  }

  #share() {
    if (!this.leads || !this.at) return Promise.resolve();
    const there = this.film.case === this.at.case;
    const look = there ? (this.film.look ?? this.shared?.look ?? "") : "";
    const state = toShare(this.at, look, there ? this.marks.list : [], this.marks.pointed);
    const text = JSON.stringify(state);
    if (text === this.sharedText) return Promise.resolve();
    this.shared = state;
    this.sharedText = text;
    return this.room.send(state);
  }

  #tick() {
    const item = this.data?.agenda.find(({ case: id }) => id === this.at?.case);
    this.bar.drawTime(this.timer.seconds, item, this.timer.running);
    this.notes.tick();
  }

  // --- keys and buttons --------------------------------------------------------------------------

  key(/** @type {KeyboardEvent} */ event) {
    if (!this.film.viewer || this.root.querySelector(".sheet:not([hidden])")) return;
    const act = meaning(event, this);
    if (!act) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    this.acts[act]();
  }

  /** Open the form for decisions, whatever is shown. */
  decide() {
    if (!this.leads || !this.content) return;
    this.deciding = true;
    this.#draw(null);
    this.panels.turn("decision");
  }

  get last() {
    return (this.content?.steps ?? this.data.meeting.steps).length - 1;
  }
}

export const mount = mounting((place) => new Presenting(place));

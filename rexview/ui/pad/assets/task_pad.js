// The common parts of the pads of all tasks besides scoring: progress and saved state, the shown
// item,
// refused entries, keys. Entries are sent to the server by the outbox. Only the shown item ("go")
// and
// requests for new data ("refresh") use the page's script.

import { turning } from "../../turning/assets/turning.js";
import { dialogIsOpen, isPlain, TYPING } from "../../web/components/key_guards.js";
import { outbox } from "../../web/saving/assets/outbox.js";
import { askWhereSeen } from "../../web/saving/assets/seen_cases.js";
import { Follow } from "./follow.js";
import { Stopwatch } from "./stopwatch.js";
import { TaskFrame } from "./task_frame.js";
import { NOT_HERE } from "./task_words.js";

/** @import { Tell } from "../../web/components/events.js" */
/** @import { ItemWords, TaskData, TaskItem } from "./types.d.ts" */

const PICTURE = ".rx"; // the viewer

export class TaskPad {
  /**
   * @param {HTMLElement} place
   * @param {{ page: string, kinds: string[], items: ItemWords }} words the page's name in entries,
   * their
   *   kinds, and the names of items
   */
  constructor(place, words) {
    this.words = words;
    this.abort = new AbortController();
    /** @type {TaskData} */
    this.data = null;
    /** @type {TaskItem} */
    this.case = null;
    this.known = new Map(); // item -> the reader's newest entries sent by the server
    this.watch = new Stopwatch(this.abort.signal);
    this.frame = new TaskFrame(this);
    this.root = this.frame.root;
    place.append(this.root);
    this.follow = new Follow(this);
    turning.enter(this);
    this.unturn = turning.listen({
      has: ({ pad }) => Boolean(pad),
      show: ({ pad }) => this.#show(/** @type {any} */ (pad)),
      waiting: (waits) => this.root.classList.toggle("turning", waits),
    });
    this.unlisten = outbox.listen({
      changed: () => this.refresh(),
      heard: (reply, batch) => this.#heard(reply, batch),
      refresh: () => this.tell("refresh", Date.now()),
      busy: () => Boolean(document.activeElement?.closest("input, textarea")),
      leave: () => this.commit(),
    });
    const options = { capture: true, signal: this.abort.signal };
    document.addEventListener("keydown", (event) => this.#key(event), options);
    window.addEventListener("pagehide", () => this.commit(), { signal: this.abort.signal });
  }

  close() {
    this.commit();
    this.watch.stop();
    this.unturn();
    turning.leave(this);
    this.follow.close();
    this.unlisten();
    outbox.asked = null;
    outbox.askedPage = null;
    this.abort.abort();
    this.root.remove();
  }

  // --- defined by each task ----------------------------------------------------------------------

  /** Put an item on the pad; kept: it is already there, and its typed text remains. */
  put(_kept) {}

  /** Show the reader's entries on it. */
  draw(_record) {}

  /** Make entries of typed text. */
  commit() {}

  /** The action of a key here, or null. */
  meaning(_event) {
    return null;
  }

  /** The reader's entries with one more. */
  withEntry(record, entry) {
    return { ...record, value: entry.value?.value, comment: entry.value?.comment ?? "" };
  }

  /** A refused entry in words. */
  told(entry) {
    return String(entry.value?.value ?? "");
  }

  /** A function that makes a refused entry again, or null. */
  again(_entry) {
    return null;
  }

  /** Whether nothing is left to do. */
  isFinished({ total, done, skipped }) {
    return done + skipped === total;
  }

  /** Further nodes when everything is done. */
  ending() {
    return [];
  }

  // --- data from the page ------------------------------------------------------------------------

  update(/** @type {TaskData} */ data, /** @type {Tell} */ setTriggerValue) {
    this.tell = setTriggerValue;
    const counts = this.data?.worklist;
    const first = this.data === null;
    this.data = data;
    if (data.case.own.revision < (this.countedAt ?? -1)) Object.assign(data.worklist, counts); // read before our last entry
    this.root.style.setProperty("--rx-pad-height", data.height);
    outbox.configure(data.outbox);
    turning.configure(data.turning, [
      { case: data.case.case, pad: /** @type {any} */ (data.case) },
    ]);
    this.follow.came(data);
    if (turning.isBehind(data.case.case)) this.refresh();
    else this.#show(data.case);
    if (first && outbox.isPast(data.case.own.revision)) outbox.ask();
  }

  #show(/** @type {TaskItem} */ item) {
    const same = this.case?.case === item.case;
    this.#learn(item.case, item.own);
    const text = JSON.stringify({ ...item, own: item.own.shown });
    outbox.asked = item.case;
    outbox.askedPage = this.words.page;
    if (!same || text !== this.shownText) {
      const changed = same && this.case.own.shown !== item.own.shown;
      const kept = same && !changed;
      if (!kept) this.commit();
      this.shownText = text;
      this.case = item;
      this.watch.begin(`${this.words.page}:${item.own.shown}`);
      this.put(kept);
      this.say(changed ? this.words.items.changed : "");
    }
    this.refresh();
  }

  #learn(item, own) {
    const before = this.known.get(item);
    if (!before || own.revision >= before.revision) this.known.set(item, own);
  }

  /** The reader's entries on the shown item, including those on their way to the server. */
  record() {
    const { case: item, own } = this.case;
    const known = this.known.get(item);
    const pending = outbox
      .pendingOf(this.words.page, ...this.words.kinds)
      .filter((one) => one.case === item && one.shown === own.shown);
    const start = known?.shown === own.shown ? known : own;
    return pending.reduce((record, entry) => this.withEntry(record, entry), start);
  }

  /**
   * Make an entry on the shown item; return false while another item is waited for: no entry is
   * made then,
   * and the pad shows a message.
   */
  add(/** @type {Record<string, any>} */ entry) {
    const { case: item, own } = this.case;
    if (turning.waits) {
      this.say(NOT_HERE);
      return false;
    }
    outbox.add({
      page: this.words.page,
      case: item,
      slot: null,
      subject: null,
      picture: null,
      field: null,
      shown: own.shown,
      seen: this.known.get(item)?.revision ?? 0,
      ...entry,
    });
    return true;
  }

  get seconds() {
    return Math.round(this.watch.seconds * 10) / 10;
  }

  // --- moving ------------------------------------------------------------------------------------

  turn(/** @type {1 | -1} */ by) {
    this.commit();
    const { first, last } = this.words.items;
    if (!turning.step(by)) this.say(by > 0 ? last : first);
    this.refresh();
  }

  goOn() {
    this.commit();
    turning.goOn();
  }

  ask(wanted) {
    this.follow.await(wanted);
  }

  // --- from the server ---------------------------------------------------------------------------

  #heard(reply, batch) {
    this.follow.reached();
    for (const entry of batch) {
      const reason = reply.refused[entry.token];
      if (reason && entry.page === this.words.page && entry.kind === "reveal") this.say(reason);
    }
    if (reply.page !== this.words.page) {
      askWhereSeen(batch); // the rest replies to another task
      return;
    }
    for (const [item, own] of Object.entries(reply.own ?? {})) {
      const before = this.known.get(item);
      this.#learn(item, own);
      const opened = before && (before.report !== own.report || before.solved !== own.solved);
      if (item === this.case?.case && (opened || own.shown !== this.case.own.shown))
        this.tell("refresh", Date.now());
    }
    this.countedAt = reply.revision;
    Object.assign(this.data.worklist, reply.progress);
  }

  // --- keys --------------------------------------------------------------------------------------

  #key(/** @type {KeyboardEvent} */ event) {
    if (!isPlain(event) || !this.root.isConnected || dialogIsOpen() || !this.case) return;
    const path = event.composedPath().filter((node) => node instanceof Element);
    const [target] = /** @type {HTMLElement[]} */ (path);
    if (target?.closest(TYPING)) {
      if (event.key === "Escape" && this.root.contains(target)) target.blur();
      return;
    }
    const inPicture = path.some((node) => node.matches(PICTURE));
    if (event.key === "Enter" && target?.closest("button, a, summary, [role='button']")) return;
    if (event.key.startsWith("Arrow") && inPicture) return;
    const act = event.shiftKey && event.key !== "?" ? null : this.#meaning(event);
    if (!act) return;
    event.preventDefault();
    event.stopPropagation();
    if (!event.repeat || event.key.startsWith("Arrow")) act();
  }

  #meaning(event) {
    const own = this.meaning(event);
    if (own) return own;
    const [next, previous] = [() => this.turn(1), () => this.turn(-1)];
    const acts = {
      j: next,
      k: previous,
      n: next,
      p: previous,
      Enter: next,
      g: this.data.report === "never" || !this.case.report ? null : () => this.report(),
    };
    return Object.hasOwn(acts, event.key) ? acts[event.key] : null;
  }

  // --- the report, if the study's rules show it --------------------------------------------------

  report() {
    const { report } = this.case;
    if (report.state === "shown") this.frame.reportNode.hidden = !this.frame.reportNode.hidden;
    else this.frame.asking.hidden = false;
    this.refresh();
  }

  fetchReport() {
    this.frame.asking.hidden = true;
    this.add({ kind: "reveal", subject: "report", value: true, was: false });
    this.reportWanted = true;
  }

  // --- drawing -----------------------------------------------------------------------------------

  /** A short message about the last action. */
  say(words) {
    this.frame.message.textContent = words;
  }

  refresh() {
    if (!this.case) return;
    this.frame.refresh();
    this.draw(this.record());
  }
}

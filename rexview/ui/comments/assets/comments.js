// The panel of comments: a tab at the lower edge of the window, and the panel that it opens.
//
// What others write arrives every few seconds and redraws the list only; the field in which somebody
// types is made once. Drafts and everything that the server has not confirmed lie in localStorage.
// All texts become text nodes, never markup. Words that carry a comment are marked with the browser's
// highlights, which leave the page's elements alone.

import { button, every, html } from "../../components/dom.js";
import { listenToPage } from "../../components/events.js";
import { mounting } from "../../components/mount.js";
import { newToken } from "../../score_cases/pad/assets/token.js";
import { Quotes } from "./quotes.js";
import { shorter, threadNode, threadsOf } from "./threads.js";

/** @import { Tell } from "../../components/events.js" */

const AGAIN_MS = 4000;
const PENDING = "rexview-comment";
const DRAFT = "rexview-comment-draft";

const store = {
  get(key) {
    try {
      return JSON.parse(localStorage.getItem(key));
    } catch {
      return null;
    }
  },
  set(key, value) {
    try {
      if (value === null) localStorage.removeItem(key);
      else localStorage.setItem(key, JSON.stringify(value));
    } catch {
      // no room or not allowed: it stays in the page
    }
  },
  under(prefix) {
    try {
      return Object.keys(localStorage)
        .filter((key) => key.startsWith(prefix))
        .map((key) => store.get(key));
    } catch {
      return [];
    }
  },
};

let panel = null; // the one on the page: one that follows it is open if it was

class Panel {
  constructor(place) {
    this.isOpen = panel?.isOpen ?? false;
    panel?.close();
    panel = this;
    this.pending = new Map();
    /** @type {Tell} */
    this.tell = () => {};
    this.data = { comments: [], targets: [], done: {} };
    this.about = {}; // what is being written: {spot} or {replyTo} or {comment} (an own one, changed)
    this.drawn = "";
    this.abort = new AbortController();
    const { signal } = this.abort;
    const taken = (spot) => {
      this.begin({ spot });
      this.open(true);
    };
    this.quotes = new Quotes({ taken, pressed: (id) => this.openThread(id) }, signal);
    this.build(place);
    listenToPage("comment", ({ key }) => this.asked(key), signal);
    this.timer = setInterval(() => this.sendAgain(), AGAIN_MS);
  }

  build(place) {
    this.tab = button(null, () => this.open(!this.isOpen), {
      class: "rx-c-tab",
      "aria-expanded": "false",
    });
    this.list = html("div", { class: "rx-c-list" });
    this.trouble = html("p", { class: "rx-c-trouble", role: "status" });
    this.where = html("select", {
      "aria-label": "What the comment is on",
      onchange: () => this.chose(),
    });
    this.context = html("p", { class: "rx-c-context" });
    this.name = html("input", {
      type: "text",
      placeholder: "Your name",
      "aria-label": "Your name",
      maxlength: 80,
    });
    this.field = html("textarea", {
      rows: 3,
      maxlength: 20000,
      "aria-label": "Comment",
      placeholder: "Write a comment",
      oninput: () => this.keepDraft(),
      onkeydown: (event) => {
        if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) this.write();
      },
    });
    this.send = button("Comment", () => this.write(), {
      class: "rx-c-strong",
      title: "Ctrl+Enter",
    });
    this.cancel = button("Cancel", () => this.begin({}));
    this.form = html(
      "div",
      { class: "rx-c-form" },
      this.where,
      this.context,
      this.name,
      this.field,
      html("div", { class: "rx-c-row" }, this.send, this.cancel),
    );
    const close = button("✕", () => this.open(false), { "aria-label": "Close the comments" });
    this.box = html(
      "section",
      { class: "rx-c-panel", "aria-label": "Comments", hidden: true },
      html("header", {}, html("h3", {}, "Comments"), close),
      this.list,
      this.trouble,
      this.form,
    );
    // Keys that are typed here are not for the page.
    this.box.addEventListener("keydown", (event) => {
      if (event.key === "Escape") this.open(false);
      event.stopPropagation();
    });
    this.root = html("div", { class: "rx-c" }, this.tab, this.box, this.quotes.offer);
    place.append(this.root);
  }

  close() {
    this.abort.abort();
    clearInterval(this.timer);
    this.root.remove();
    if (panel !== this) return;
    CSS.highlights?.delete("rx-commented");
    panel = null;
  }

  update(data, tell) {
    const another = data.case !== this.data.case || data.owner !== this.data.owner;
    this.data = data;
    this.tell = tell;
    if (another) {
      for (const message of store.under(`${PENDING}:${data.owner}:`)) {
        if (message?.token) this.pending.set(message.token, message);
      }
      this.about = {};
      this.field.value = "";
      const draft = store.get(this.draftKey());
      if (draft) {
        this.about = draft.about ?? {};
        this.field.value = draft.text ?? "";
      }
    }
    for (const [token, reason] of Object.entries(data.done)) this.finished(token, reason);
    this.draw();
  }

  finished(token, reason) {
    const message = this.pending.get(token);
    if (!message) return;
    this.pending.delete(token);
    store.set(`${PENDING}:${this.data.owner}:${token}`, null);
    if (!reason) return;
    this.refused = reason;
    if (message.kind === "write" && !this.field.value.trim()) {
      this.field.value = message.text; // so that nothing typed is lost
      this.keepDraft();
    }
  }

  // ---- what is sent ----

  say(message) {
    this.refused = "";
    const whole = { token: newToken(), case: this.data.case, ...message };
    this.pending.set(whole.token, whole);
    store.set(`${PENDING}:${this.data.owner}:${whole.token}`, whole);
    this.sendAgain();
    this.draw();
  }

  /** Send what is not confirmed. The server knows the answers of the case that is shown only. */
  sendAgain() {
    const messages = [...this.pending.values()].filter(
      (message) => message.case === this.data.case,
    );
    if (messages.length > 0) this.tell("said", { messages });
  }

  waitingWords() {
    const cases = [...this.pending.values()].map((message) => message.case);
    if (cases.length === 0) return "";
    if (cases.includes(this.data.case)) return "Saving…";
    return `A comment on ${cases[0]} is not saved yet: it is sent when that case is open.`;
  }

  write() {
    const text = this.field.value.trim();
    if (!text) return this.field.focus();
    if (!this.data.named && this.name.value.trim()) {
      this.say({ kind: "name", comment: newToken(), text: this.name.value.trim() });
    } else if (!this.data.named && !this.pendingName()) {
      return this.name.focus();
    }
    const { comment, replyTo, spot } = this.about;
    this.say({ kind: "write", comment: comment ?? newToken(), text, replyTo, spot: spot ?? {} });
    this.field.value = "";
    this.begin({});
    return this.list.scrollTo({ top: this.list.scrollHeight });
  }

  pendingName() {
    return [...this.pending.values()].some((message) => message.kind === "name");
  }

  // ---- what is being written ----

  draftKey() {
    return `${DRAFT}:${this.data.owner}:${this.data.case}`;
  }

  keepDraft() {
    const text = this.field.value;
    store.set(this.draftKey(), text ? { text, about: this.about } : null);
  }

  /** Begin to write about something; what was typed stays. */
  begin(about, text) {
    const { spot } = about; // which answer that is: later its letter may be another one's
    if (spot?.key) spot.shown = this.data.targets.find(({ key }) => key === spot.key)?.shown;
    const wasChange = Boolean(this.about.comment);
    this.about = about;
    if (text !== undefined) this.field.value = text;
    else if (wasChange) this.field.value = "";
    this.keepDraft();
    this.drawForm();
  }

  chose() {
    const [key, box] = JSON.parse(this.where.value);
    this.begin(key === null ? {} : { spot: box === null ? { key } : { key, box } });
  }

  // ---- drawing ----

  open(yes) {
    this.isOpen = yes;
    this.quotes.offer.hidden = true;
    this.draw();
    if (yes) this.field.focus({ preventScroll: true });
    else this.tab.focus({ preventScroll: true });
  }

  draw() {
    this.box.hidden = !this.isOpen;
    this.tab.hidden = this.isOpen;
    this.tab.setAttribute("aria-expanded", String(this.isOpen));
    const threads = threadsOf(this.data.comments);
    const open = threads.filter((thread) => !thread[0].resolved).length;
    const count = this.data.comments.length;
    const words = count === 0 ? "Comments" : `${count} ${count === 1 ? "comment" : "comments"}`;
    this.tab.replaceChildren(words, ...(open ? [html("b", {}, `${open} open`)] : []));
    this.tab.toggleAttribute("data-waiting", this.pending.size > 0);
    const told = [this.refused && `Not taken: ${this.refused}`, this.data.trouble]
      .filter(Boolean)
      .join(" ");
    this.trouble.textContent = told || this.waitingWords();
    this.trouble.toggleAttribute("data-bad", Boolean(told));
    const state = JSON.stringify([this.data.comments, this.data.may, [...this.pending.values()]]);
    if (this.isOpen && state !== this.drawn) {
      this.drawn = state;
      this.drawList(threads);
    }
    this.drawForm();
    this.quotes.show(this.data.comments, this.data.may);
  }

  drawList(threads) {
    const active = /** @type {HTMLElement} */ (document.activeElement);
    const focused = this.list.contains(active) ? active.dataset.focus : null;
    const low = this.list.scrollHeight - this.list.scrollTop - this.list.clientHeight < 40;
    const settled = threads.filter((thread) => thread[0].resolved);
    const node = (thread) => threadNode(thread, this.data.may, this);
    const open = threads.filter((thread) => !thread[0].resolved).map(node);
    const wasOpen = this.list.querySelector("details")?.open;
    const folded = settled.length
      ? html(
          "details",
          { open: wasOpen },
          html("summary", {}, `${settled.length} resolved`),
          settled.map(node),
        )
      : null;
    const writes = [...this.pending.values()].filter(
      (one) => one.kind === "write" && one.case === this.data.case,
    );
    const waiting = writes.map((one) =>
      html(
        "article",
        { class: "rx-c-one", "data-waiting": true },
        html("p", {}, one.text),
        html("small", {}, "not saved yet"),
      ),
    );
    const empty =
      threads.length + waiting.length === 0
        ? html(
            "p",
            { class: "rx-c-quiet" },
            this.data.may
              ? "No comments yet. Choose words of an answer to comment on them."
              : "No comments yet.",
          )
        : null;
    this.list.replaceChildren(...[empty, folded, ...open, ...waiting].filter(Boolean));
    if (low) this.list.scrollTop = this.list.scrollHeight;
    if (focused) {
      const [again] = every(`[data-focus="${CSS.escape(focused)}"]`, this.list);
      again?.focus({ preventScroll: true });
    }
  }

  goTo(one) {
    this.quotes.goTo(one);
  }

  resolve(one) {
    this.say({ kind: "resolve", comment: one.id, resolved: !one.resolved });
  }

  reply(one) {
    this.begin({ replyTo: one.id });
    this.field.focus();
  }

  change(one) {
    this.begin({ comment: one.id }, one.text);
    this.field.focus();
  }

  /** Ask once more in the same place: removing is not undone by a second click elsewhere. */
  remove(one, button) {
    if (button.dataset.sure) return this.say({ kind: "remove", comment: one.id });
    button.dataset.sure = "1";
    button.textContent = "Really remove";
    return undefined;
  }

  drawForm() {
    this.form.hidden = !this.data.may;
    this.name.hidden = this.data.named || this.pendingName();
    const { comment, replyTo, spot } = this.about;
    const find = (id) => this.data.comments.find((one) => one.id === id);
    let context = "";
    if (comment) context = "Your comment, changed";
    else if (replyTo)
      context = find(replyTo)
        ? `Reply to ${find(replyTo).who}: ${shorter(find(replyTo).text)}`
        : "Reply";
    else if (spot?.quote) context = `On ${this.nameOf(spot.key)}: “${shorter(spot.quote)}”`;
    this.context.textContent = context;
    this.context.hidden = !context;
    this.where.hidden = Boolean(context);
    this.cancel.hidden = !context;
    this.send.textContent = comment ? "Save" : replyTo ? "Reply" : "Comment";
    const state = JSON.stringify([this.data.case, this.data.targets]);
    if (this.targetsDrawn !== state) {
      this.targetsDrawn = state;
      const option = (value, words) => html("option", { value: JSON.stringify(value) }, words);
      const options = this.data.targets.flatMap(({ key, name, boxes }) => [
        option([key, null], `On ${name}`),
        ...boxes.map((box) =>
          option([key, box.index], `On ${name}, box ${box.index + 1}: ${shorter(box.label, 40)}`),
        ),
      ]);
      this.where.replaceChildren(option([null, null], "On the case"), ...options);
    }
    const wanted = JSON.stringify(spot?.key ? [spot.key, spot.box ?? null] : [null, null]);
    if (!context && this.where.value !== wanted) this.where.value = wanted;
  }

  nameOf(key) {
    return this.data.targets.find((target) => target.key === key)?.name ?? "the answer";
  }

  /** A key elsewhere on the page asks to comment on an answer, or on the case. */
  asked(key) {
    const known = this.data.targets.some((target) => target.key === key);
    if (!this.field.value.trim()) this.begin(known ? { spot: { key } } : {});
    this.open(true);
  }

  /** The words of a comment were pressed: show its thread. */
  openThread(id) {
    this.open(true);
    const [thread] = every(`[data-thread="${CSS.escape(id)}"]`, this.list);
    thread?.scrollIntoView({ block: "nearest" });
  }
}

export const mount = mounting((place) => new Panel(place));

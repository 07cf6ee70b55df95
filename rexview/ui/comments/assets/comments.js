// The panel of comments: a tab in the page's header, and the panel that it opens.
//
// Others' comments arrive every few seconds and redraw only the list; the field for typing is
// created
// once. The outbox keeps drafts and everything that the server has not confirmed. All texts become
// text
// nodes, never markup. Commented words are marked with the browser's highlights, which leave the
// page's
// elements unchanged.

import { turning } from "../../turning/assets/turning.js";
import { button, every, html } from "../../web/components/dom.js";
import { listenToPage } from "../../web/components/events.js";
import { mounting } from "../../web/components/mount.js";
import { tr, trn } from "../../web/components/words.js";
import { outbox } from "../../web/saving/assets/outbox.js";
import { CommentForm } from "./comment_form.js";
import { Quotes } from "./quotes.js";
import { threadNode, threadsOf } from "./threads.js";

/** @import { Tell } from "../../web/components/events.js" */

const AGAIN_MS = 4000;

let panel = null; // the current one: its successor is open if it was

export class Panel {
  constructor(/** @type {HTMLElement} */ place) {
    this.isOpen = panel?.isOpen ?? false;
    panel?.close();
    panel = this;
    this.arrived = []; // saved, and perhaps not yet among the page's comments
    /** @type {Tell} */
    this.tell = () => {};
    this.data = { comments: [], targets: [], outbox: {} };
    this.drawn = "";
    this.abort = new AbortController();
    const { signal } = this.abort;
    const taken = (spot) => {
      if (this.root.inert) return;
      this.form.begin({ spot });
      this.open(true);
    };
    this.quotes = new Quotes({ taken, pressed: (id) => this.openThread(id) }, signal);
    this.#build(place);
    listenToPage("comment", ({ key }) => this.asked(key), signal);
    this.unlisten = outbox.listen({
      changed: () => this.data.case && this.draw(),
      heard: (reply, batch) => this.heard(reply, batch),
      refresh: () => this.tell("refresh", Date.now()),
      busy: () => this.root.contains(document.activeElement) && Boolean(this.form.field.value),
    });
    this.unturn = turning.listen({ show: () => this.#align(), waiting: () => this.#align() });
    this.timer = setInterval(() => this.form.giveName(), AGAIN_MS);
  }

  #build(place) {
    this.tab = button(null, () => this.open(!this.isOpen), {
      class: "rx-c-tab",
      "aria-expanded": "false",
    });
    this.list = html("div", { class: "rx-c-list" });
    this.form = new CommentForm(this);
    this.alert = html("p", { class: "rx-c-alert", role: "status" });
    const close = button("✕", () => this.open(false), { "aria-label": tr("Close the comments") });
    this.box = html(
      "section",
      { class: "rx-c-panel", "aria-label": tr("Comments"), hidden: true },
      html("header", {}, html("h3", {}, tr("Comments")), close),
      this.list,
      this.alert,
      this.form.node,
    );
    // Keys typed here are not for the page.
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
    this.form.leave();
    this.unlisten();
    this.unturn();
    this.root.remove();
    if (panel !== this) return;
    CSS.highlights?.delete("rx-commented");
    panel = null;
  }

  update(data, tell) {
    const first = !this.data.case;
    const another =
      data.case !== this.data.case || data.outbox.unowned !== this.data.outbox.unowned;
    this.data = data;
    this.tell = tell;
    outbox.configure(data.outbox);
    this.arrived = this.arrived.filter(({ revision }) => revision > data.revision);
    this.form.update(another);
    this.draw();
    this.#align();
    if (first && outbox.isPast(data.revision)) tell("refresh", Date.now());
  }

  /** Until the page has followed to the shown case, nothing can be written on it. */
  #align() {
    this.root.inert = !turning.isOf(this.data.case);
  }

  /** Written or resolved comments that are not confirmed. */
  pending() {
    return outbox.pendingHere("comment", "resolve");
  }

  // ---- entries ----

  add(kind, comment, value, more = {}) {
    this.refused = "";
    const about = { case: this.data.case, slot: null, shown: null, seen: this.data.revision };
    outbox.add({ ...about, kind, subject: comment, value, ...more });
  }

  heard(reply, batch) {
    const ours = batch.filter(({ kind }) => kind === "comment" || kind === "resolve");
    if (ours.length === 0) return;
    for (const one of ours) {
      if (reply.saved.includes(one.token)) this.arrived.push({ ...one, revision: reply.revision });
    }
    this.refused = ours.map(({ token }) => reply.reasons[token]).findLast(Boolean) ?? this.refused;
    for (const [key, { kind, case: of, value }] of outbox.returnedHere("comment", "resolve")) {
      if (kind === "comment") {
        if (of !== this.data.case || this.form.field.value.trim()) continue;
        this.form.field.value = value.text; // so that no typed text is lost
        this.form.keepDraft();
      }
      outbox.putAway([key]);
    }
    this.tell("refresh", Date.now());
  }

  waitingNotice() {
    if (this.pending().length === 0) return "";
    if (!this.data.named && outbox.ticket === null) return tr("Enter your name to send it.");
    return outbox.reason
      ? tr("Not saved yet: kept, and sent again later. {reason}", { reason: outbox.reason })
      : tr("Saving…");
  }

  // ---- drawing ----

  open(yes) {
    this.isOpen = yes;
    this.quotes.offer.hidden = true;
    this.draw();
    if (yes) this.form.field.focus({ preventScroll: true });
    else this.tab.focus({ preventScroll: true });
  }

  draw() {
    this.box.hidden = !this.isOpen;
    this.tab.hidden = this.isOpen;
    this.tab.setAttribute("aria-expanded", String(this.isOpen));
    const threads = threadsOf(this.data.comments);
    const open = threads.filter((thread) => !thread[0].resolved).length;
    const count = this.data.comments.length;
    const label = count === 0 ? tr("Comments") : trn("{n} comment", "{n} comments", count);
    this.tab.replaceChildren(
      label,
      ...(open ? [html("b", {}, trn("{n} open", "{n} open", open))] : []),
    );
    const pending = this.pending();
    this.tab.toggleAttribute("data-waiting", pending.length > 0);
    const back = outbox.returnedHere("comment").map(([, one]) => one);
    const problem = [
      this.refused && tr("Not accepted: {reason}", { reason: this.refused }),
      this.data.problem,
    ]
      .filter(Boolean)
      .join(" ");
    this.alert.textContent = problem || this.waitingNotice();
    this.alert.toggleAttribute("data-bad", Boolean(problem));
    const unsaved = [...this.arrived, ...pending, ...back].filter(
      (one) => one.kind === "comment" && one.case === this.data.case && one.value,
    );
    const state = JSON.stringify([this.data.comments, this.data.may, unsaved]);
    if (this.isOpen && state !== this.drawn) {
      this.drawn = state;
      this.drawList(threads, unsaved);
    }
    this.form.draw();
    this.quotes.show(this.data.comments, this.data.may);
  }

  drawList(threads, unsaved) {
    const active = /** @type {HTMLElement} */ (document.activeElement);
    const focused = this.list.contains(active) ? active.dataset.focus : null;
    const low = this.list.scrollHeight - this.list.scrollTop - this.list.clientHeight < 40;
    const resolved = threads.filter((thread) => thread[0].resolved);
    const node = (thread) => threadNode(thread, this.data.may, this);
    const open = threads.filter((thread) => !thread[0].resolved).map(node);
    const wasOpen = this.list.querySelector("details")?.open;
    const folded = resolved.length
      ? html(
          "details",
          { open: wasOpen },
          html("summary", {}, trn("{n} resolved", "{n} resolved", resolved.length)),
          resolved.map(node),
        )
      : null;
    const waiting = unsaved.map((one) => this.unsaved(one));
    const empty =
      threads.length + waiting.length === 0
        ? html(
            "p",
            { class: "rx-c-quiet" },
            this.data.may
              ? tr("No comments yet. Select words in an answer to comment on them.")
              : tr("No comments yet."),
          )
        : null;
    this.list.replaceChildren(...[empty, folded, ...open, ...waiting].filter(Boolean));
    if (low) this.list.scrollTop = this.list.scrollHeight;
    if (focused) {
      const [again] = every(`[data-focus="${CSS.escape(focused)}"]`, this.list);
      again?.focus({ preventScroll: true });
    }
  }

  /** A comment that the server has not accepted yet, or refused. */
  unsaved({ token, value, reason, revision }) {
    const away = () => {
      const every = outbox.returnedHere("comment");
      outbox.putAway(every.filter(([, one]) => one.token === token).map(([key]) => key));
    };
    return html(
      "article",
      { class: "rx-c-one", "data-waiting": true },
      html("p", {}, value.text),
      revision
        ? null
        : html(
            "small",
            {},
            reason ? tr("Not accepted: {reason}", { reason }) : tr("not saved yet"),
          ),
      reason ? button(tr("Dismiss"), away) : null,
    );
  }

  goTo(one) {
    this.quotes.goTo(one);
  }

  resolve(one) {
    this.add("resolve", one.id, !one.resolved, { was: one.resolved });
  }

  reply(one) {
    this.form.begin({ replyTo: one.id });
    this.form.field.focus();
  }

  change(one) {
    this.form.begin({ comment: one.id, before: one.text }, one.text);
    this.form.field.focus();
  }

  /** Ask for confirmation in the same place: a second click there removes it for good. */
  remove(one, button) {
    if (button.dataset.sure) return this.add("comment", one.id, null, { was: one.text });
    button.dataset.sure = "1";
    button.textContent = tr("Confirm removal");
    return undefined;
  }

  /** A key elsewhere on the page starts a comment on an answer, or on the case. */
  asked(key) {
    if (this.root.inert) return;
    const known = this.data.targets.some((target) => target.key === key);
    if (!this.form.field.value.trim()) this.form.begin(known ? { spot: { key } } : {});
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

// The fields for one consensus: a score, and the reason. Entries are sent to the server by the
// outbox;
// typed text is kept in the browser's storage. A consensus never overwrites one that this page has
// not
// shown, of somebody else or of another window: it waits until its writer is informed of the other
// and
// chooses between them.

import { button, html, set } from "../../web/components/dom.js";
import { mounting } from "../../web/components/mount.js";
import { tr } from "../../web/components/words.js";
import { outbox } from "../../web/saving/assets/outbox.js";
import { ScorerLine } from "../../web/saving/assets/scorer.js";
import { NOTHING, noticeNodes, same } from "./notices.js";

const AGAIN_MS = 3000;

export class ConsensusForm {
  constructor(place) {
    this.data = null;
    this.value = NOTHING; // content of the fields
    // The last entry, or the value that filled the fields: how much was known then, and the content
    // of the
    // fields, which is nothing if the value belongs to an earlier answer.
    this.base = null;
    this.aside = null; // the user's own value that was replaced by somebody else's
    this.confirmed = null; // saved by the server from here, until the data contain it
    this.answered = 0; // revision of the server's last reply: older data do not contain it
    this.unheard = false; // another tab sent it and received the reply
    this.waiting = false; // an entry was unconfirmed at the last check
    this.levels = [1, 2, 3, 4, 5].map((level) =>
      button(String(level), () => this.choose(level), { role: "radio" }),
    );
    this.group = html("div", { role: "radiogroup", "aria-label": tr("Consensus") }, ...this.levels);
    this.why = html("textarea", {
      rows: 2,
      maxlength: 4000,
      "aria-label": tr("Why"),
      placeholder: tr("Reasons for the consensus"),
      oninput: () => this.typed(),
      onblur: () => this.save(), // not "change": a restored draft may only be viewed
    });
    this.help = html("p", { class: "rx-quiet", hidden: true });
    this.ask = button("?", () => this.toggleHelp(), {
      "aria-label": tr("What is scored"),
      "aria-expanded": "false",
    });
    this.scorer = new ScorerLine(tr("Deciding as {name}"));
    this.status = html("p", { class: "rx-quiet", role: "status" });
    this.notice = html("div", { class: "rx-consensus-notice", role: "alert" });
    this.root = html(
      "div",
      { class: "rx-consensus" },
      html("span", {}, tr("Consensus")),
      this.group,
      this.ask,
      this.help,
      html("label", {}, tr("Why"), this.why),
      this.status,
      this.scorer.node,
      this.notice,
    );
    // Keys typed here are not for the page.
    this.root.addEventListener("keydown", (event) => event.stopPropagation());
    this.unlisten = outbox.listen({
      changed: () => this.data && this.changed(),
      heard: (reply, batch) => this.data && this.heard(reply, batch),
      refresh: () => this.refresh(),
      busy: () => document.activeElement === this.why,
    });
    this.timer = setInterval(() => this.isBehind && this.refresh(), AGAIN_MS);
    place.append(this.root);
  }

  close() {
    clearInterval(this.timer);
    this.unlisten();
    outbox.leaveTyped(this.name);
    this.root.remove();
  }

  refresh() {
    this.tell("refresh", Date.now());
  }

  update(data, tell) {
    const first = this.data === null;
    this.data = data;
    this.tell = tell;
    this.unheard = false;
    outbox.configure(data.outbox);
    if (first) {
      this.answered = outbox.answered;
      this.fill();
    } else this.follow();
    this.draw();
  }

  /** Fill the fields with the stored value, or with unsaved text. */
  fill() {
    const draft = outbox.drafts.get(outbox.owner, this.name);
    const given = this.pending() ?? this.returned;
    this.rebase();
    this.aside = draft?.aside ?? null;
    this.value = draft?.value ?? given?.value ?? this.data.fields;
    const known = draft?.value ? { ...draft, value: draft.was } : given;
    if (known) this.base = { was: known.value, fields: known.value, seen: known.seen };
    if (draft?.value) outbox.keepTyped(this.name, draft);
    this.why.value = this.value.comment ?? "";
    this.waiting = this.pending() !== null;
  }

  /** Take over the stored value, if nothing of the writer's own would be lost unseen. */
  follow() {
    const { data, returned } = this;
    if (this.pending() || this.isBehind) return;
    this.confirmed = null;
    if (returned && same(returned.value, data.stands)) this.putAway();
    if (this.returned) return;
    const { isChanged } = this;
    if (same(data.stands, this.base.was) || (data.mine && !isChanged)) this.rebase();
    if (data.mine && !isChanged) this.value = data.fields;
  }

  /** The stored value is now known to the writer. */
  rebase() {
    const { stands, fields, revision } = this.data;
    this.base = { was: stands, fields, seen: revision };
  }

  /** The outbox, of this tab or another, has something to show. */
  changed() {
    const waited = this.waiting;
    this.waiting = this.pending() !== null;
    if (waited && !this.waiting) {
      this.unheard = true;
      this.refresh();
    }
    this.follow();
    this.draw();
  }

  /** The server has replied to a batch of entries. */
  heard(reply, batch) {
    const ours = batch.filter((one) => this.isOf(one));
    if (ours.length === 0) return;
    this.answered = reply.revision;
    this.waiting = false;
    this.confirmed = ours.findLast(({ token }) => reply.saved.includes(token))?.value ?? null;
    this.refresh();
  }

  get name() {
    const { case: of, slot, shown, subject, picture } = this.data.about;
    return `consensus/${of}/${slot}/${shown}/${subject}/${picture ?? ""}`;
  }

  isOf(entry) {
    return (
      entry.kind === "adjudicate" &&
      Object.entries(this.data.about).every(([name, value]) => entry[name] === value)
    );
  }

  pending() {
    return outbox.pendingHere("adjudicate").findLast((one) => this.isOf(one)) ?? null;
  }

  /** Refused entries, with the reason. */
  get returned() {
    return outbox.returnedHere("adjudicate").findLast(([, one]) => this.isOf(one))?.[1] ?? null;
  }

  keysOfReturned() {
    const every = outbox.returnedHere("adjudicate").filter(([, one]) => this.isOf(one));
    return every.map(([key]) => key);
  }

  /** Whether the page shows the state before the server's last reply. */
  get isBehind() {
    return this.data !== null && (this.unheard || this.data.revision < this.answered);
  }

  /** Whether the fields contain something that is no entry yet. */
  get isChanged() {
    return !same(this.value, this.base.fields);
  }

  /** Whether there is a stored value that the writer has not seen and not decided about. */
  get overtaken() {
    if (this.returned) return Boolean(this.returned.overtaken);
    if (this.pending() || this.isBehind) return false;
    const { stands } = this.data;
    return !same(stands, this.base.was) && !same(stands, this.value);
  }

  /** The writer's own unsaved value: from the fields, or returned to another window. */
  get own() {
    const { value, data, returned } = this;
    return returned && same(value, data.fields) ? returned.value : value;
  }

  // ---- actions of the writer ----

  choose(level) {
    this.value = { ...this.value, score: this.value.score === level ? null : level };
    this.save();
  }

  typed() {
    this.value = { ...this.value, comment: this.why.value.trim() || null };
    this.keepDraft();
    this.draw();
  }

  toggleHelp() {
    this.help.hidden = !this.help.hidden;
    set(this.ask, { "aria-expanded": String(!this.help.hidden) });
  }

  keepDraft() {
    const { aside, base } = this;
    const value = this.isChanged ? this.value : null;
    const draft = { kind: "adjudicate", value, was: base.was, seen: base.seen, aside };
    if (value) outbox.keepTyped(this.name, draft);
    else outbox.dropTyped(this.name);
    if (!value && aside) outbox.drafts.put(outbox.owner, this.name, draft);
  }

  save() {
    if (this.isChanged && !this.overtaken) {
      this.putAway(); // refused before, and entered again
      const { value, base, data } = this;
      const entry = { ...data.about, kind: "adjudicate", value, was: base.was, seen: base.seen };
      this.base = { was: value, fields: value, seen: base.seen }; // the next entry is based on this
      outbox.add(entry);
    }
    this.keepDraft();
    this.draw();
  }

  /** Forget refused entries: their writer has decided. */
  putAway() {
    const keys = this.keysOfReturned();
    if (keys.length > 0) outbox.putAway(keys);
  }

  keepMine() {
    const { own } = this;
    this.putAway();
    this.rebase();
    this.show(own);
    this.save();
  }

  takeTheirs() {
    const { own, data } = this;
    const given = this.returned || this.isChanged;
    this.putAway();
    if (data.other && given && !same(own, NOTHING) && !same(own, data.stands)) this.aside = own;
    this.rebase();
    this.show(data.fields);
  }

  endAside(value) {
    this.aside = null;
    this.show(value);
    this.save();
  }

  show(value) {
    this.value = value;
    this.why.value = value.comment ?? "";
    this.keepDraft();
    this.draw();
  }

  // ---- drawing ----

  draw() {
    const { data, value } = this;
    this.help.textContent = data.help;
    this.levels.forEach((level, index) => {
      level.setAttribute("aria-checked", String(value.score === index + 1));
    });
    if (document.activeElement !== this.why) this.why.value = value.comment ?? "";
    this.status.textContent = this.statusWords();
    this.scorer.draw(outbox.scorer);
    this.notice.replaceChildren(...noticeNodes(this));
  }

  /** Whether the content of the fields is saved; nothing if the notice reports it. */
  statusWords() {
    const { data, value } = this;
    const pending = this.pending();
    if (pending && same(value, pending.value)) {
      const { message, reason } = outbox.status();
      return `${message} ${reason}`.trim();
    }
    if (this.isBehind && this.confirmed && same(value, this.confirmed)) return tr("Saved");
    if (same(value, data.fields)) return data.saved;
    return this.overtaken || this.returned || this.isBehind ? "" : outbox.typedWords;
  }
}

export const mount = mounting((place) => new ConsensusForm(place));

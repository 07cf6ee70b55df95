// The fields for one consensus: a score, and why. What is given goes to the server by the outbox; what
// is being typed lies in the browser's storage. A consensus is never written over one of somebody else
// that this page had not shown: it waits until its writer, told of the other, keeps it or takes theirs.

import { button, html, set } from "../../components/dom.js";
import { mounting } from "../../components/mount.js";
import { outbox } from "../../saving/assets/outbox.js";

const NOTHING = { score: null, comment: null };
const same = (one, other) => one.score === other.score && one.comment === other.comment;

class ConsensusForm {
  constructor(place) {
    this.data = null;
    this.value = NOTHING; // what the fields hold
    this.base = null; // what stood there when the fields were filled, and how much was known then
    this.aside = null; // one's own that gave way to somebody else's
    this.savedOver = null; // revision of the data on which the newest entry was given
    this.levels = [1, 2, 3, 4, 5].map((level) =>
      button(String(level), () => this.choose(level), { role: "radio" }),
    );
    this.group = html("div", { role: "radiogroup", "aria-label": "Consensus" }, ...this.levels);
    this.why = html("textarea", {
      rows: 2,
      maxlength: 4000,
      "aria-label": "Why",
      placeholder: "What the consensus rests on",
      oninput: () => this.typed(),
      onchange: () => this.save(),
    });
    this.status = html("p", { class: "rx-quiet", role: "status" });
    this.notice = html("div", { class: "rx-consensus-notice", role: "alert" });
    this.root = html(
      "div",
      { class: "rx-consensus" },
      html("span", {}, "Consensus"),
      this.group,
      html("label", {}, "Why", this.why),
      this.status,
      this.notice,
    );
    // Keys that are typed here are not for the page.
    this.root.addEventListener("keydown", (event) => event.stopPropagation());
    this.unlisten = outbox.listen({
      changed: () => this.data && this.draw(),
      heard: (_, batch) => batch.some((one) => this.isOf(one)) && this.refresh(),
      refresh: () => this.refresh(),
      busy: () => document.activeElement === this.why,
    });
    place.append(this.root);
  }

  close() {
    this.unlisten();
    this.root.remove();
  }

  refresh() {
    this.tell("refresh", Date.now());
  }

  update(data, tell) {
    const first = this.data === null;
    this.data = data;
    this.tell = tell;
    outbox.configure(data.outbox);
    if (first) this.fill();
    else if (this.pending() === null && this.returned().length === 0) {
      const typed = !same(this.value, this.base.value);
      if (data.mine || (!typed && same(data.stands, this.base.value))) this.rebase();
      if (data.mine && !typed) this.value = data.fields;
    }
    this.draw();
  }

  /** Fill the fields with what stands, or with what was given or typed and is not saved. */
  fill() {
    const draft = outbox.drafts.get(outbox.owner, this.name);
    const pending = this.pending();
    const unsaved = pending ?? this.returned().at(-1)?.[1] ?? (draft?.value ? draft : null);
    this.rebase();
    this.aside = draft?.aside ?? null;
    this.value = unsaved?.value ?? this.data.fields;
    if (unsaved) this.base = { value: pending ? pending.value : unsaved.was, seen: unsaved.seen };
    this.why.value = this.value.comment ?? "";
  }

  /** What stands now is what the writer knows. */
  rebase() {
    this.base = { value: this.data.stands, seen: this.data.revision };
  }

  get name() {
    const { case: of, slot, shown, subject, picture } = this.data.about;
    return `consensus/${of}/${slot}/${shown}/${subject}/${picture ?? ""}`;
  }

  isOf(entry) {
    return (
      this.data !== null &&
      entry.kind === "adjudicate" &&
      Object.entries(this.data.about).every(([name, value]) => entry[name] === value)
    );
  }

  pending() {
    return outbox.pendingHere("adjudicate").findLast((one) => this.isOf(one)) ?? null;
  }

  returned() {
    return outbox.returnedHere("adjudicate").filter(([, one]) => this.isOf(one));
  }

  /** Whether somebody else's stands that the writer has not decided about. */
  get overtaken() {
    if (this.returned().length > 0) return true;
    const { stands, mine, revision } = this.data;
    // Once an entry is confirmed, the data are older than it until the page has been asked anew.
    if (mine || this.pending() || revision === this.savedOver) return false;
    return !same(stands, this.base.value) && !same(stands, this.value);
  }

  // ---- what the writer does ----

  choose(level) {
    this.value = { ...this.value, score: this.value.score === level ? null : level };
    this.save();
  }

  typed() {
    this.value = { ...this.value, comment: this.why.value.trim() || null };
    this.keepDraft();
  }

  keepDraft() {
    const { value, aside, base } = this;
    const typed = same(value, base.value) ? null : value;
    const draft = { kind: "adjudicate", value: typed, was: base.value, seen: base.seen, aside };
    if (typed || aside) outbox.drafts.put(outbox.owner, this.name, draft);
    else outbox.drafts.dropNamed(outbox.owner, this.name);
  }

  save() {
    if (!same(this.value, this.base.value) && !this.overtaken) {
      const { value, base, data } = this;
      const entry = { ...data.about, kind: "adjudicate", value, was: base.value, seen: base.seen };
      this.base = { value, seen: base.seen }; // what is given next is on top of this
      this.savedOver = data.revision;
      outbox.add(entry);
    }
    this.keepDraft();
    this.draw();
  }

  putAway() {
    outbox.putAway(this.returned().map(([key]) => key));
  }

  keepMine() {
    const wanted = this.value;
    this.putAway();
    this.rebase();
    this.value = wanted;
    this.save();
  }

  takeTheirs() {
    const { value, base, data } = this;
    const given = this.returned().length > 0 || !same(value, base.value);
    this.putAway();
    if (given && !same(value, NOTHING) && !same(value, data.stands)) this.aside = value;
    this.rebase();
    this.show(data.fields);
  }

  bringBack() {
    const mine = this.aside;
    this.aside = null;
    this.show(mine);
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
    set(this.group, { title: data.help });
    this.levels.forEach((level, index) => {
      level.setAttribute("aria-checked", String(value.score === index + 1));
    });
    if (document.activeElement !== this.why) this.why.value = value.comment ?? "";
    const unsaved = this.pending() !== null;
    const { message, reason } = outbox.status();
    const stands = same(value, data.fields); // "Saved" is said of what the fields hold, and of nothing else
    this.status.textContent = unsaved ? `${message} ${reason}`.trim() : stands ? data.saved : "";
    this.notice.replaceChildren(...(this.overtaken ? this.overtakenNotice() : this.asideNotice()));
  }

  overtakenNotice() {
    const { other } = this.data;
    const given = !same(this.value, NOTHING);
    const back = this.returned().at(-1)?.[1];
    if (!other) {
      // refused, not overtaken: its writer can only give it again
      return [
        html("p", {}, `Yours is not saved. ${back?.reason ?? ""}`),
        button("Put away", () => {
          this.putAway();
          this.rebase();
          this.show(this.data.fields);
        }),
      ];
    }
    const kept = back ? "Yours is not saved: it is kept on this computer." : "";
    return [
      html(
        "p",
        {},
        `${other.name} recorded `,
        ...valueNodes(other),
        ` on ${other.at}, after this page was shown. ${kept}`,
      ),
      given ? button("Keep mine", () => this.keepMine()) : "",
      button("Take theirs", () => this.takeTheirs()),
    ];
  }

  asideNotice() {
    if (!this.aside) return [];
    const mine = html("p", {}, "Yours, not saved: ", ...valueNodes(this.aside));
    return [mine, button("Use mine", () => this.bringBack())];
  }
}

function valueNodes({ score, comment }) {
  const first = score === null ? "no score" : html("b", {}, String(score));
  return comment ? [first, `, “${comment}”`] : [first];
}

export const mount = mounting((place) => new ConsensusForm(place));

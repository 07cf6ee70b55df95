// Confirms and rejects failures, adds one that no rule found, and asks why: by button or by key.
//
// What is said goes to the server in numbered messages, again every few seconds until the page says
// that they arrived. The card with the reason, the name and what went wrong lies over the page's
// lower right corner and moves nothing. Reasons that are being typed lie in the browser's storage.

import { button, html, whenPageChanges } from "../components/dom.js";
import { tellPage } from "../components/events.js";
import { mounting } from "../components/mount.js";
import { dialogIsOpen, isPlain, TYPING } from "../components/page_keys.js";
import { FailureItems } from "./failure_items.js";

/** @import { Tell } from "../components/events.js" */

const AGAIN_MS = 3000;
const DRAFT = "rexview-reason";
const VERDICTS = { confirmed: "You confirmed it.", rejected: "You rejected it." };

const sender = Math.random().toString(36).slice(2);
let data = null;
/** @type {Tell} */
let tell = () => {};
let pending = [];
let count = 0;
let card = null;
const items = new FailureItems();

const drafts = {
  key: ({ model, failure }) => `${DRAFT}:${data.set}:${data.case}/${model}/${failure}`,
  get(about) {
    try {
      return localStorage.getItem(drafts.key(about));
    } catch {
      return null;
    }
  },
  set(about, text) {
    try {
      if (text === null) localStorage.removeItem(drafts.key(about));
      else localStorage.setItem(drafts.key(about), text);
    } catch {
      // no storage: it stays in the field
    }
  },
};

// ---- what is sent ----

function send(more = {}) {
  tell("said", { sender, verdicts: pending, ...more });
}

function say({ model, failure, verdict, reason = "" }) {
  count += 1;
  pending.push({ n: count, case: data.case, model, failure, verdict, reason });
  send();
}

// ---- the failures on the page ----

/** What the page says that whoever looks said of a failure. */
function given({ model, failure }) {
  const buttons = items.buttonsOf(`${model}/${failure}`);
  return { verdict: buttons?.dataset.rxMine || "", reason: buttons?.dataset.rxReason ?? "" };
}

function judged(button) {
  const { rxModel: model, rxFailure: failure, rxVerdict } = button.dataset;
  const verdict = button.getAttribute("aria-pressed") === "true" ? "" : rxVerdict;
  items.current = `${model}/${failure}`;
  const parts = Object.entries({ model, failure, verdict: rxVerdict });
  items.focusOn = parts.reduce(
    (found, [name, text]) => `${found}[data-rx-${name}="${CSS.escape(text)}"]`,
    "button",
  );
  say({ model, failure, verdict });
  if (verdict) card.ask({ model, failure, verdict, reason: "" });
  else {
    drafts.set({ model, failure }, null);
    card.close();
  }
}

function why(button) {
  const { rxModel: model, rxFailure: failure } = button.closest(".rx-verdicts").dataset;
  card.ask({ model, failure, ...given({ model, failure }) });
  card.reason.focus();
}

function addable(model) {
  const there = new Set(items.all.map((one) => one.dataset.rxItem));
  return (data.answers[model]?.failures ?? []).filter(
    (failure) => !there.has(`${model}/${failure}`),
  );
}

// ---- the card ----

class Card {
  constructor(place) {
    this.about = null;
    this.title = html("b");
    this.status = html("p", { role: "status" });
    this.choice = html("select", { "aria-label": "Failure", onchange: () => this.explain() });
    this.meaning = html("p", { class: "rx-v-quiet" });
    this.reason = html("textarea", {
      rows: 2,
      "aria-label": "Why (optional)",
      placeholder: "Why? (optional)",
      oninput: () => drafts.set(this.draft(), this.reason.value),
      onblur: () => this.about?.failure && this.save(),
      onkeydown: (event) => event.key === "Enter" && !event.shiftKey && this.done(event),
    });
    this.name = html("input", { placeholder: "Your name", "aria-label": "Your name" });
    this.naming = html(
      "div",
      {},
      this.name,
      html(
        "p",
        { class: "rx-v-quiet" },
        "Stands beside what you write. It is asked for once and kept on this computer.",
      ),
    );
    this.trouble = html("p", { class: "rx-v-trouble", role: "alert" });
    this.again = html(
      "button",
      { type: "button", onclick: () => send({ again: Date.now() }) },
      "Try again",
    );
    this.keep = html("button", { class: "rx-v-strong" }, "Keep");
    const shut = button("✕", () => this.close(), { "aria-label": "Close" });
    this.box = html(
      "form",
      {
        class: "rx-v-card",
        "aria-label": "Your verdict",
        hidden: true,
        onsubmit: (event) => this.done(event),
      },
      html("header", {}, this.title, shut),
      this.status,
      this.choice,
      this.meaning,
      this.reason,
      this.naming,
      this.trouble,
      html("footer", {}, this.again, this.keep),
    );
    this.box.addEventListener("keydown", (event) => {
      if (event.key === "Escape") this.leave();
      event.stopPropagation(); // keys that are typed here are not for the page
    });
    this.chip = button(null, () => this.open(), { class: "rx-v-chip", hidden: true });
    this.root = html("div", { class: "rx-v" }, this.chip, this.box);
    place.append(this.root);
  }

  /** Under which name the reason that is being typed is kept. */
  draft() {
    return this.about.failure ? this.about : { ...this.about, failure: "+" };
  }

  /** Ask why, after a verdict. */
  ask(about) {
    if (this.about?.failure) this.save();
    this.about = about;
    this.adding = false;
    this.reason.value = drafts.get(about) ?? about.reason;
    this.open();
  }

  /** Ask which failure is to be added to an answer. */
  add(model) {
    if (!data.answers[model] || addable(model).length === 0) return;
    if (this.about?.failure) this.save();
    this.about = { model };
    this.adding = true;
    this.reason.value = drafts.get(this.draft()) ?? "";
    const choose = html("option", { value: "" }, "Choose the failure");
    this.choice.replaceChildren(
      choose,
      ...addable(model).map((one) => html("option", { value: one }, data.failures[one][0])),
    );
    this.open();
    this.choice.focus();
  }

  open() {
    this.shown = true;
    this.draw();
    if (!this.about && !this.naming.hidden) this.name.focus();
  }

  close() {
    if (this.about?.failure) this.save();
    this.shown = false;
    this.adding = false;
    this.about = null;
    this.draw();
  }

  /** Leave the card as it was opened: what was typed into it since does not count. */
  leave() {
    if (this.about) drafts.set(this.draft(), null);
    this.about = null;
    this.close();
  }

  explain() {
    this.meaning.textContent = data.failures[this.choice.value]?.[1] ?? "";
  }

  /** Send the reason, if it is another one. */
  save() {
    const { about } = this;
    const text = this.reason.value.trim();
    drafts.set(about, null);
    if (text === about.reason) return;
    about.reason = text;
    say({ ...about, reason: text });
  }

  done(event) {
    event.preventDefault();
    if (this.adding && !this.choice.value) {
      this.choice.focus();
      return;
    }
    if (this.adding) {
      drafts.set(this.draft(), null);
      const about = {
        model: this.about.model,
        failure: this.choice.value,
        verdict: "confirmed",
        reason: this.reason.value.trim(),
      };
      this.adding = false;
      this.about = about;
      items.current = `${about.model}/${about.failure}`;
      say(about);
    }
    const name = this.name.value.trim();
    if (!data.named && name) {
      if (this.about?.failure) this.save();
      this.named = true;
      send({ name });
      return;
    }
    if (!data.named) {
      this.draw();
      this.name.focus();
      return;
    }
    this.close();
  }

  draw() {
    const waiting = pending.length + data.waiting;
    const unkept = !data.named ? waiting > 0 : Boolean(data.trouble) && data.waiting > 0;
    const told = data.nameProblem || data.trouble;
    const words = `${waiting} ${waiting === 1 ? "verdict" : "verdicts"} not saved yet`;
    this.box.hidden = !this.shown;
    this.chip.hidden = this.shown || !(unkept || told);
    this.chip.textContent = unkept ? `${words}${data.named ? "" : ": give your name"}` : told;
    const { model, failure, verdict } = this.about ?? {};
    this.title.textContent = model ? (data.answers[model]?.name ?? "") : words;
    this.status.textContent = failure
      ? `${data.failures[failure][0]}: ${VERDICTS[verdict].toLowerCase()}`
      : this.adding
        ? "Add a failure that you see"
        : "";
    this.status.hidden = !this.status.textContent;
    this.choice.hidden = this.meaning.hidden = !this.adding;
    if (this.adding) this.explain();
    this.reason.hidden = !model;
    this.reason.maxLength = data.longest.reason;
    this.name.maxLength = data.longest.name;
    this.naming.hidden = data.named;
    this.trouble.textContent = told;
    this.again.hidden = !(data.named && data.trouble && data.waiting > 0);
    this.keep.textContent = this.adding ? "Add" : data.named ? "Save reason" : "Keep";
    const done = this.named || !model;
    if (told || data.named) this.named = false;
    if (this.shown && done && data.named && !told) this.close();
  }
}

// ---- listening ----

function clicked(event) {
  const at = (selector) => event.target.closest?.(selector);
  const verdict = at("[data-rx-verdict]");
  if (verdict) return judged(verdict);
  if (at("[data-rx-why]")) return why(at("[data-rx-why]"));
  if (at("[data-rx-add]")) return card.add(at("[data-rx-add]").dataset.rxAdd);
  if (!card.root.contains(event.target)) {
    items.focusOn = null;
    if (card.shown && !card.adding && data.named) card.close();
  }
  return undefined;
}

const KEYS = {
  Escape: () => card.leave(),
  e: () => items.step(1),
  E: () => items.step(-1),
  a: () => items.press('[data-rx-verdict="confirmed"]'),
  d: () => items.press('[data-rx-verdict="rejected"]'),
  W: () => items.press("[data-rx-why]"),
  u: () => items.press(".rx-show"),
  N: () => tellPage("comment", { key: items.of(items.current) && items.model }),
  A: () => card.add(items.model),
};

function pressed(event) {
  if (!isPlain(event) || event.repeat || !Object.hasOwn(KEYS, event.key)) return;
  if (event.key === "Escape" && !card.shown) return;
  const [target] = event.composedPath();
  if (target instanceof Element && target.closest(TYPING)) return;
  if (dialogIsOpen()) return;
  event.preventDefault();
  KEYS[event.key]();
}

function listen() {
  const { root } = card;
  const abort = new AbortController();
  const options = { signal: abort.signal };
  document.addEventListener("click", clicked, options);
  document.addEventListener("focusin", ({ target }) => items.enter(target), options);
  document.addEventListener("keydown", pressed, options);
  const timer = setInterval(() => pending.length > 0 && send(), AGAIN_MS);
  const ignore = whenPageChanges(() => (items.focusOn || items.current) && items.align());
  return () => {
    abort.abort();
    clearInterval(timer);
    ignore();
    root.remove();
  };
}

function update(fresh, setTriggerValue) {
  const another = data?.case !== fresh.case;
  if (another && card.about?.failure) card.save();
  const arrived = fresh.done?.[sender] ?? 0;
  pending = pending.filter((one) => one.n > arrived);
  tell = setTriggerValue;
  data = fresh;
  if (another) {
    items.current = null;
    card.about = null;
    card.close();
  }
  card.draw();
  items.align();
}

export const mount = mounting((place) => {
  card = new Card(place);
  return { update, close: listen() };
});

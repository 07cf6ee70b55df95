// Keeps the text typed into Streamlit's own text fields, which only the page has until it is sent.
// Fields inside `typed_fields` (script_run.py) have a draft in the outbox from the first key on. A
// draft ends when the server has saved the text (`words_taken`), or when its writer discards or
// restores it. A new field that has a draft is filled with it.

import { button, every, html, whenPageChanges } from "../components/dom.js";
import { tr } from "../components/words.js";
import { outbox } from "../saving/assets/outbox.js";

const PLACE = "[class*='st-key-rx_typed_']";
const AT_ONCE = "[class*='st-key-rx_typed_at_once_']"; // leaving the field saves, so nobody else does
const FIELD = "[data-testid='stTextInput'] input, [data-testid='stTextArea'] textarea";
const APP = "[data-testid='stApp']";
const RUNNING = "data-test-script-state";

/** @typedef {HTMLInputElement | HTMLTextAreaElement} Field */

/** @type {WeakMap<Field, string>} what each field held before typing or restoring */
const before = new WeakMap();
/** @type {Map<string, Field>} fields with a draft, by the draft's name */
const drafted = new Map();
/** @type {Set<string>} drafts that the server has reported as saved */
const done = new Set();
/** @type {string | null} the owner of the last typed text; another name is another owner */
let owner = null;
let puttingBack = false;
let begun = false;

/** The key of a container, as `script_run.py` names it. */
function keyOf(/** @type {Element | null} */ place) {
  const known = [...(place?.classList ?? [])].find((one) => one.startsWith("st-key-rx_typed_"));
  return known?.replace(/^st-key-rx_typed_(at_once_)?/, "") ?? null;
}

/** Prefix of the names of all drafts in a container. */
function beginOf(/** @type {string | null} */ key) {
  return `field:${key}:`;
}

/** The fields of a container that have a draft, by the draft's name. */
function draftedIn(/** @type {string | null} */ key) {
  return [...drafted].filter(([name]) => name.startsWith(beginOf(key)));
}

function nameOf(/** @type {Field} */ field) {
  const place = field.closest(PLACE);
  if (!place) return null;
  const label = field.getAttribute("aria-label");
  const same = every(FIELD, place).filter((one) => one.getAttribute("aria-label") === label);
  return `${beginOf(keyOf(place))}${label}:${same.indexOf(field)}`;
}

function isField(/** @type {any} */ node) {
  return node instanceof HTMLElement && node.matches(FIELD) && !node.matches("[type=password]");
}

function typed(/** @type {Event} */ event) {
  const field = /** @type {Field} */ (event.target);
  const name = isField(field) && outbox.owner && nameOf(field);
  if (!name || puttingBack) return;
  if (!before.has(field)) before.set(field, "");
  if (field.value === before.get(field)) drop(name);
  else {
    outbox.keepTyped(name, { kind: "field", text: field.value });
    drafted.set(name, field);
  }
  showNotes();
}

function drop(/** @type {string} */ name) {
  outbox.dropTyped(name);
  drafted.delete(name);
}

function dropPlace(/** @type {string} */ key) {
  for (const [name, field] of draftedIn(key)) {
    before.set(field, field.value);
    drop(name);
  }
  for (const one of [owner, outbox.owner]) {
    const prefix = `${outbox.drafts.prefix}${one}:${beginOf(key)}`;
    const names = outbox.drafts.all(one).map(([kept]) => kept);
    for (const kept of names) if (kept.startsWith(prefix)) outbox.drafts.drop(kept);
  }
}

/** Fill new fields of the page with their drafts, after a run of the page has ended. */
function look() {
  for (const [name, field] of drafted) {
    if (field.isConnected) continue;
    drafted.delete(name);
    outbox.leaveTyped(name);
  }
  if (outbox.owner && document.querySelector(APP)?.getAttribute(RUNNING) === "notRunning") {
    for (const node of every(PLACE).flatMap((place) => every(FIELD, place))) {
      if (isField(node)) putBack(/** @type {Field} */ (node));
    }
  }
  showNotes();
}

function putBack(/** @type {Field} */ field) {
  if (before.has(field)) return;
  before.set(field, field.value);
  const name = nameOf(field);
  const draft = name && outbox.drafts.get(outbox.owner, name);
  if (!draft) return;
  drafted.set(name, field);
  outbox.keepTyped(name, draft);
  if (draft.text !== field.value) write(field, draft.text);
}

/** Write into a field as if the user typed, and leave it, so that the next press sends the text. */
function write(/** @type {Field} */ field, /** @type {string} */ text) {
  const kind = field instanceof HTMLTextAreaElement ? HTMLTextAreaElement : HTMLInputElement;
  puttingBack = true;
  Object.getOwnPropertyDescriptor(kind.prototype, "value")?.set?.call(field, text);
  field.dispatchEvent(new Event("input", { bubbles: true }));
  puttingBack = false;
  if (field.closest(AT_ONCE) || document.activeElement === field) return;
  setTimeout(() => field.dispatchEvent(new FocusEvent("focusout", { bubbles: true })), 0);
}

function discard(/** @type {string} */ key) {
  for (const [name, field] of draftedIn(key)) {
    drop(name);
    write(field, before.get(field) ?? "");
  }
  showNotes();
}

/** Show below each container with a draft that its text is not saved. */
function showNotes() {
  for (const place of every(PLACE)) {
    const key = keyOf(place);
    const note = place.querySelector(":scope > .rx-typed-note");
    if (draftedIn(key).length === 0) note?.remove();
    else if (!note) {
      const away = button(tr("Discard"), () => discard(/** @type {string} */ (key)));
      place.append(
        html("p", { class: "rx-typed-note", role: "status" }, outbox.typedWords, " ", away),
      );
    }
  }
}

function focused(/** @type {FocusEvent} */ { target }) {
  const field = /** @type {Field} */ (target);
  const name = isField(field) ? nameOf(field) : null;
  if (!name || !outbox.owner) return;
  if (!before.has(field)) putBack(field);
  else if (!drafted.has(name)) before.set(field, field.value);
}

/** Keep what is typed in all pages' fields from now on; end the drafts that the server has saved. */
export function keepTypedFields(/** @type {[string, string][]} */ taken) {
  for (const [key, token] of taken) {
    if (!done.has(token)) dropPlace(key);
    done.add(token);
  }
  owner = outbox.owner;
  if (begun) return look();
  begun = true;
  document.addEventListener("focusin", focused, true);
  document.addEventListener("input", typed, true);
  whenPageChanges(look);
  const runs = new MutationObserver(look);
  runs.observe(document.body, { attributes: true, attributeFilter: [RUNNING], subtree: true });
  return look();
}

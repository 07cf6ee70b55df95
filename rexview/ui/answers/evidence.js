// Flags and their evidence: pointing at a flag, or focusing its button, highlights its words and
// boxes.
// Pressing "Show" keeps them highlighted until it is pressed again, another flag is shown, or
// Escape.

import { turning } from "../turning/assets/turning.js";
import { every, scrollWithin, wantsLessMotion, whenPageChanges } from "../web/components/dom.js";
import { tellPage } from "../web/components/events.js";
import { mounting } from "../web/components/mount.js";
import { tr } from "../web/components/words.js";

const opened = new Set(); // folded lists that the reader opened
let caseId = null;
let pinned = null;
let awaited = null; // the case whose worst failure is yet to be marked
let worst = null; // that failure: its words are marked while no other is shown

const flagOf = (event) => event.target.closest?.("[data-rx-flag]")?.dataset.rxFlag ?? null;
const spansOf = (key) => every(`[data-rx-evidence~="${CSS.escape(key)}"]`);

function light(key) {
  for (const one of every("[data-rx-shown]")) delete one.dataset.rxShown;
  const marked = key ?? worst;
  if (marked) for (const one of spansOf(marked)) one.dataset.rxShown = "";
  tellPage("evidence", { flags: key ? [key] : [], pinned });
}

/** Update the page to the pinned and open flags. */
function align() {
  if (awaited) markWorst();
  for (const one of every("[data-rx-flag]")) {
    const on = one.dataset.rxFlag === pinned;
    if (one.hasAttribute("data-rx-pinned") !== on) one.toggleAttribute("data-rx-pinned", on);
    const button = one.querySelector(".rx-show");
    if (button && button.getAttribute("aria-pressed") !== String(on)) {
      button.setAttribute("aria-pressed", String(on));
      button.textContent = on ? tr("Shown") : tr("Show");
    }
  }
  const marked = pinned ?? worst;
  if (marked && !document.querySelector("[data-rx-shown]")) {
    for (const one of spansOf(marked)) one.dataset.rxShown = "";
  }
  for (const name of opened) {
    for (const one of every(`details[data-rx-keep="${CSS.escape(name)}"]:not([open])`)) {
      one.toggleAttribute("open", true);
    }
  }
}

function scrollTo(key) {
  const behavior = wantsLessMotion() ? "auto" : "smooth";
  const seen = new Set();
  for (const span of spansOf(key)) {
    const box = span.closest(".rx-body, .rx-report");
    if (!box || seen.has(box)) continue;
    seen.add(box);
    scrollWithin(box, span, behavior);
  }
}

function pin(key) {
  pinned = key;
  light(key);
  align();
  if (key) scrollTo(key);
}

/** Mark the words of the failure that the headline of the case names, once they are on the page. */
function markWorst() {
  const first = document.querySelector(`[data-rx-first="${CSS.escape(awaited)}"]`);
  if (!(first instanceof HTMLElement)) return;
  awaited = null;
  worst = first.dataset.rxFlag ?? null;
  light(pinned);
  scrollTo(worst);
}

/** Remove all marks. */
function unmark() {
  if (!pinned && !worst) return;
  worst = null;
  pin(null);
}

/** Go to a part further down; the keyboard continues there. */
function goTo(/** @type {HTMLElement} */ part) {
  part?.scrollIntoView({ behavior: wantsLessMotion() ? "auto" : "smooth", block: "start" });
  part?.focus({ preventScroll: true });
}

function clicked(event) {
  if (event.target.closest?.(".rx-verdicts")) return;
  const goal = event.target.closest?.("[data-rx-go]")?.dataset.rxGo;
  if (goal) goTo(document.getElementById(goal));
  const key = flagOf(event);
  const chosen = window.getSelection()?.toString();
  if (key && (event.target.closest(".rx-show") || !chosen)) pin(pinned === key ? null : key);
}

function started(event) {
  const key = flagOf(event);
  if (key) light(key);
}

function ended(event) {
  const key = flagOf(event);
  const next = event.relatedTarget?.closest?.("[data-rx-flag]")?.dataset.rxFlag;
  if (key && next !== key) light(pinned);
}

function toggled(event) {
  const name = event.target.dataset?.rxKeep;
  if (name) opened[event.target.open ? "add" : "delete"](name);
}

function listen() {
  const abort = new AbortController();
  const options = { signal: abort.signal };
  document.addEventListener("click", clicked, options);
  for (const name of ["pointerover", "focusin"]) document.addEventListener(name, started, options);
  for (const name of ["pointerout", "focusout"]) document.addEventListener(name, ended, options);
  document.addEventListener("toggle", toggled, { capture: true, ...options });
  document.addEventListener(
    "keydown",
    (event) => event.key === "Escape" && !event.defaultPrevented && unmark(),
    options,
  );
  const unturn = turning.listen({ show: (record) => shows(record.case) });
  const ignore = whenPageChanges(() => (awaited || worst || pinned || opened.size > 0) && align());
  return () => {
    abort.abort();
    unturn();
    ignore();
  };
}

function shows(name) {
  if (caseId !== name) {
    caseId = name;
    worst = null;
    pin(null);
    awaited = name;
  }
  align();
}

export const mount = mounting(() => ({
  close: listen(),
  update(data) {
    if (!turning.isBehind(data.case)) shows(data.case);
  },
}));

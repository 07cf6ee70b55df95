// Flags and their evidence: pointing at a flag, or focusing its button, lights its words and boxes;
// pressing "Show" keeps them lit until it is pressed again, another flag is shown, or Escape.

import { mounting } from "../components/mount.js";

const opened = new Set(); // folded lists that the reader opened
let caseId = null;
let pinned = null;
let due = false;

const flagOf = (event) => event.target.closest?.("[data-rx-flag]")?.dataset.rxFlag ?? null;
const spansOf = (key) => document.querySelectorAll(`[data-rx-evidence~="${CSS.escape(key)}"]`);

function light(key) {
  for (const one of document.querySelectorAll("[data-rx-shown]")) delete one.dataset.rxShown;
  if (key) for (const one of spansOf(key)) one.dataset.rxShown = "";
  const detail = { flags: key ? [key] : [], pinned };
  window.dispatchEvent(new CustomEvent("rexview:evidence", { detail }));
}

/** Bring what stands on the page in line with what is pinned and open. */
function settle() {
  due = false;
  for (const one of document.querySelectorAll("[data-rx-flag]")) {
    const on = one.dataset.rxFlag === pinned;
    if (one.hasAttribute("data-rx-pinned") !== on) one.toggleAttribute("data-rx-pinned", on);
    const button = one.querySelector(".rx-show");
    if (button && button.getAttribute("aria-pressed") !== String(on)) {
      button.setAttribute("aria-pressed", String(on));
      button.textContent = on ? "Shown" : "Show";
    }
  }
  if (pinned && !document.querySelector("[data-rx-shown]")) {
    for (const one of spansOf(pinned)) one.dataset.rxShown = "";
  }
  for (const one of document.querySelectorAll("details[data-rx-keep]")) {
    if (opened.has(one.dataset.rxKeep) && !one.open) one.open = true;
  }
}

function scrollTo(key) {
  const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
  const seen = new Set();
  for (const span of spansOf(key)) {
    const box = span.closest(".rx-text, .rx-report");
    if (!box || seen.has(box)) continue;
    seen.add(box);
    const by = span.getBoundingClientRect().top - box.getBoundingClientRect().top;
    const top = box.scrollTop + by - box.clientHeight / 3;
    box.scrollTo({ top, behavior: still ? "auto" : "smooth" });
  }
}

function pin(key) {
  pinned = key;
  light(key);
  settle();
  if (key) scrollTo(key);
}

function clicked(event) {
  if (event.target.closest?.(".rx-verdicts")) return;
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
    (event) => event.key === "Escape" && pinned && !event.defaultPrevented && pin(null),
    options,
  );
  const observer = new MutationObserver(() => {
    if (due || !(pinned || opened.size)) return;
    due = true;
    requestAnimationFrame(settle);
  });
  observer.observe(document.body, { childList: true, subtree: true });
  return () => {
    abort.abort();
    observer.disconnect();
  };
}

export const mount = mounting(() => ({
  close: listen(),
  update(data) {
    if (caseId !== data.case) {
      caseId = data.case;
      pin(null);
    }
    settle();
  },
}));

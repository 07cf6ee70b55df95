// Confirms, rejects and adds failures, and asks for the reason: by button or by key.

import { turning } from "../turning/assets/turning.js";
import { whenPageChanges } from "../web/components/dom.js";
import { tellPage } from "../web/components/events.js";
import { dialogIsOpen, isPlain, TYPING } from "../web/components/key_guards.js";
import { mounting } from "../web/components/mount.js";
import { outbox } from "../web/saving/assets/outbox.js";
import { verdicts } from "./given_verdicts.js";
import { VerdictCard } from "./verdict_card.js";

/** @import { Tell } from "../web/components/events.js" */
/** @import { CaseRecord } from "../turning/assets/types.d.ts" */

const AGAIN_MS = 3000;
const { items } = verdicts;
/** @type {VerdictCard} */
let card = null;

/** A verdict was pressed; the same one again withdraws it. */
function judge(button) {
  const { rxModel: model, rxFailure: failure, rxVerdict } = button.dataset;
  const verdict = button.getAttribute("aria-pressed") === "true" ? "" : rxVerdict;
  items.goOn({ model, failure, verdict: rxVerdict });
  const reason = verdict ? verdicts.reasonKept({ model, failure }) : "";
  verdicts.add({ model, failure, verdict, reason, anew: true });
  if (verdict) card.ask({ model, failure, verdict, reason });
  else {
    verdicts.keepDraft({ model, failure }, null);
    card.close();
  }
}

function askWhy(button) {
  const { rxModel: model, rxFailure: failure } = button.closest(".rx-verdicts").dataset;
  const { verdict, comment } = verdicts.current({ model, failure });
  card.ask({ model, failure, verdict, reason: comment ?? "" });
  card.reason.focus();
}

function clicked(event) {
  if (!turning.isOf(verdicts.data?.case)) return undefined; // its case is not on the screen
  const at = (selector) => event.target.closest?.(selector);
  const verdict = at("[data-rx-verdict]");
  if (verdict) return judge(verdict);
  const taken = at("[data-rx-take-back]");
  if (taken) return judge(taken.parentElement.querySelector("[data-rx-verdict]"));
  if (at("[data-rx-why]")) return askWhy(at("[data-rx-why]"));
  if (at("[data-rx-add]")) return card.add(at("[data-rx-add]").dataset.rxAdd);
  if (!card.root.contains(event.target)) {
    items.focusOn = null;
    if (card.shown && !card.adding && verdicts.isNamed) card.close();
  }
  return undefined;
}

/** Whether Enter has no meaning for the focus, or the focus belongs to the card's subject. */
function leavesEnter(/** @type {EventTarget} */ target) {
  if (!(target instanceof Element)) return false;
  const { model, failure } = card.about ?? {};
  const item = /** @type {HTMLElement} */ (target.closest("[data-rx-item]"))?.dataset.rxItem;
  if (target.closest("[data-rx-verdict], summary")) return item === `${model}/${failure}`;
  return !target.closest("button, a, input, select, [role=button]");
}

const KEYS = {
  Escape: () => card.leave(),
  Enter: () => card.box.requestSubmit(),
  e: () => items.step(1),
  E: () => items.step(-1),
  a: () => items.press('[data-rx-verdict="confirmed"]'),
  d: () => items.press('[data-rx-verdict="rejected"], [data-rx-take-back]'),
  W: () => items.press("[data-rx-why]"),
  u: () => items.press(".rx-show"),
  N: () => tellPage("comment", { key: items.of(items.current) && items.model }),
  A: () => card.add(items.model),
};

function pressed(event) {
  if (!isPlain(event) || event.repeat || !Object.hasOwn(KEYS, event.key)) return;
  if (event.key === "Escape" && !card.shown) return;
  const [target] = event.composedPath();
  if (event.key === "Enter" && !(card.proposes && leavesEnter(target))) return;
  if (target instanceof Element && target.closest(TYPING)) return;
  if (dialogIsOpen() || !turning.isOf(verdicts.data?.case)) return;
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
  const timer = setInterval(() => verdicts.tellAgain(), AGAIN_MS);
  const unlisten = outbox.listen({
    changed: () => {
      if (verdicts.data === null) return;
      card.draw();
      verdicts.tellUnsaved();
    },
    heard: (reply, batch) => verdicts.heard(reply, batch),
    refresh: () => verdicts.refresh(),
    busy: () => root.contains(document.activeElement) && card.shown,
  });
  const unturn = turning.listen({ show: turned });
  const ignore = whenPageChanges(() => (items.focusOn || items.current) && items.align());
  return () => {
    abort.abort();
    clearInterval(timer);
    unlisten();
    unturn();
    ignore();
    root.remove();
  };
}

/** The page's last message. */
let ofPage = null;

/** The reader has turned to a case ahead of the page: verdicts now are about that case. */
function turned(/** @type {CaseRecord} */ { case: name, judged }) {
  // the page has sent its own case: it does not send the same again
  const known = judged ?? (ofPage?.case === name ? ofPage : null);
  if (verdicts.data && known) take({ ...verdicts.data, ...known }, verdicts.tell);
}

function update(fresh, /** @type {Tell} */ tell) {
  ofPage = fresh;
  if (!turning.isBehind(fresh.case)) take(fresh, tell);
}

function take(fresh, /** @type {Tell} */ tell) {
  const another = verdicts.data?.case !== fresh.case;
  if (another && card.about?.failure) card.save();
  verdicts.update(fresh, tell);
  if (another) {
    items.current = null;
    card.about = null;
    card.close();
  }
  card.draw();
  items.align();
  verdicts.tellUnsaved();
}

export const mount = mounting((place) => {
  card = new VerdictCard(place);
  verdicts.begin();
  return { update, close: listen() };
});

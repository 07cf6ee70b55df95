// The keys of the desk: those of every pad (next, previous, report) are in task_pad.js.

import { html } from "../../components/dom.js";

/** @import { Desk } from "./desk.js" */

export const HINT =
  "↑ ↓ question · y choose · x reject · e edit · 1–5 score · ← → criterion · t tags · w write one · u undo · n next study · ? all keys";
const KEYS = [
  ["↑ ↓, j k", "question before, after"],
  ["1 – 5", "score the criterion in focus, and on to the next"],
  ["← →", "criterion before, after"],
  ["0, Delete", "take the score back"],
  ["s", "show the model's scores without scoring"],
  ["d", "risk: it should not be asked as it is"],
  ["y", "choose, or open again"],
  ["x", "reject, or open again"],
  ["e", "edit the question"],
  ["t", "edit the tags"],
  ["w", "write a question of your own"],
  ["u", "undo"],
  ["h", "history"],
  ["g", "report"],
  ["n, Enter; p", "next study, previous study"],
  ["Shift + key", "what the key means in the picture"],
];

export function keyList() {
  return html(
    "dl",
    { class: "keys-listed", hidden: true },
    ...KEYS.flatMap(([key, meaning]) => [
      html("dt", {}, html("kbd", {}, key)),
      html("dd", {}, meaning),
    ]),
  );
}

/** What a key does now, or null. */
export function meaningOf(/** @type {Desk} */ desk, /** @type {KeyboardEvent} */ { key }) {
  if (/^[1-5]$/.test(key)) return () => desk.scoring.score(desk.scoring.criterion, Number(key));
  const none = () => desk.scoring.score(desk.scoring.criterion, null);
  const acts = {
    ArrowDown: () => desk.move(1),
    j: () => desk.move(1),
    ArrowUp: () => desk.move(-1),
    k: () => desk.move(-1),
    ArrowRight: () => desk.scoring.beside(1),
    ArrowLeft: () => desk.scoring.beside(-1),
    0: none,
    Delete: none,
    Backspace: none,
    y: () => desk.decide("chosen"),
    x: () => desk.decide("rejected"),
    e: () => desk.edit(),
    t: () => desk.editTags(),
    w: () => desk.form.write(),
    d: () => desk.scoring.toggleRisk(),
    s: () => desk.scoring.skip(),
    u: () => desk.undo(),
    h: () => desk.toggleHistory(),
    "?": () => {
      desk.keys.hidden = !desk.keys.hidden;
    },
  };
  return Object.hasOwn(acts, key) ? acts[key] : null;
}

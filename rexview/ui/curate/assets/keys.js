// The keys of the desk: those of every pad (next, previous, report) are in task_pad.js.

import { html } from "../../web/components/dom.js";
import { tr } from "../../web/components/words.js";

/** @import { Desk } from "./desk.js" */

export const HINT = tr(
  "↑ ↓ question · y choose · x reject · e edit · 1–5 score · ← → criterion · t tags · w write one · u undo · j next study · ? all keys",
);
const KEYS = [
  ["↑ ↓", tr("question before, after")],
  ["1 – 5", tr("score the criterion in focus, and on to the next")],
  ["← →", tr("criterion before, after")],
  [tr("0, Delete"), tr("take the score back")],
  ["s", tr("show the model's scores without scoring")],
  ["d", tr("risk: it should not be asked as it is")],
  ["y", tr("choose, or open again")],
  ["x", tr("reject, or open again")],
  ["e", tr("edit the question")],
  ["t", tr("edit the tags")],
  ["w", tr("write a question of your own")],
  ["u", tr("undo")],
  ["h", tr("history")],
  ["g", tr("report")],
  [tr("j, n, Enter; k, p"), tr("next study, previous study")],
  [tr("Shift + key"), tr("what the key means in the picture")],
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

/** The current action of a key, or null. */
export function meaningOf(/** @type {Desk} */ desk, /** @type {KeyboardEvent} */ { key }) {
  if (/^[1-5]$/.test(key)) return () => desk.scoring.score(desk.scoring.criterion, Number(key));
  const none = () => desk.scoring.score(desk.scoring.criterion, null);
  const acts = {
    ArrowDown: () => desk.move(1),
    ArrowUp: () => desk.move(-1),
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

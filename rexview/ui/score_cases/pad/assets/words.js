// What a reader has said about one case, and what an entry makes of it. Nothing here touches the
// page.
//
// "own" is {scores: {"A/process/": {score, comment}}, flags: {"A/omission": true}, earlierFlags:
// ["A/terse"], shown: {"A": name}, skip: reason or null, revealed: bool, report: bool, seen: {report:
// when, unblinded: when}, revision: number}; a score that was given to an earlier text of the answer is
// none, and stands there as "earlier"; when is null or {at: ISO time, timing: "before" | "during" |
// "after" (scoring), accepted: bool}. An entry is {token, order, case, kind, slot, shown, subject,
// picture, field, value, was, seen}: "shown" names the answer that the reader saw, "seen" the revision
// that this page knew.

/** Whether answers and what was said of them belong together: the same answers under the letters. */
export function fits(own, padCase) {
  const { shown } = own;
  return (
    padCase.answers.every((answer) => shown[answer.slot] === answer.shown) &&
    Object.keys(shown).length === padCase.answers.length
  );
}

export function scoreKey(slot, { dimension, picture }) {
  return `${slot}/${dimension}/${picture ?? ""}`;
}

export function flagKey(slot, failure) {
  return `${slot}/${failure}`;
}

/** The letter of a failure: the same for every answer, whichever failures it can have. */
export function failureLetter(failures, failure) {
  return String.fromCharCode("a".charCodeAt(0) + Object.keys(failures).indexOf(failure));
}

function keyOf(entry) {
  if (entry.kind === "score") {
    return scoreKey(entry.slot, { dimension: entry.subject, picture: entry.picture });
  }
  return flagKey(entry.slot, entry.subject);
}

/** What is said where an entry speaks: before the entry, if it is not applied yet. */
export function valueAt(own, entry) {
  if (entry.kind === "score") {
    const empty = entry.field === "comment" ? "" : null;
    return own.scores[keyOf(entry)]?.[entry.field] ?? empty;
  }
  if (entry.kind === "verdict") return own.flags[keyOf(entry)] === true;
  if (entry.kind === "skip") return own.skip;
  return false;
}

/** What a case looks like after some entries, in their order. */
export function withEntries(own, entries) {
  const now = { ...own, scores: { ...own.scores }, flags: { ...own.flags } };
  for (const entry of entries) {
    if (entry.kind === "score") {
      const before = now.scores[keyOf(entry)] ?? { score: null, comment: "" };
      now.scores[keyOf(entry)] = { ...before, [entry.field]: entry.value };
    } else if (entry.kind === "verdict") now.flags[keyOf(entry)] = entry.value;
    else if (entry.kind === "skip") now.skip = entry.value;
    else if (entry.kind === "reveal" && entry.subject === "unblinded") {
      now.seen = { ...now.seen, unblinded: { ...now.seen?.unblinded, accepted: true } };
    }
  }
  return now;
}

/** What is missing before a case counts: [{slot, items}], items null where the answer has no score. */
export function missing(padCase, own) {
  const found = [];
  for (const { slot, needed, items } of padCase.answers) {
    if (!needed) continue;
    const open = items.filter((item) => !own.scores[scoreKey(slot, item)]?.score);
    if (open.length > 0) found.push({ slot, items: open.length === items.length ? null : open });
  }
  return found;
}

/** How many scores a case needs and how many are given. */
export function counted(padCase, own) {
  let needed = 0;
  let given = 0;
  for (const answer of padCase.answers) {
    if (!answer.needed) continue;
    for (const item of answer.items) {
      needed += 1;
      if (own.scores[scoreKey(answer.slot, item)]?.score) given += 1;
    }
  }
  return { needed, given };
}

/** How far a reader is with a case: "open", "begun", "done" or "skipped". */
export function stateOf(padCase, own) {
  const { needed, given } = counted(padCase, own);
  if (needed > 0 && needed === given) return "done";
  if (own.skip !== null) return "skipped";
  return given > 0 ? "begun" : "open";
}

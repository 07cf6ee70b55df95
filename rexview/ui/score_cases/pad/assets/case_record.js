// A reader's entries on one case (CaseRecord in types.d.ts), and the effect of a further entry on
// them.
// Nothing here touches the page.
//
// A record is made by reader_study.py (given_json). A score of an earlier text of the answer does
// not
// count: it is in the record as "earlier" only. An entry is {token, order, case, kind, slot, shown,
// subject, picture, field, value, was, seen}: "shown" identifies the answer that the reader saw,
// "seen" is
// the revision that this page knew.

/** Whether a record is of the shown answers: the same ones under the same letters. */
export function fits(record, padCase) {
  const { shown } = record;
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

/** The key of a failure: the same for every answer, whichever failures it can have. */
export function failureLetter(failures, failure) {
  return String.fromCharCode("a".charCodeAt(0) + Object.keys(failures).indexOf(failure));
}

function keyOf(entry) {
  if (entry.kind === "score") {
    return scoreKey(entry.slot, { dimension: entry.subject, picture: entry.picture });
  }
  return flagKey(entry.slot, entry.subject);
}

/** The value in a record that an entry changes; the previous one while it is not applied. */
export function valueAt(record, entry) {
  if (entry.kind === "score") {
    const empty = entry.field === "comment" ? "" : null;
    return record.scores[keyOf(entry)]?.[entry.field] ?? empty;
  }
  if (entry.kind === "verdict") return record.flags[keyOf(entry)] === true;
  if (entry.kind === "skip") return record.skip;
  return false;
}

/** A case's record after some entries, in their order. */
export function withEntries(record, entries) {
  const now = { ...record, scores: { ...record.scores }, flags: { ...record.flags } };
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

/** The missing parts of a case: [{slot, items}], items null if the answer has no score. */
export function missing(padCase, record) {
  const found = [];
  for (const { slot, needed, items } of padCase.answers) {
    if (!needed) continue;
    const open = items.filter((item) => !record.scores[scoreKey(slot, item)]?.score);
    if (open.length > 0) found.push({ slot, items: open.length === items.length ? null : open });
  }
  return found;
}

/** The number of scores that a case needs, and of those given. */
export function counted(padCase, record) {
  let needed = 0;
  let given = 0;
  for (const answer of padCase.answers) {
    if (!answer.needed) continue;
    for (const item of answer.items) {
      needed += 1;
      if (record.scores[scoreKey(answer.slot, item)]?.score) given += 1;
    }
  }
  return { needed, given };
}

/** A reader's state of a case: "open", "begun", "done" or "skipped". */
export function stateOf(padCase, record) {
  const { needed, given } = counted(padCase, record);
  if (needed > 0 && needed === given) return "done";
  if (record.skip !== null) return "skipped";
  return given > 0 ? "begun" : "open";
}

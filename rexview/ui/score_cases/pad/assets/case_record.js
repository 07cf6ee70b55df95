// What a reader has entered on one case (CaseRecord in types.d.ts), and what a further entry changes of
// it. Nothing here touches the page.
//
// A record comes from reader_study.py (given_json). A score of an earlier text of the answer does not
// count: it is in the record as "earlier" only. An entry is {token, order, case, kind, slot, shown,
// subject, picture, field, value, was, seen}: "shown" names the answer that the reader saw, "seen" the
// revision that this page knew.

/** Whether a record is of the answers shown: the same ones under the same letters. */
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

/** The value in a record that an entry is about; the one before it while it is not applied. */
export function valueAt(record, entry) {
  if (entry.kind === "score") {
    const empty = entry.field === "comment" ? "" : null;
    return record.scores[keyOf(entry)]?.[entry.field] ?? empty;
  }
  if (entry.kind === "verdict") return record.flags[keyOf(entry)] === true;
  if (entry.kind === "skip") return record.skip;
  return false;
}

/** What a case looks like after some entries, in their order. */
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

/** What is missing before a case counts: [{slot, items}], items null where the answer has no score. */
export function missing(padCase, record) {
  const found = [];
  for (const { slot, needed, items } of padCase.answers) {
    if (!needed) continue;
    const open = items.filter((item) => !record.scores[scoreKey(slot, item)]?.score);
    if (open.length > 0) found.push({ slot, items: open.length === items.length ? null : open });
  }
  return found;
}

/** How many scores a case needs and how many are given. */
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

/** How far a reader is with a case: "open", "begun", "done" or "skipped". */
export function stateOf(padCase, record) {
  const { needed, given } = counted(padCase, record);
  if (needed > 0 && needed === given) return "done";
  if (record.skip !== null) return "skipped";
  return given > 0 ? "begun" : "open";
}

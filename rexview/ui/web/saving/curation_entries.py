"""Entries for what a person does to candidate questions on the Curate page.

There are five kinds: a proposed own question, the decision on a candidate, scores on the criteria,
tags, and an expert's comment on a multiple choice candidate. Each entry has the whole new value.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

import polars as pl

from rexview.curation.candidates import summarize_candidates
from rexview.curation.comparison_questions import explain_block
from rexview.people import Person
from rexview.schema import ReviewSet
from rexview.store import Entry, StoredEntry
from rexview.store.current_state import CurrentState
from rexview.ui.web.saving.entries import EntryRefused, SentEntry, fields_of_kind
from rexview.ui.web.server import review_sets
from rexview.vocab import CRITERIA
from rexview.words import tr

CURATION_KINDS: Final = ("propose", "select", "rate", "tag", "validate")
_OWN_CANDIDATE: Final = re.compile(r"o-[0-9a-f]{12}")


def curation_entry(
    review_set: ReviewSet, state: CurrentState, row: StoredEntry | None, sent: SentEntry
) -> Entry:
    """Make the entry of one action on a candidate.

    ``review_set`` is the set without written entries, ``state`` the written entries, and ``row``
    the newest row on the same subject.

    Raises
    ------
    EntryRefused
        There is no such study or candidate, or the page cannot send this value.
    Overtaken
        The writer has not seen the stored value.
    """
    candidate = sent.subject or ""
    if review_set.case(sent.case) is None:
        raise EntryRefused(tr("This study no longer exists."))
    if sent.kind == "propose":
        if not _OWN_CANDIDATE.fullmatch(candidate):
            raise EntryRefused(tr("This is not one of your own questions."))
    elif not has_candidate(review_set, state, sent.case, candidate):
        raise EntryRefused(tr("This question no longer exists."))
    value = fields_of_kind(sent.kind, sent.value)
    if sent.kind == "select" and value and value["decision"] == "chosen":
        _check_not_blocked(review_set, sent.case, candidate, value["question"])
    stands = page_value(row)
    was = fields_of_kind(sent.kind, sent.was)
    replace(sent, was=was, value=value).check_unseen(row, stands, stands or {})
    return Entry(
        sent.kind, sent.case, None, candidate, value=value, token=sent.token, via=sent.page
    )


def _check_not_blocked(review_set: ReviewSet, case_id: str, candidate: str, edited: Any) -> None:
    """Refuse a question that needs an earlier image, if the study has none."""
    written = review_sets.with_current_reviews(review_set)
    case = written.case(case_id)
    some = summarize_candidates(written, case_id).get(case_id, ())
    one = next((one for one in some if one.id == candidate), None)
    if case is None or one is None:
        raise EntryRefused(tr("This question no longer exists."))
    question = edited if isinstance(edited, str) else one.proposed
    if reason := explain_block(written, case, question, one.tags):
        raise EntryRefused(tr("It cannot be chosen. {reason}").format(reason=reason))


def has_candidate(review_set: ReviewSet, state: CurrentState, case: str, candidate: str) -> bool:
    """Return whether a candidate came with the set or was proposed, and was not withdrawn."""
    proposed = state.of("propose", "").get((case, None, candidate, None))
    if proposed is not None:
        return proposed.value is not None
    given = (pl.col("case") == case) & (pl.col("candidate") == candidate)
    return not review_set.candidates.filter(given).is_empty()


def page_value(row: StoredEntry | None) -> dict[str, Any] | None:
    """Return a row's value in the page's form: tags by their names."""
    if row is None or row.value is None:
        return None
    found = dict(row.value)
    if row.kind == "tag":
        found["tags"] = {one["name"]: one["values"] for one in found.get("tags") or ()}
    return fields_of_kind(row.kind, found)


def candidates_json(state: CurrentState, person: Person, case: str) -> dict[str, Any]:
    """Return the history's values for the candidates of a study, for one person's browser.

    Decisions and proposals are everybody's; scores and tags are the person's own. Null marks what
    was withdrawn. ``solved`` names the candidates whose other scores the person may see: those that
    they have scored themselves, or chose to see without scoring.
    """
    rows: dict[str, dict[str, Any]] = {}
    for kind in CURATION_KINDS:
        for (of, _, candidate, _), row in state.of(kind, person.id).items():
            if of == case:
                told = rows.setdefault(candidate or "", {})
                told[kind] = page_value(row)
                if kind == "propose":
                    told["by"] = row.person_name
    return {
        "shown": case,
        "revision": state.revision,
        "report": True,
        "unblinded": False,
        "solved": " ".join(sorted(one for one in rows if is_scored(rows[one].get("rate")))),
        "rows": rows,
    }


def is_scored(rate: Mapping[str, Any] | None) -> bool:
    """Return whether a person has scored all criteria, or chose to see a model's scores instead."""
    if rate is None:
        return False
    if rate.get("after_model"):
        return True
    given = [name for name in CRITERIA if rate.get(name) is not None]
    return len(given) == len(CRITERIA) or all(one is None for one in rate.values())

"""What the browser gets of an agenda: each case's place, and what is to be known of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, Final
from urllib.parse import parse_qs

from rexview.analysis import CaseFilter
from rexview.analysis.filter.wording import describe
from rexview.analysis.meetings import (
    Agenda,
    Decision,
    Meeting,
    PlannedCase,
    agenda_of,
    decisions,
    meeting,
    meetings,
    presenter_notes,
)
from rexview.errors import RexviewError
from rexview.people import Person
from rexview.schema import ReviewSet
from rexview.store import Reviews
from rexview.ui.access.image_links import thumbnail_url
from rexview.ui.link import keys as link_keys
from rexview.ui.link.in_app import href
from rexview.ui.link.pages import PAGE_BROWSE, PAGE_CASE
from rexview.ui.meeting.chosen import may_lead
from rexview.ui.meeting.headlines import headlines
from rexview.ui.meeting.writing import item_json
from rexview.ui.saving.entries import MEETING_PAGE
from rexview.ui.saving.outbox import outbox_json
from rexview.ui.server import review_sets
from rexview.vocab import duration
from rexview.words import tr

_NAMED: Final = 4
"""So many cases or meetings are named in one line."""


def agenda_json(review_set: ReviewSet, meeting_id: str, person: Person | None) -> dict[str, Any]:
    """Return what :file:`agenda.js` shows of a meeting; notes are the person's own.

    Raises
    ------
    StoreUnreachable, StoreBusy
    """
    reviews = review_sets.reviews(review_set)
    revision = reviews.revision()
    written = review_sets.newest(review_set)
    planned, decided = _agenda(written, reviews, revision, meeting_id)
    of = planned.meeting if planned else None
    rows = planned.cases if planned else ()
    may = person is not None and may_lead()
    notes = presenter_notes(reviews, meeting_id, person.id) if person and may else {}
    failed = headlines(review_set, [row.case.id for row in rows]) if may else {}
    return {
        "outbox": outbox_json(review_set, MEETING_PAGE, person),
        "meeting": meeting_id,
        "revision": revision,
        "minutes": of.minutes if of else None,
        "mayEdit": may and of is not None and not of.closed,
        "mayNote": may,
        "items": {row.case.id: item_json(row.item) for row in rows},
        "notes": {case: {"text": text} for case, text in notes.items()},
        "cases": {
            row.case.id: {
                **_case_json(review_set, row, decided.get(row.case.id, ())),
                "headline": failed.get(row.case.id),
            }
            for row in rows
        },
    }


@lru_cache(maxsize=8)
def _agenda(
    written: ReviewSet, reviews: Reviews, revision: int, meeting_id: str
) -> tuple[Agenda | None, Mapping[str, Sequence[Decision]]]:
    """Look at an agenda, and what was decided of its cases, anew only when anything was written."""
    found: Meeting | None = meeting(reviews, meeting_id)
    if found is None:
        return None, {}
    decided: dict[str, list[Decision]] = {}
    for one in decisions(written):
        if one.meeting == meeting_id:
            decided.setdefault(one.case, []).append(one)
    return agenda_of(written, found, meetings(reviews)), decided


def _case_json(
    review_set: ReviewSet, row: PlannedCase, decided: Sequence[Decision]
) -> dict[str, Any]:
    case, image = row.case, row.case.key_image
    try:
        picture = thumbnail_url(review_set, image.path) if image else None
    except RexviewError:
        picture = None
    return {
        "asked": case.question,
        "picture": picture,
        "href": href(PAGE_CASE, link_keys.link_query(case=case.id)),
        "known": [
            *({"words": _decided(review_set, one), "warns": False} for one in decided),
            *({"words": words, "warns": warns} for words, warns in _known(row)),
        ],
        "found": _found(review_set, row.item.found_by),
    }


def _decided(review_set: ReviewSet, one: Decision) -> str:
    """Say a decision in a line: ``Decided: Retrain · Laterality error · harm 3 · Model A``."""
    parts = [
        one.decision_words,
        one.failure_words,
        "" if one.severity is None else tr("harm {n}").format(n=one.severity),
        review_set.model_names.get(one.model, one.model) if one.model else "",
        tr("done") if one.done else "",
    ]
    return tr("Decided: {words}").format(words=" · ".join(filter(None, parts)) or tr("see Case"))


def _known(row: PlannedCase) -> list[tuple[str, bool]]:
    """Return what is to be known of a case, and whether it speaks against showing it."""
    lines = [
        (tr("Same study as {others}"), row.same_study, True),
        (tr("Same patient as {others}"), row.same_patient, False),
        (tr("Discussed before in {others}"), row.discussed_in, True),
        (tr("Also planned for {others}"), row.planned_for, False),
    ]
    found = [(words.format(others=_named(names)), warns) for words, names, warns in lines if names]
    if row.seconds is not None:
        shown_for = tr("Shown for {duration}").format(duration=duration(row.seconds))
        found.insert(0, (shown_for, False))
    return found


def _named(names: Sequence[str]) -> str:
    more = len(names) - _NAMED
    named = ", ".join(names[:_NAMED])
    return tr("{named} and {n:,} more").format(named=named, n=more) if more > 0 else named


def _found(review_set: ReviewSet, found_by: str) -> dict[str, str] | None:
    """Return the filter that a case was found by, in words and as a link."""
    case_filter, _ = CaseFilter.read(parse_qs(found_by))
    if not case_filter.active:
        return None
    words = describe(review_sets.engine(review_set).facts, case_filter)
    return {"words": words, "href": href(PAGE_BROWSE, link_keys.link_query(case_filter))}

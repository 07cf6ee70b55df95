"""What judges said of failures in words about the answers to one case, as a filter asks."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from rexview.analysis.case.comments import find_quote
from rexview.analysis.filter.case_filter import CaseFilter
from rexview.analysis.filter.written_conditions import WrittenCondition
from rexview.analysis.written.results import FoundIn, named
from rexview.schema import Answer, ReviewSet


@dataclass(frozen=True)
class WrittenOpinion:
    """What was said of one answer: ``said`` is ``unread`` where the reply cannot be read.

    ``start`` and ``end`` are the place of the quote in the answer's text, None where it is not in
    it; ``quote_known`` says that it stands in what the judge was sent.
    """

    said: str
    reason: str
    quote: str
    start: int | None
    end: int | None
    quote_known: bool


@dataclass(frozen=True)
class CaseWritten:
    """What one judge said of one failure in words, by model."""

    title: str
    failure: str
    version: str
    judge: str
    by_model: dict[str, WrittenOpinion]


def written_on(
    review_set: ReviewSet, case_filter: CaseFilter, case: str, answers: Sequence[Answer]
) -> tuple[CaseWritten, ...]:
    """Gather what the conditions of a filter name, each failure and judge once."""
    asked = {
        (one.failure, one.version, one.judge): None
        for one in map(WrittenCondition.parse, case_filter.written)
    }
    found = (named(review_set, *one) for one in asked)
    return tuple(_of(one, case, answers) for one in found if one is not None)


def _of(found: FoundIn, case: str, answers: Sequence[Answer]) -> CaseWritten:
    failure = found.prompt.id.partition(":")[2]
    said = {
        answer.model: opinion
        for answer in answers
        if (opinion := _opinion(found, case, answer)) is not None
    }
    return CaseWritten(found.prompt.name, failure, found.version, found.judge, said)


def _opinion(found: FoundIn, case: str, answer: Answer) -> WrittenOpinion | None:
    one = found.by_answer.get((case, answer.model))
    if one is None:
        reply = found.unread_of(case, answer.model)
        return None if reply is None else WrittenOpinion("unread", reply.why, "", None, None, True)
    quote = (one.found.quote or "").strip()
    start, end = _place(answer.text or "", quote)
    return WrittenOpinion(
        one.found.said,
        one.found.reason or "",
        quote,
        start,
        end,
        one.quote_found is not False,
    )


def _place(text: str, quote: str) -> tuple[int | None, int | None]:
    """Find quoted words in a text, blanks and capitals aside, as the judge's reply was read."""
    if quote and (place := find_quote(text, quote, 0)):  # also with markup between its words
        return place.start, place.end
    words = quote.split()
    found = re.search(r"\s+".join(map(re.escape, words)), text, re.IGNORECASE) if words else None
    return (found.start(), found.end()) if found else (None, None)

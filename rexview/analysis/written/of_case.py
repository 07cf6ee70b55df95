"""What judges said of failures in words about the answers to one case, as a filter asks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rexview.analysis.case.quoting import Quoting, place_of
from rexview.analysis.filter.case_filter import CaseFilter
from rexview.analysis.filter.written_conditions import WrittenCondition
from rexview.analysis.written.results import FoundIn, named
from rexview.schema import Answer, ReviewSet


@dataclass(frozen=True, kw_only=True)
class WrittenOpinion(Quoting):
    """What was said of one answer: ``said`` is ``unread`` where the reply cannot be read."""

    said: str


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
        return None if reply is None else WrittenOpinion(said="unread", reason=reply.why)
    quote = (one.found.quote or "").strip()
    start, end = place_of(answer.text or "", quote)
    return WrittenOpinion(
        said=one.found.said,
        reason=one.found.reason or "",
        quote=quote,
        start=start,
        end=end,
        quote_known=one.quote_found is not False,
    )

"""The questions of a set that are scored and tagged: proposed ones, people's own, edited ones."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

import polars as pl

from rexview.curation.asking import Subject
from rexview.curation.candidate import open_id
from rexview.curation.rating.step import WORDING as RATING
from rexview.curation.studies import From, study_of
from rexview.schema import ReviewSet

EDITED: Final = "edited"


@dataclass(frozen=True)
class OpenQuestion:
    """An open candidate as it is to be scored: as it was proposed, or ``edited`` by a person."""

    case: str
    candidate: str
    question: str
    edited: bool = False

    @property
    def about(self) -> tuple[str, ...]:
        """What names it beside its case; of an edited one its words, too."""
        words = (EDITED, open_id(self.question)) if self.edited else ()
        return (self.candidate, *words)


def questions_of(review_set: ReviewSet, *, edited: bool = False) -> Iterator[OpenQuestion]:
    """Yield the open candidates of a set, people's own among them.

    With ``edited`` each that was edited follows as it reads now.
    """
    is_open = pl.col("question_type").fill_null("open") == "open"
    changed = {
        (row["case"], row["candidate"]): row["question"]
        for row in review_set.selections.iter_rows(named=True)
        if row["question"]
    }
    for case, candidate, question in (
        review_set.candidates.filter(is_open).select("case", "candidate", "question").iter_rows()
    ):
        yield OpenQuestion(case, candidate, question)
        now = changed.get((case, candidate))
        if edited and now and now.split() != question.split():
            yield OpenQuestion(case, candidate, now, edited=True)


def rating_subjects(
    review_set: ReviewSet, questions: Iterable[OpenQuestion], told_from: From | None = None
) -> list[Subject]:
    """Return what is asked when questions are scored: each with what is told of its study."""
    known: dict[str, Mapping[str, str]] = {}
    found = []
    for one in questions:
        if one.case not in known:
            known[one.case] = _of_study(review_set, one.case, told_from)
        values = {**known[one.case], "question": one.question}
        found.append(Subject(one.case, one.about, values))
    return found


def _of_study(review_set: ReviewSet, case_id: str, told_from: From | None) -> dict[str, str]:
    case = review_set.case(case_id)
    assert case is not None  # rows about other cases are not in the set's tables
    study, texts = study_of(review_set, case, told_from), RATING.texts
    return {
        "told": study.known or texts["nothing_told"],
        "comparison": texts["with_prior" if study.has_prior else "without_prior"],
    }


def tagging_subjects(questions: Iterable[OpenQuestion]) -> list[Subject]:
    """Return what is asked when questions are tagged: their words and nothing else."""
    return [Subject(one.case, one.about, {"question": one.question}) for one in questions]

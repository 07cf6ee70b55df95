"""The answers of which people say that they have a failure in words: of a case, and counted.

Nobody's word is mixed with what a language model found, nor with what rules and readers say of the
failures that are built in. A mark is of the version of the words that its writer read, and counts
for the answer as it was read; one of a failure that was removed is kept and not shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from rexview.analysis.filter.case_filter import CaseFilter
from rexview.analysis.filter.linked_count import Count
from rexview.analysis.filter.written_conditions import MarkedCondition
from rexview.analysis.written.failures import Words, standing_failures
from rexview.schema import Mark, ReviewSet

KIND: Final = "written_mark"


@dataclass(frozen=True)
class MarkedAnswer:
    """What one person says of an answer; ``words`` are those of the failure now.

    ``is_earlier``: it was said of other words than these.
    """

    mark: Mark
    words: Words

    @property
    def is_earlier(self) -> bool:
        """Whether the failure has other words by now."""
        return self.mark.version != self.words.prompt.hash


@dataclass(frozen=True)
class MarkedRow:
    """One model, or None for all: how many answers people marked, and how many people did."""

    model: str | None
    answers: Count
    people: int


@dataclass(frozen=True)
class Marked:
    """A failure in one version of its words, or in all: a row a model that has it, and of all.

    ``elsewhere`` is how many answers were marked in other words only.
    """

    rows: Sequence[MarkedRow]
    all: MarkedRow
    elsewhere: int = 0


def marks_on(review_set: ReviewSet, case: str) -> tuple[MarkedAnswer, ...]:
    """Return what people say of the answers to a case, by title; also of earlier answers.

    ``review_set`` has what was written (:func:`rexview.store.merged`).
    """
    marks = [mark for mark in review_set.marks if mark.case == case]
    return in_words(marks, standing_failures(review_set)) if marks else ()


def in_words(marks: Iterable[Mark], standing: Mapping[str, Words]) -> tuple[MarkedAnswer, ...]:
    """Return marks with the words of their failures, in the order of these, the oldest first."""
    places = {name: place for place, name in enumerate(standing)}
    found = [MarkedAnswer(one, standing[one.failure]) for one in marks if one.failure in standing]
    return tuple(sorted(found, key=lambda one: places[one.mark.failure]))


def counted_marks(review_set: ReviewSet) -> tuple[Mark, ...]:
    """Return the marks that count: on answers as they are, of failures that stand."""
    marks = [mark for mark in review_set.marks if not mark.stale]
    standing = standing_failures(review_set) if marks else {}
    return tuple(mark for mark in marks if mark.failure in standing)


def marked(marks: Sequence[Mark], models: Iterable[str], failure: str, version: str = "") -> Marked:
    """Count the answers that people marked with a failure, over all cases, by model in their order.

    ``marks`` are those that count (:func:`counted_marks`); of one ``version`` of the words (its
    beginning), or of all.
    """
    word = str(MarkedCondition(failure, version))
    of_failure = [mark for mark in marks if mark.failure == failure]
    wanted = [mark for mark in of_failure if mark.version.startswith(version)]
    by_model: dict[str, list[Mark]] = {}
    for mark in wanted:
        by_model.setdefault(mark.model, []).append(mark)
    return Marked(
        [
            _row(model, by_model[model], CaseFilter(models=(model,), marked=(word,)))
            for model in models
            if model in by_model
        ],
        _row(None, wanted, CaseFilter(marked=(word,))),
        len(_answers(of_failure) - _answers(wanted)),
    )


def _row(model: str | None, marks: Sequence[Mark], opens: CaseFilter) -> MarkedRow:
    people = {mark.reader for mark in marks}
    return MarkedRow(model, Count(len(_answers(marks)), opens), len(people))


def _answers(marks: Iterable[Mark]) -> set[tuple[str, str]]:
    return {(mark.case, mark.model) for mark in marks}

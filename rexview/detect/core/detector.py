"""What a detector is: the interface that every failure detector plugs in behind."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Protocol, cast

import polars as pl

from rexview.schema import Answer, Case, Evidence, Flag, ReviewSet, Score

SURVEY: Final = pl.Schema(
    {
        "case": pl.String(),
        "model": pl.String(),
        "kind": pl.String(),  # which rule fired; null where none did
        "look": pl.Boolean(),  # whether only a look at the single answer can tell
    }
)
"""Columns of the frame of :meth:`Detector.survey`."""


class Detector(Protocol):
    """Finds one kind of failure, deterministically, from what the review set carries.

    No detector reads an image file. A detector works in two steps so that millions of answers are
    affordable: a query over the tables narrows them down, then single answers are looked at.
    """

    @property
    def failure(self) -> str:
        """Id of the failure that it finds (:data:`rexview.vocab.FAILURES`)."""
        ...

    @property
    def reads_scores(self) -> bool:
        """Whether scores matter to it; else what it found stands when only scores are new."""
        ...

    def survey(self, review_set: ReviewSet) -> pl.DataFrame:
        """Go through all answers at once, from the tables alone.

        Returns
        -------
        polars.DataFrame
            Columns :data:`SURVEY`, newest runs only: each answer about which the detector can say
            something, once for each flag that is certain (``kind``), else once without a kind.
            Where ``look`` is set, :meth:`find` decides about that answer.
        """
        ...

    def find(self, case: Case, answer: Answer, scores: Sequence[Score]) -> list[Flag]:
        """Look at one answer.

        Parameters
        ----------
        case : Case
        answer : Answer
            An answer to that case, of any run.
        scores : sequence of Score
            All scores given to that answer, in file order.

        Returns
        -------
        list of Flag
            With evidence; source ``detector``.
        """
        ...


class ComparingDetector(Detector, Protocol):
    """A detector that holds an answer against the other answers to its case."""

    def find_among(
        self, case: Case, answer: Answer, answers: Sequence[Answer], scores: Sequence[Score]
    ) -> list[Flag]:
        """Look at one answer among all newest answers to its case (it may be among them).

        :meth:`find` of such a detector sees no other answers and finds nothing.
        """
        ...


def find_in(
    detector: Detector,
    case: Case,
    answer: Answer,
    answers: Sequence[Answer],
    scores: Sequence[Score],
) -> list[Flag]:
    """Ask a detector of either sort about one answer; ``scores`` are those of that answer."""
    if hasattr(detector, "find_among"):  # isinstance() of a protocol takes as long as a short look
        return cast("ComparingDetector", detector).find_among(case, answer, answers, scores)
    return detector.find(case, answer, scores)


def flag(
    detector: Detector,
    answer: Answer,
    kind: str,
    message: str,
    evidence: Sequence[Evidence],
) -> Flag:
    """Make a detector's flag on an answer."""
    return Flag(
        case=answer.case,
        model=answer.model,
        failure=detector.failure,
        source="detector",
        message=message,
        kind=kind,
        evidence=tuple(evidence),
    )


def newest(review_set: ReviewSet) -> pl.DataFrame:
    """Return the newest answer of each model to each case."""
    return review_set.answers.filter("_newest")

"""What a detector is: the interface that every failure detector plugs in behind."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Protocol

import polars as pl

from rexview.schema import Answer, Case, Flag, ReviewSet, Score

ANSWER_KEY: Final = ("case", "model", "run_id")
"""Columns that name one answer in the frames of a detector."""


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
    def exact(self) -> bool:
        """Whether every candidate is a flag, so that counting needs no second step."""
        ...

    def judged(self, review_set: ReviewSet) -> pl.DataFrame:
        """Name the answers about which it can say anything: the n beside its counts.

        Returns
        -------
        polars.DataFrame
            Columns :data:`ANSWER_KEY`, one row an answer, newest runs only.
        """
        ...

    def candidates(self, review_set: ReviewSet) -> pl.DataFrame:
        """Name the answers in which it may find something.

        Returns
        -------
        polars.DataFrame
            Columns :data:`ANSWER_KEY` and ``kind`` (String; which rule fired, null when not yet
            known), newest runs only.
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


def newest(review_set: ReviewSet) -> pl.DataFrame:
    """Return the newest answer of each model to each case."""
    return review_set.answers.filter("_newest")

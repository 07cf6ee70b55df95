"""What a study asks about the cases that are scored, and in which order a reader goes through them.

Scoring does not wait for detectors, so this is an engine of its own beside
:mod:`rexview.analysis.engine`, with the same rule: nothing above it holds a list of all cases.
:mod:`rexview.analysis.memory.study` holds everything in memory.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Protocol

import polars as pl

from rexview.analysis.engine import Position
from rexview.analysis.study.tasks import Task


class Worklist(Protocol):
    """The cases that one reader has to score, in the reader's own order."""

    def __len__(self) -> int:
        """How many cases there are."""

    def page(self, start: int, size: int) -> tuple[str, ...]:
        """Return the ids of some of the cases, ``start`` from 0."""

    def position(self, case: str) -> Position:
        """Find a case, and its neighbours."""

    def in_order(self, cases: Iterable[str]) -> tuple[str, ...]:
        """Return those of some cases that are on the list, each once, in its order."""

    def next_open(self, closed: Collection[str], last: str | None = None) -> str | None:
        """Return the case to go on with; None when all of them are ``closed``.

        It is the case worked on ``last`` if that is open, else the first open one after it, else
        the first open one of all.
        """


class StudyEngine(Protocol):
    """The questions. A case is to be scored when one of its answers is."""

    def worklist(self, reader: str, assigned: frozenset[str] | None) -> Worklist:
        """Return what a reader has to score.

        ``assigned`` has the cases assigned to the reader; None says that nobody has been assigned
        anything, and that every case is theirs.
        """

    @property
    def tasks(self) -> tuple[Task, ...]:
        """What a reader can do with the cases of the set."""

    def task_list(self, task: Task, reader: str, assigned: frozenset[str] | None) -> Worklist:
        """Return what a reader has to do of a task: cases, or items of reports and pairs.

        The reports of a case come one after the other, of its pairs each only when every case had
        the one before. ``assigned`` is as for :meth:`worklist`.
        """

    def of_task(self, task: Task, cases: Collection[str]) -> Mapping[str, int]:
        """Return how many things there are to do in each of some cases that a task has."""

    def chosen(self, cases: Collection[str]) -> pl.DataFrame:
        """Return ``case``, ``model`` and ``choice`` of the models' newest answers to some cases."""

    @property
    def n_scorable(self) -> int:
        """How many cases are to be scored."""

    def scorable(self, cases: Collection[str]) -> frozenset[str]:
        """Return which of some cases are to be scored."""

    def required(self, cases: Collection[str]) -> pl.DataFrame:
        """Return everything that one reader has to score in some cases.

        Columns :data:`rexview.analysis.study.worklist.ITEM`: the items that
        :func:`rexview.analysis.study.worklist.items_of` gives for the newest answers that came in
        full, of choice questions only where the study's rules say so.
        """

    @property
    def strata(self) -> Mapping[str, str]:
        """The stratum of each case to be scored: question type, category, normal or not.

        The one answer with all cases: whoever deals them writes an entry for each.
        """

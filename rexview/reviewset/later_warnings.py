"""What is not plausible in a large set: looked for when somebody asks, as it takes a while."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from threading import Lock, Thread
from typing import Final

from rexview.errors import Problem
from rexview.reviewset.checks.boxes import image_sizes
from rexview.reviewset.checks.plausible import check_plausible
from rexview.reviewset.problems import ProblemList
from rexview.reviewset.sources import find_tables
from rexview.schema import ReviewSet

Warnings = tuple[Problem, ...]


class LaterWarnings:
    """All warnings of a set that opened without those of :func:`check_plausible`.

    Parameters
    ----------
    review_set : ReviewSet
        As it was given; its ``warnings`` are those that are known.
    place : int
        Before which of them the others come.
    known : tuple of Problem or None
        The others, if they were found before.
    keep : callable
        Is given the others when they were found.
    """

    def __init__(
        self,
        review_set: ReviewSet,
        place: int,
        known: Warnings | None = None,
        keep: Callable[[Warnings], None] = lambda found: None,
    ) -> None:
        self._review_set: Final = review_set
        self._place: Final = place
        self._found = known
        self._keep: Final = keep
        self._lock: Final = Lock()
        self._thread: Thread | None = None

    def __call__(self) -> Warnings | None:
        """Return all warnings; None as long as they are being looked for, which this begins."""
        with self._lock:
            if self._found is None:
                if self._thread is None:
                    self._thread = Thread(target=self._look, name="look for warnings", daemon=True)
                    self._thread.start()
                return None
        before, after = (
            self._review_set.warnings[: self._place],
            self._review_set.warnings[self._place :],
        )
        return (*before, *self._found, *after)

    def _look(self) -> None:
        found: Warnings
        try:
            found = implausible(self._review_set)
        except Exception as error:  # as when the disk with the texts is gone
            message = f"The answers could not be looked through ({type(error).__name__})."
            remedy = "Run python -m rexview check on the folder."
            found = (Problem("warning", "answers", None, None, message, remedy),)
        else:
            self._keep(found)
        with self._lock:
            self._found = found


def implausible(review_set: ReviewSet) -> Warnings:
    """Find what :func:`check_plausible` reports of a set as it was given."""
    problems = ProblemList()
    sources = {
        name: replace(source, problems=problems)
        for name, source in find_tables(review_set.folder, ProblemList()).items()
    }
    tables = {name: getattr(review_set, name) for name in ("cases", "answers", "scores")}
    check_plausible(tables, sources, image_sizes(review_set.cases))
    return tuple(problems.all())

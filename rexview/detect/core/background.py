"""A scan in the background: a thread that looks at a few cases at a time."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Condition, Thread
from typing import Final, Literal

import numpy as np

from rexview.detect.core.batch import batch_of
from rexview.detect.core.detector import Detector
from rexview.detect.core.gathered import Gatherer
from rexview.detect.core.looking import in_order, look
from rexview.detect.core.scan import Scan
from rexview.schema import ReviewSet

_CASES_AT_A_TIME: Final = 20


@dataclass(frozen=True)
class Progress:
    """How far a scan is: ``looked`` of the ``answers``, of these ``failed`` not judged."""

    answers: int
    looked: int
    failed: int
    per_second: float
    seconds_left: float | None
    state: Literal["running", "stopped", "finished", "broken"]
    message: str = ""


class BackgroundScan:
    """Looks at all newest answers of a review set."""

    def __init__(
        self, review_set: ReviewSet, detectors: Sequence[Detector], *, keep: Path | None = None
    ) -> None:
        self._review_set = replace(review_set, scores=review_set.scores.clear())
        self._detectors = tuple(detectors)
        self._gathered = Gatherer(len(review_set.newest), len(review_set.cases))
        self._changed = Condition()
        self._next: list[int] = []
        self._stopped = self._closed = False
        self._begun = time.monotonic()
        self._snapshot: Scan | None = None

    def start(self) -> None:
        """Begin."""
        Thread(target=self._run, name="rexview scan", daemon=True).start()

    @property
    def scan(self) -> Scan:
        """What is known by now."""
        with self._changed:
            if self._snapshot is None:
                found = self._gathered.found()
                self._snapshot = Scan(self._detectors, self._review_set, found, in_order(()))
            return self._snapshot

    @property
    def progress(self) -> Progress:
        """How far it is."""
        answers, looked = len(self._review_set.newest), self._gathered.looked
        rate = looked / max(time.monotonic() - self._begun, 0.001)
        done = looked == answers
        return Progress(
            answers,
            looked,
            self._gathered.failed,
            rate,
            (answers - looked) / rate if rate else None,
            "finished" if done else "stopped" if self._stopped else "running",
        )

    def prefer(self, case_rows: Sequence[int]) -> None:
        """Look at these cases next."""
        with self._changed:
            self._next = [*case_rows, *self._next]

    def look_at(self, case_row: int) -> None:
        """Look at a case now."""
        self._look([case_row])

    def stop(self) -> None:
        """Look at no more answers."""
        with self._changed:
            self._stopped = True

    def resume(self) -> None:
        """Go on."""
        with self._changed:
            self._stopped = False
            self._changed.notify_all()

    def close(self) -> None:
        """End it."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def _look(self, rows: list[int]) -> None:
        looked = look(batch_of(self._review_set, np.array(rows)), self._detectors)
        with self._changed:
            self._gathered.add(looked)
            self._snapshot = None

    def _run(self) -> None:
        others = iter(range(len(self._review_set.cases)))
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._closed or not self._stopped)
                if self._closed:
                    return
                rows, self._next = self._next[:_CASES_AT_A_TIME], self._next[_CASES_AT_A_TIME:]
            rows = rows or [row for row, _ in zip(others, range(_CASES_AT_A_TIME), strict=False)]
            if not rows:
                return
            self._look(rows)

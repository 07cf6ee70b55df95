"""A scan in the background. Until it is one: everything at once, when it is begun."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from rexview.detect.core.detector import Detector
from rexview.detect.core.scan import Scan, scan
from rexview.schema import ReviewSet


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
        self._of = (review_set, tuple(detectors))

    def start(self) -> None:
        """Begin."""
        self.scan: Scan = scan(*self._of)

    @property
    def progress(self) -> Progress:
        """How far it is."""
        n = len(self._of[0].newest)
        return Progress(n, n, 0, 0.0, None, "finished")

    def prefer(self, case_rows: Sequence[int]) -> None:
        """Look at these cases next."""

    def look_at(self, case_row: int) -> None:
        """Look at a case now."""

    def stop(self) -> None:
        """Look at no more answers."""

    def resume(self) -> None:
        """Go on."""

    def close(self) -> None:
        """End it."""

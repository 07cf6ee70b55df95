"""How far the search for failures is, and how fast it goes."""

from __future__ import annotations

import time
from collections import deque
from dataclasses import dataclass
from typing import Final, Literal

_RATE_OVER_S: Final = 30.0


@dataclass(frozen=True)
class Progress:
    """How far a scan is.

    ``looked`` of the ``answers`` were looked at, of which ``failed`` could not be judged by every
    detector. ``per_second`` and ``seconds_left`` are None while nothing is known, or runs.
    ``message`` is a sentence for the page where something is wrong, else empty.
    """

    answers: int
    looked: int
    failed: int
    per_second: float | None
    seconds_left: float | None
    state: Literal["running", "stopped", "finished", "broken"]
    message: str = ""


class Pace:
    """How many answers a second were looked at lately."""

    def __init__(self) -> None:
        self._rates: deque[tuple[float, int]] = deque()

    def note(self, looked: int) -> None:
        """Note how many there are by now."""
        now = time.monotonic()
        self._rates.append((now, looked))
        while len(self._rates) > 2 and now - self._rates[0][0] > _RATE_OVER_S:
            self._rates.popleft()

    def forget(self) -> None:
        """Begin anew."""
        self._rates.clear()

    def per_second(self) -> float | None:
        """Return it; None while that is not known."""
        if len(self._rates) < 2:
            return None
        (first, before), (last, now) = self._rates[0], self._rates[-1]
        return (now - before) / (last - first) if last > first and now > before else None

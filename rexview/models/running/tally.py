"""What a run counts while it works, for whoever looks at it."""

from __future__ import annotations

import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable
from typing import Final

from rexview.models.reply import Failing
from rexview.models.running.gate import Rest

_RATE_OVER_S: Final = 60.0
_LINES: Final = 8


class Tally:
    """Answers and failures by their words, the rate, and the last lines for the person.

    Parameters
    ----------
    outcomes
        Of the answers that there were before.
    masked
        Takes keys out of a text.

    Attributes
    ----------
    rest
        What is waited for between two looks at the server's batches.
    """

    def __init__(self, outcomes: Iterable[str], masked: Callable[[str], str]) -> None:
        self._lock = threading.Lock()
        self._masked = masked
        self._outcomes = Counter(outcomes)
        self._failed: Counter[str] = Counter()
        self._lines: deque[str] = deque(maxlen=_LINES)
        self._replies: deque[float] = deque()
        self._began = time.monotonic()
        self.rest: Rest | None = None

    def answered(self, outcome: str) -> None:
        """Count an answer."""
        with self._lock:
            self._outcomes[outcome] += 1
            self._replies.append(time.monotonic())

    def failed(self, kind: Failing, line: str) -> None:
        """Count what has no answer, and tell why."""
        with self._lock:
            self._failed[kind] += 1
            self._lines.append(self._masked(line))

    def say(self, line: str) -> None:
        """Tell the person a line."""
        with self._lock:
            self._lines.append(self._masked(line))

    @property
    def outcomes(self) -> dict[str, int]:
        """Answers by their outcome."""
        with self._lock:
            return dict(self._outcomes)

    @property
    def failures(self) -> dict[str, int]:
        """What was given up, by the word of why."""
        with self._lock:
            return dict(self._failed)

    @property
    def lines(self) -> tuple[str, ...]:
        """The last lines, oldest first."""
        with self._lock:
            return tuple(self._lines)

    def per_minute(self) -> float | None:
        """Return how many answers came a minute, of late; None where none did."""
        with self._lock:
            now = time.monotonic()
            while self._replies and now - self._replies[0] > _RATE_OVER_S:
                self._replies.popleft()
            over = min(_RATE_OVER_S, now - self._began)
            return 60 * len(self._replies) / over if self._replies and over > 0 else None

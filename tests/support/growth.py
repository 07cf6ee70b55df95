"""How the work on something grows with its size."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")
_LEAST_S = 0.002
"""Below this the clock of the processor says little."""


def growth(work: Callable[[T], object], first: T, small: T, large: T) -> float:
    """Return how many times more processor time the large one takes than the small one.

    ``first`` is worked on before, for what is only done once; nothing is worked on twice, as the
    work may remember it. What else the machine does does not count.
    """
    work(first)
    before = _seconds(work, small)
    return _seconds(work, large) / max(before, _LEAST_S)


def _seconds(work: Callable[[T], object], given: T) -> float:
    began = time.process_time()
    work(given)
    return time.process_time() - began

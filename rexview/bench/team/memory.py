"""What a server holds of memory while people work, whether it grows, and what it computes."""

from __future__ import annotations

import asyncio
import os
import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

EVERY_S: Final = 5.0
_LEAST_MINUTES: Final = 6
"""Of fewer minutes no slope is told."""


def held_mb(process: int) -> float | None:
    """Return what a process holds of its own (RssAnon), without mapped files; None if unknown."""
    try:
        status = Path(f"/proc/{process}/status").read_text(encoding="ascii")
    except OSError:
        return None
    values = dict(line.split(":", 1) for line in status.splitlines())
    return int(values["RssAnon"].split()[0]) / 1024


def processor_s(process: int) -> float | None:
    """Return the seconds of processor that a process has taken until now; None if unknown."""
    try:
        stat = Path(f"/proc/{process}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    user, system = stat.rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


@dataclass
class Held:
    """Samples of one process: seconds since the first one, and MB."""

    process: int
    at: list[float] = field(default_factory=list)
    mb: list[float] = field(default_factory=list)

    async def watch(self, seconds: float) -> None:
        """Take samples for so long."""
        began = time.monotonic()
        while (passed := time.monotonic() - began) < seconds:
            if (held := held_mb(self.process)) is not None:
                self.at.append(passed)
                self.mb.append(held)
            await asyncio.sleep(EVERY_S)

    def by_minute(self) -> list[float]:
        """Return the median of each whole minute, in MB."""
        minutes: dict[int, list[float]] = {}
        for at, mb in zip(self.at, self.mb, strict=True):
            minutes.setdefault(int(at // 60), []).append(mb)
        return [statistics.median(minutes[minute]) for minute in sorted(minutes)]


def growth(by_minute: Sequence[float]) -> tuple[float, float, float] | None:
    """Return the slope in MB a minute with the ends of its 95 % interval (Theil and Sen).

    The first third is left out: caches fill and every page is opened for the first time. None where
    there are too few minutes.
    """
    from scipy.stats import theilslopes

    settled = by_minute[len(by_minute) // 3 :]
    if len(settled) < _LEAST_MINUTES:
        return None
    slope, _, low, high = theilslopes(settled)
    return float(slope), float(low), float(high)

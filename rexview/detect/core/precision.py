"""How often a detector's flag was right on labelled texts that it had not been made with."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

from rexview.own_tables import read_table
from rexview.words import tr

_FILE: Final = Path(__file__).with_name("precision.yaml")


@dataclass(frozen=True)
class Precision:
    """``right`` of ``flags`` flags were right ``on`` some labelled texts.

    ``low`` and ``high`` are Wilson's 95% interval of that share, 0 to 1. It is kept with the
    numbers: to work it out, every first page would wait for scipy.
    """

    flags: int
    right: int
    low: float
    high: float
    on: str

    @property
    def sentence(self) -> str:
        """A sentence for the page."""
        words = tr(
            "In tests {right:,} of {flags:,} such flags were right ({low:.0%} to {high:.0%})."
        )
        return words.format(right=self.right, flags=self.flags, low=self.low, high=self.high)

    @property
    def caption(self) -> str:
        """The sentence after what the rule looks at."""
        words = tr(
            "Rule: in tests {right:,} of {flags:,} such flags were right ({low:.0%} to {high:.0%})."
        )
        return words.format(right=self.right, flags=self.flags, low=self.low, high=self.high)


def precision_of(failure: str) -> Precision | None:
    """Return the measured precision of a failure's detector; None when it was not measured."""
    return _read(_FILE).get(failure)


@cache
def _read(file: Path) -> dict[str, Precision]:
    content: dict[str, Any] = read_table(file) or {}
    found = {}
    for failure, entry in content.items():
        flags, right = entry.get("flags"), entry.get("right")
        if flags and right is not None:
            if not 0 <= right <= flags:
                raise ValueError(f"{file.name}: {failure} has {right} right of {flags}")
            limits = float(entry["low"]), float(entry["high"])
            found[failure] = Precision(flags, right, *limits, str(entry["texts"]))
    return found

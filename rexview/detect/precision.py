"""Report the precision of detectors, measured on labelled texts not used to develop them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

from rexview.package_data import read_package_table
from rexview.vocab import SUGGESTED_FAILURES
from rexview.words import tr

_FILE: Final = Path(__file__).with_name("precision.yaml")


@dataclass(frozen=True)
class Precision:
    """Number of ``right`` flags among ``flags`` on labelled texts (``on``).

    With ``suggests`` the flags are hints. ``low`` and ``high`` are the bounds of Wilson's 95%
    interval of that share, 0 to 1. They are stored with the numbers, because computing them would
    make the first page wait for scipy.
    """

    flags: int
    right: int
    low: float
    high: float
    on: str
    suggests: bool = False

    @property
    def sentence(self) -> str:
        """Sentence for the page."""
        if self.suggests:
            words = tr(
                "In tests {right:,} of {flags:,} such suggestions were right "
                "({low:.0%} to {high:.0%})."
            )
            return self._filled(words)
        words = tr(
            "In tests {right:,} of {flags:,} such flags were right ({low:.0%} to {high:.0%})."
        )
        return self._filled(words)

    @property
    def caption(self) -> str:
        """Sentence that follows the description of the rule."""
        if self.suggests:
            words = tr(
                "Suggested by rule: in tests {right:,} of {flags:,} such suggestions were right "
                "({low:.0%} to {high:.0%})."
            )
            return self._filled(words)
        words = tr(
            "Rule: in tests {right:,} of {flags:,} such flags were right ({low:.0%} to {high:.0%})."
        )
        return self._filled(words)

    def _filled(self, words: str) -> str:
        return words.format(right=self.right, flags=self.flags, low=self.low, high=self.high)


def find_precision(failure: str, kind: str | None = None) -> Precision | None:
    """Return the measured precision of a failure's detector; None if it was not measured.

    ``kind`` selects a kind of flags that was measured apart from the hints.
    """
    return _read(_FILE).get(f"{failure}/{kind}" if kind else failure)


@cache
def _read(file: Path) -> dict[str, Precision]:
    content: dict[str, Any] = read_package_table(file) or {}
    found = {}
    for failure, entry in content.items():
        flags, right = entry.get("flags"), entry.get("right")
        if flags and right is not None:
            if not 0 <= right <= flags:
                raise ValueError(f"{file.name}: {failure} has {right} right of {flags}")
            limits = float(entry["low"]), float(entry["high"])
            suggests = failure in SUGGESTED_FAILURES  # not of one kind: "omission/contradiction"
            found[failure] = Precision(flags, right, *limits, str(entry["texts"]), suggests)
    return found

"""What a failure is about, as a condition of the filter: a finding, or all of a region.

In a link a finding is its id in the lexicon (``pneumothorax``), a region ``region:pleura``.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Final

from rexview.detect import finding_name, finding_region
from rexview.errors import FilterError
from rexview.harm import load_harm

_REGION: Final = "region:"
NOT_KNOWN: Final = "unknown"
"""Stands for failures of which no finding is known."""


@dataclass(frozen=True)
class Finding:
    """A finding (``id`` of the lexicon) or, when ``is_region``, all findings of a region.

    The id :data:`NOT_KNOWN` stands for failures whose finding is not known.
    """

    id: str
    is_region: bool = False

    def __str__(self) -> str:
        return f"{_REGION}{self.id}" if self.is_region else self.id

    @classmethod
    def parse(cls, word: str) -> Finding:
        """Read a word of the link.

        Raises
        ------
        FilterError
            There is no such finding or region.
        """
        region = word.startswith(_REGION)
        found = cls(word.removeprefix(_REGION), region)
        known = _by_region() if region else _region_of()
        if found.id not in known and word != NOT_KNOWN:
            raise FilterError(f"“{word[:40]}” is no finding that the rules know.")
        return found

    @property
    def ids(self) -> tuple[str, ...]:
        """The findings it stands for."""
        if self.id == NOT_KNOWN:
            return ()
        return _by_region()[self.id] if self.is_region else (self.id,)

    @property
    def name(self) -> str:
        """The name on screen: ``pneumothorax``, ``pleura (region)``."""
        if self.id == NOT_KNOWN:
            return "a finding that is not known"
        if self.is_region:
            return f"{region_name(self.id)} (region)"
        return finding_name(self.id)


def region_name(region: str) -> str:
    """Return the name of a region on screen."""
    return "no one region" if region == "whole" else region.replace("_", " ")


def region_of(finding: str) -> str | None:
    """Return the region of a finding; None for one that the lexicon does not have."""
    return _region_of().get(finding)


@cache
def _region_of() -> dict[str, str]:
    return {finding: finding_region(finding) for finding in load_harm().findings}


@cache
def _by_region() -> dict[str, tuple[str, ...]]:
    found: dict[str, list[str]] = {}
    for finding, region in _region_of().items():
        found.setdefault(region, []).append(finding)
    return {region: tuple(ids) for region, ids in found.items()}

"""What the finding-level agreement knows beside lexicon and harm: ``agreement.yaml`` as records."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple

from rexview.package_data import read_table

_FILE: Final = Path(__file__).with_name("agreement.yaml")
_YEARS: Final = re.compile(
    r"\s*(\d{1,3})(?:\s*-\s*\d{1,3}|\+)?[\s-]*(?:(days?|weeks?|months?)\b)?", re.IGNORECASE
)
_IN_A_YEAR: Final = {"d": 365.0, "w": 52.0, "m": 12.0}


class Request(NamedTuple):
    """What the requester of a study said: the patient's age and the indication, as written."""

    age: str | None = None
    indication: str | None = None

    @property
    def years(self) -> float | None:
        """The age in years: of a span its beginning; None where it is not said.

        >>> Request("60-70").years, Request("6 months").years, Request("45 male").years
        (60.0, 0.5, 45.0)
        """
        match = _YEARS.match(self.age or "")
        if match is None:
            return None
        return float(match[1]) / _IN_A_YEAR.get((match[2] or "")[:1].lower(), 1.0)


@dataclass(frozen=True)
class ContextRule:
    """How many points of harm some findings have more or less for what a request says."""

    findings: frozenset[str]
    points: int
    at_least: float | None
    at_most: float | None
    indication: re.Pattern[str] | None

    def applies(self, request: Request) -> bool:
        """Whether the request says what the rule is about."""
        if self.indication is not None:
            return bool(self.indication.search(request.indication or ""))
        years = request.years
        low, high = self.at_least, self.at_most
        return (
            years is not None and (low is None or years >= low) and (high is None or years <= high)
        )


@dataclass(frozen=True)
class Rules:
    """Everything of ``agreement.yaml``; patterns find whole words in any case."""

    credit: Mapping[str, float]
    severity: re.Pattern[str]
    degrees: tuple[tuple[re.Pattern[str], int], ...]
    mild: float
    misplaced: re.Pattern[str]
    moved: re.Pattern[str]
    tube_misplaced: re.Pattern[str]
    not_excluded: re.Pattern[str]
    grave: float
    devices: frozenset[str]
    general_devices: frozenset[str]
    changes: Mapping[str, re.Pattern[str]]
    changes_alike: frozenset[frozenset[str]]
    taken_for: re.Pattern[str]
    either_or: re.Pattern[str]
    beside: re.Pattern[str]
    general: frozenset[str]
    descriptive: frozenset[str]
    signs: Mapping[str, frozenset[str]]
    context: tuple[ContextRule, ...]

    def degree(self, word: str) -> int:
        """Return the degree of a word that :attr:`severity` found, 1 to 4."""
        return next(degree for pattern, degree in self.degrees if pattern.fullmatch(word))


@cache
def rules() -> Rules:
    """Read the rules; done once."""
    content: dict[str, Any] = read_table(_FILE)
    degrees = content["severity"]
    return Rules(
        credit=content["credit"],
        severity=_words([word for words in degrees.values() for word in words]),
        degrees=tuple((_words(words), degree) for degree, words in degrees.items()),
        mild=content["mild"],
        misplaced=_words(content["misplaced"]),
        moved=_words(content["moved"]),
        tube_misplaced=_words(content["tube_misplaced"]),
        not_excluded=_words(content["not_excluded"]),
        grave=content["grave"],
        devices=frozenset(content["devices"]),
        general_devices=frozenset(content["general_devices"]),
        changes={name: _words(words) for name, words in content["changes"].items()},
        changes_alike=frozenset(map(frozenset, content["changes_alike"])),
        taken_for=_words(content["taken_for"]),
        either_or=_words(content["either_or"]),
        beside=_words(content["beside"]),
        general=frozenset(content["general"]),
        descriptive=frozenset(content["descriptive"]),
        signs={sign: frozenset(found) for sign, found in content["signs"].items()},
        context=tuple(map(_context_rule, content["context"])),
    )


def _words(words: list[str]) -> re.Pattern[str]:
    longest_first = "|".join(sorted(words, key=len, reverse=True))
    return re.compile(rf"(?<!\w)(?:{longest_first})(?!\w)", re.IGNORECASE)


def _context_rule(entry: Mapping[str, Any]) -> ContextRule:
    words = entry.get("indication")
    return ContextRule(
        frozenset(entry["findings"]),
        entry["points"],
        entry.get("from"),
        entry.get("up_to"),
        _words(words) if words else None,
    )

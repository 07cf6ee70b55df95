"""Findings of checks: as objects, as lines for people and as data for programs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Final, Literal

from rexview.settings import Settings
from rexview.untrusted_input import printable

if TYPE_CHECKING:
    from rexview.schema import ReviewSet


FindingState = Literal["ok", "note", "wrong"]
STATES: Final[tuple[FindingState, ...]] = ("ok", "note", "wrong")


@dataclass(frozen=True)
class Finding:
    """One finding: its part, its subject, its state, a sentence, and a remedy.

    A ``note`` is no obstacle to working. A finding contains no credential, no path of a case and no
    name of a person.
    """

    part: str
    about: str
    state: FindingState
    said: str
    remedy: str = ""


FindingFields = tuple[str, FindingState, str, str]
"""Yielded by a check: subject, state, sentence, and remedy (may be empty)."""


def ok(about: str, said: str) -> FindingFields:
    """Return a finding that something is correct."""
    return about, "ok", said, ""


def note(about: str, said: str, remedy: str = "") -> FindingFields:
    """Return a finding that is worth knowing but no obstacle to working."""
    return about, "note", said, remedy


def wrong(about: str, said: str, remedy: str = "") -> FindingFields:
    """Return a finding that must be repaired."""
    return about, "wrong", said, remedy


@dataclass
class CheckContext:
    """The input of checks.

    Attributes
    ----------
    settings : Settings
    arguments : tuple of str
        Arguments after ``--`` of the server's start command.
    ask : str
        Address of a running server, empty for none.
    opened : Future of ReviewSet or None
        The review set once it has been read; None if that fails.
    """

    settings: Settings
    arguments: tuple[str, ...] = ()
    ask: str = ""
    opened: Future[ReviewSet | None] = field(default_factory=Future)


Check = Callable[[CheckContext], Iterator[FindingFields]]


# Findings as lines for people and as an object for programs.


def lines_of(findings: Sequence[Finding]) -> Iterator[str]:
    """Yield a line for each finding, its remedy below it, and a line with counts."""
    parts = max((len(one.part) for one in findings), default=0)
    for one in findings:
        yield printable(f"{one.state:5}  {one.part:{parts}}  {one.about}: {one.said}")
        if one.remedy:
            yield printable(f"{'':5}  {'':{parts}}  -> {one.remedy}")
    counts = Counter(one.state for one in findings)
    yield ", ".join(f"{counts[state]} {state}" for state in STATES)


def as_data(findings: Sequence[Finding]) -> dict[str, Any]:
    """Return findings as JSON values: whether nothing is wrong, and each of them."""
    return {
        "nothing_wrong": not any(one.state == "wrong" for one in findings),
        "findings": [asdict(one) for one in findings],
    }

"""Findings of checks: as objects, as lines for people and as data for programs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Final, Literal

from rexview.settings import Settings
from rexview.untrusted_input import printable_text

if TYPE_CHECKING:
    from rexview.schema import ReviewSet


CheckState = Literal["ok", "note", "wrong"]
CHECK_STATES: Final[tuple[CheckState, ...]] = ("ok", "note", "wrong")


@dataclass(frozen=True)
class CheckFinding:
    """One finding: its part, its subject, its state, a sentence, and a remedy.

    A ``note`` is no obstacle to working. A finding contains no credential, no path of a case and no
    name of a person.
    """

    part: str
    about: str
    state: CheckState
    said: str
    remedy: str = ""


CheckFields = tuple[str, CheckState, str, str]
"""Yielded by a check: subject, state, sentence, and remedy (may be empty)."""


def ok_finding(about: str, said: str) -> CheckFields:
    """Return a finding that something is correct."""
    return about, "ok", said, ""


def note_finding(about: str, said: str, remedy: str = "") -> CheckFields:
    """Return a finding that is worth knowing but no obstacle to working."""
    return about, "note", said, remedy


def wrong_finding(about: str, said: str, remedy: str = "") -> CheckFields:
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


DoctorCheck = Callable[[CheckContext], Iterator[CheckFields]]


# Findings as lines for people and as an object for programs.


def finding_lines(findings: Sequence[CheckFinding]) -> Iterator[str]:
    """Yield a line for each finding, its remedy below it, and a line with counts."""
    parts = max((len(one.part) for one in findings), default=0)
    for one in findings:
        yield printable_text(f"{one.state:5}  {one.part:{parts}}  {one.about}: {one.said}")
        if one.remedy:
            yield printable_text(f"{'':5}  {'':{parts}}  -> {one.remedy}")
    counts = Counter(one.state for one in findings)
    yield ", ".join(f"{counts[state]} {state}" for state in CHECK_STATES)


def findings_as_data(findings: Sequence[CheckFinding]) -> dict[str, Any]:
    """Return findings as JSON values: whether nothing is wrong, and each of them."""
    return {
        "nothing_wrong": not any(one.state == "wrong" for one in findings),
        "findings": [asdict(one) for one in findings],
    }

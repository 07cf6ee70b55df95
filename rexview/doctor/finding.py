"""What a check found: as an object, as lines for people and as data for programs."""

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
    """One line: of which part, about what, how it is, and what is to be done, in a sentence.

    A ``note`` keeps nobody from working. No credential, no path of a case and no name of a person
    stands in it.
    """

    part: str
    about: str
    state: FindingState
    said: str
    remedy: str = ""


FindingFields = tuple[str, FindingState, str, str]
"""What a check yields: about what, how it is, what is said, the remedy (may be empty)."""


def ok(about: str, said: str) -> FindingFields:
    """Say that something is as it should be."""
    return about, "ok", said, ""


def note(about: str, said: str, remedy: str = "") -> FindingFields:
    """Say something that is worth knowing, and keeps nobody from working."""
    return about, "note", said, remedy


def wrong(about: str, said: str, remedy: str = "") -> FindingFields:
    """Say that something has to be mended."""
    return about, "wrong", said, remedy


@dataclass
class CheckContext:
    """What checks start from.

    Attributes
    ----------
    settings : Settings
    arguments : tuple of str
        What stands after ``--`` where the server is started.
    ask : str
        Address of a running server, empty for none.
    opened : Future of ReviewSet or None
        The review set, once it was read: None where it cannot be.
    """

    settings: Settings
    arguments: tuple[str, ...] = ()
    ask: str = ""
    opened: Future[ReviewSet | None] = field(default_factory=Future)


Check = Callable[[CheckContext], Iterator[FindingFields]]


# Findings as lines for people and as an object for programs.


def lines_of(findings: Sequence[Finding]) -> Iterator[str]:
    """Yield a line for each finding, with its remedy below, and one that counts them."""
    parts = max((len(one.part) for one in findings), default=0)
    for one in findings:
        yield printable(f"{one.state:5}  {one.part:{parts}}  {one.about}: {one.said}")
        if one.remedy:
            yield printable(f"{'':5}  {'':{parts}}  -> {one.remedy}")
    counts = Counter(one.state for one in findings)
    yield ", ".join(f"{counts[state]} {state}" for state in STATES)


def as_data(findings: Sequence[Finding]) -> dict[str, Any]:
    """Return findings as values of JSON: whether nothing is wrong, and each of them."""
    return {
        "nothing_wrong": not any(one.state == "wrong" for one in findings),
        "findings": [asdict(one) for one in findings],
    }

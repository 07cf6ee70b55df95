"""What a check found, and what all checks know."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Final, Literal

from rexview.schema import ReviewSet
from rexview.settings import Settings

State = Literal["ok", "note", "wrong"]
STATES: Final[tuple[State, ...]] = ("ok", "note", "wrong")


@dataclass(frozen=True)
class Finding:
    """One line: of which part, about what, how it is, and what is to be done, in a sentence.

    A ``note`` keeps nobody from working. No credential, no path of a case and no name of a person
    stands in it.
    """

    part: str
    about: str
    state: State
    said: str
    remedy: str = ""


Said = tuple[str, State, str, str]
"""What a check yields: about what, how it is, what is said, the remedy (may be empty)."""


def ok(about: str, said: str) -> Said:
    """Say that something is as it should be."""
    return about, "ok", said, ""


def note(about: str, said: str, remedy: str = "") -> Said:
    """Say something that is worth knowing, and keeps nobody from working."""
    return about, "note", said, remedy


def wrong(about: str, said: str, remedy: str = "") -> Said:
    """Say that something has to be mended."""
    return about, "wrong", said, remedy


@dataclass
class Known:
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


Check = Callable[[Known], Iterator[Said]]

"""Whether a reviews database holds exactly what readers gave: nothing lost, nothing doubled."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass, fields

from rexview.store import Stored


@dataclass(frozen=True)
class Cell:
    """One score that can be given: of a model's answer, on a dimension, of a picture or none."""

    case: str
    model: str
    dimension: str
    picture: int | None = None


@dataclass(frozen=True)
class Given:
    """One score that a reader gave, under the token that stands for it."""

    token: str
    person: str
    cell: Cell
    score: int | None


@dataclass(frozen=True)
class Audit:
    """What is wrong in a database; all zero when nothing is.

    Attributes
    ----------
    lost : int
        Scores that were confirmed to the reader and are not there.
    missing : int
        Scores that were given and are not there, confirmed or not.
    doubled : int
        Rows more than one for a score.
    strange : int
        Rows that nobody gave.
    altered : int
        Rows that are another person's, on something else or of another value than was given.
    disordered : int
        Rows that do not follow each other as they were given, or tell another value before them.
    """

    lost: int = 0
    missing: int = 0
    doubled: int = 0
    strange: int = 0
    altered: int = 0
    disordered: int = 0

    def __bool__(self) -> bool:
        return any(getattr(self, one.name) for one in fields(self))


def audit(given: Sequence[Given], confirmed: Collection[str], rows: Sequence[Stored]) -> Audit:
    """Compare what readers gave with what is stored.

    Parameters
    ----------
    given : sequence of Given
        In the order in which each reader gave them.
    confirmed : collection of str
        Tokens of those that were shown to the reader as saved.
    rows : sequence of Stored
        The scores in the history, oldest first.
    """
    by_token = {one.token: one for one in given}
    counts = Counter(row.token for row in rows)
    ours = [row for row in rows if row.token in by_token]
    return Audit(
        lost=sum(token not in counts for token in confirmed),
        missing=sum(token not in counts for token in by_token),
        doubled=sum(count - 1 for count in counts.values()),
        strange=len(rows) - len(ours),
        altered=sum(_read(row) != by_token[row.token] for row in ours),
        disordered=_disordered(given, ours),
    )


def _read(row: Stored) -> Given:
    cell = Cell(row.case or "", row.model or "", row.subject or "", row.picture)
    return Given(row.token, row.person, cell, _score(row.value))


def _score(value: object) -> int | None:
    return value.get("score") if isinstance(value, dict) else None


def _disordered(given: Sequence[Given], rows: Sequence[Stored]) -> int:
    places = {one.token: place for place, one in enumerate(given)}
    by_cell: dict[tuple[str, Cell], list[Stored]] = defaultdict(list)
    for row in rows:
        by_cell[row.person, _read(row).cell].append(row)
    wrong = 0
    for chain in by_cell.values():
        before: Stored | None = None
        for row in chain:
            late = before is not None and places[before.token] > places[row.token]
            previous = _score(before.value) if before is not None else None
            wrong += late or _score(row.previous) != previous
            before = row
    return wrong

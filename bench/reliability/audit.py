"""Check that a reviews database has exactly the given entries: none lost, none doubled."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from rexview.store import StoredEntry
from rexview.store.kinds import SHARED_KINDS


@dataclass(frozen=True)
class Cell:
    """The target of an entry: a model's answer, and perhaps one of its pictures.

    ``subject`` is the dimension, the failure or the id of a comment, by ``kind`` of entry.
    """

    case: str
    model: str
    subject: str
    picture: int | None = None
    kind: str = "score"


@dataclass(frozen=True)
class SentEntry:
    """An entry that a reader gave, with its token; some fields of its value."""

    token: str
    person: str
    cell: Cell
    value: Mapping[str, Any]


@dataclass(frozen=True)
class Audit:
    """The errors in a database; all zero if there are none.

    Attributes
    ----------
    lost : int
        Entries that were confirmed to their writer and are missing.
    missing : int
        Entries that were given and are missing, confirmed or not.
    doubled : int
        Surplus rows of an entry.
    strange : int
        Rows without a given entry.
    altered : int
        Rows with another person, target or value than given.
    disordered : int
        Rows in another order than given, or with another previous value.
    """

    lost: int = 0
    missing: int = 0
    doubled: int = 0
    strange: int = 0
    altered: int = 0
    disordered: int = 0

    def __bool__(self) -> bool:
        return any(getattr(self, one.name) for one in fields(self))


def audit(
    given: Sequence[SentEntry], confirmed: Collection[str], rows: Sequence[StoredEntry]
) -> Audit:
    """Compare given entries with stored rows.

    Parameters
    ----------
    given : sequence of SentEntry
        In the order in which each person gave them.
    confirmed : collection of str
        Tokens of entries that were shown to their writer as saved.
    rows : sequence of Stored
        The history, oldest first.
    """
    by_token = {one.token: one for one in given}
    counts = Counter(row.token for row in rows)
    ours = [row for row in rows if row.token in by_token]
    return Audit(
        lost=sum(token not in counts for token in confirmed),
        missing=sum(token not in counts for token in by_token),
        doubled=sum(count - 1 for count in counts.values()),
        strange=len(rows) - len(ours),
        altered=sum(_is_altered(row, by_token[row.token]) for row in ours),
        disordered=_disordered(by_token, ours),
    )


def _cell(row: StoredEntry) -> Cell:
    return Cell(row.case or "", row.model or "", row.subject or "", row.picture, row.kind)


def _part(value: Mapping[str, Any] | None, names: Collection[str]) -> dict[str, Any]:
    return {name: (value or {}).get(name) for name in names}


def _is_altered(row: StoredEntry, given: SentEntry) -> bool:
    same = (row.person, _cell(row)) == (given.person, given.cell)
    return not same or _part(row.value, given.value) != given.value


def _disordered(given: Mapping[str, SentEntry], rows: Sequence[StoredEntry]) -> int:
    places = {token: place for place, token in enumerate(given)}
    by_cell: dict[tuple[str, Cell], list[StoredEntry]] = defaultdict(list)
    for row in rows:
        by_cell["" if row.kind in SHARED_KINDS else row.person, _cell(row)].append(row)
    wrong = 0
    for chain in by_cell.values():
        before: StoredEntry | None = None
        for row in chain:
            names = given[row.token].value
            late = before is not None and places[before.token] > places[row.token]
            previous = _part(before.value if before else None, names)
            wrong += late or _part(row.previous, names) != previous
            before = row
    return wrong

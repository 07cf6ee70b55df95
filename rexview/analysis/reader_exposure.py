"""Readers' exposure to more than a case's answers, and whether it was before they scored it.

Two kinds are recorded once for each person and case: the radiologist's report, requested while
scoring, and the case with its models named, opened on another page. The data come from the history.
The order of its rows, not a clock, determines what came first.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Final, Literal

import polars as pl

from rexview.store import Reviews, StoredEntry

ExposureTiming = Literal["before", "during", "after"]
REPORT_EXPOSURE: Final = "report"
UNBLINDED_EXPOSURE: Final = "unblinded"
"""The case was opened on a page that names its models."""
TASK_KINDS: Final = ("choose", "edit", "corrected", "prefer")
"""Kinds of reviews of a case besides scores."""
EXPOSURE_COLUMNS: Final = pl.Schema(
    {
        "case": pl.String(),
        "reader": pl.String(),
        "seen": pl.String(),
        "scoring": pl.String(),
        "accepted": pl.Boolean(),
        "created": pl.Datetime("us", "UTC"),
    }
)
"""Columns of the exported table."""


@dataclass(frozen=True)
class Exposure:
    """One exposure of a reader to a case, first at ``at`` (UTC).

    ``timing`` is before the reader's first score on the case (or without any score yet), during
    scoring, or after the last score. For readers without scores it refers to their answers,
    corrections or comparisons. ``accepted`` is true if the reader knew this and scored the case
    anyway.
    """

    case: str
    reader: str
    seen: str
    at: datetime
    timing: ExposureTiming
    accepted: bool = False


@dataclass(frozen=True)
class Exposures:
    """All exposures up to a row of the history. Immutable, see :meth:`after`.

    ``seen`` has the first row by reader, case and kind of exposure. ``scored`` has the ids of the
    first and the last row that gave or changed a score, by reader and case; comments do not count.
    ``worked`` has the same for :data:`TASK_KINDS`.
    """

    seen: Mapping[tuple[str, str, str], StoredEntry] = field(default_factory=dict)
    scored: Mapping[tuple[str, str], tuple[int, int]] = field(default_factory=dict)
    accepted: frozenset[tuple[str, str]] = frozenset()
    worked: Mapping[tuple[str, str], tuple[int, int]] = field(default_factory=dict)

    def after(self, rows: Iterable[StoredEntry]) -> Exposures:
        """Return the state after more rows of the history, oldest first."""
        seen, scored, accepted = dict(self.seen), dict(self.scored), set(self.accepted)
        worked = dict(self.worked)
        for row in rows:
            value, where = row.value or {}, (row.person, row.case or "")
            if row.kind == "score" and value.get("score") != (row.previous or {}).get("score"):
                scored[where] = (scored.get(where, (row.id, row.id))[0], row.id)
            elif row.kind in TASK_KINDS:
                worked[where] = (worked.get(where, (row.id, row.id))[0], row.id)
            elif (
                row.kind == "reveal"
                and row.case
                and value.get("what") in (REPORT_EXPOSURE, UNBLINDED_EXPOSURE)
            ):
                seen.setdefault((*where, value["what"]), row)
                if value.get("accepted"):
                    accepted.add(where)
        return Exposures(seen, scored, frozenset(accepted), worked)

    def of(self, reader: str, case: str, seen: str, *, finished: bool = True) -> Exposure | None:
        """Return a reader's first exposure of one kind to a case, None if there is none.

        ``finished`` is true if the reader has scored the case in full; else no exposure is "after".
        """
        row = self.seen.get((reader, case, seen))
        if row is None:
            return None
        given = self.scored.get((reader, case)) or self.worked.get((reader, case))
        first, last = given or (row.id + 1, row.id + 1)
        late = last > row.id or not finished
        timing: ExposureTiming = "before" if first > row.id else "during" if late else "after"
        accepted = seen == UNBLINDED_EXPOSURE and (reader, case) in self.accepted
        return Exposure(case, reader, seen, row.at, timing, accepted)

    def all(self, unfinished: pl.DataFrame) -> tuple[Exposure, ...]:
        """Return all exposures, oldest first.

        ``unfinished`` has the columns ``case`` and ``reader``, from
        :func:`rexview.stats.score_finals.list_unfinished_work`.
        """
        begun = set(unfinished.select("reader", "case").iter_rows())
        rows = sorted(self.seen.items(), key=lambda item: item[1].id)
        found = (self.of(*about, finished=about[:2] not in begun) for about, _ in rows)
        return tuple(one for one in found if one is not None)


def read_exposures(reviews: Reviews) -> Exposures:
    """Return all exposures in the history of a set.

    Raises
    ------
    StoreUnreachable, StoreBusy
    """
    if not reviews.history(kind="reveal", limit=1):
        return Exposures()
    rows = reviews.history(kind=("reveal", "score", *TASK_KINDS))
    return Exposures().after(rows[::-1])


def write_exposures(exposures: Iterable[Exposure], folder: Path) -> Path:
    """Write ``exposures.csv`` with the columns :data:`EXPOSURE_COLUMNS` into a folder."""
    rows = [(one.case, one.reader, one.seen, one.timing, one.accepted, one.at) for one in exposures]
    path = folder / "exposures.csv"
    pl.DataFrame(rows, schema=EXPOSURE_COLUMNS, orient="row").write_csv(path)
    return path

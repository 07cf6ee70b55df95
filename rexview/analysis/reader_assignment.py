"""Assignment of cases to first readers, and of a share of the cases to second readers.

A plan is computed before anything is written. It only adds to the current assignments. The same
cases, readers, share and seed give the same plan on every machine.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from rexview.analysis.query.study_tasks import draw_second_reader_cases, plain_hash
from rexview.store import Assignment

ReaderOrder = Literal["first", "second"]
FIRST_READER: Final[ReaderOrder] = "first"
SECOND_READER: Final[ReaderOrder] = "second"


@dataclass(frozen=True)
class NewAssignment:
    """A case for a reader, as first or second reader."""

    case: str
    reader: str
    order: ReaderOrder


@dataclass(frozen=True)
class AssignmentPlan:
    """The assignments to add to the current ones.

    ``uncovered`` has cases that were drawn for a second reader but have none, because only their
    own first reader was available.
    """

    first: tuple[NewAssignment, ...] = ()
    second: tuple[NewAssignment, ...] = ()
    uncovered: tuple[str, ...] = ()

    @property
    def added(self) -> tuple[NewAssignment, ...]:
        """All new assignments."""
        return (*self.first, *self.second)


def plan_assignments(
    strata: Mapping[str, str],
    assigned: Iterable[Assignment],
    *,
    first: Sequence[str],
    second: Sequence[str],
    share: float,
    seed: int,
) -> AssignmentPlan:
    """Return a plan that assigns cases to readers.

    Every case without a first reader gets one of ``first``. Then a share of all cases, drawn at
    random from each stratum in its proportion, gets one of ``second`` who is not already a reader
    of that case. Cases with a second reader count towards the share.

    The numbers of cases of the readers of one order differ by at most one, in all and within each
    stratum, as far as current assignments and eligible readers allow it.

    Parameters
    ----------
    strata : mapping of str to str
        The stratum of each case of the study, by case id.
    assigned : iterable of Assignment
        Current assignments.
    first, second : sequence of str
        Ids of readers. A reader may be in both, but is never both for one case. Empty adds none of
        that order.
    share : float
        Share of all cases that get a second reader, 0 to 1.
    seed : int
    """
    everyone: dict[str, set[str]] = {}
    loads: dict[ReaderOrder, _ReaderLoads] = {
        FIRST_READER: _ReaderLoads(strata, seed),
        SECOND_READER: _ReaderLoads(strata, seed),
    }
    orders: dict[str, set[str]] = {}
    for one in assigned:
        everyone.setdefault(one.case, set()).add(one.reader)
        orders.setdefault(one.case, set()).add(one.order)
        if one.case in strata:
            loads[SECOND_READER if one.order == SECOND_READER else FIRST_READER].add(
                one.case, one.reader
            )

    new_first = []
    for case in _shuffle_by_stratum(strata, strata, seed, "first"):
        free = [reader for reader in dict.fromkeys(first) if reader not in everyone.get(case, ())]
        if FIRST_READER not in orders.get(case, ()) and free:
            reader = loads[FIRST_READER].least(case, free)
            new_first.append(NewAssignment(case, reader, FIRST_READER))
            everyone.setdefault(case, set()).add(reader)
            orders.setdefault(case, set()).add(FIRST_READER)

    new_second, uncovered = [], []
    for case in _cases_needing_second(strata, orders, share, seed) if second else ():
        free = [reader for reader in dict.fromkeys(second) if reader not in everyone[case]]
        if free:
            new_second.append(
                NewAssignment(case, loads[SECOND_READER].least(case, free), SECOND_READER)
            )
        else:
            uncovered.append(case)
    return AssignmentPlan(tuple(new_first), tuple(new_second), tuple(uncovered))


def find_withdrawable(
    assigned: Iterable[Assignment], reader: str, begun: Collection[str], *, also_begun: bool = False
) -> tuple[NewAssignment, ...]:
    """Return a reader's assignments that can be withdrawn: those not ``begun``, or all.

    Scores that were given are kept.
    """
    return tuple(
        NewAssignment(
            one.case, reader, SECOND_READER if one.order == SECOND_READER else FIRST_READER
        )
        for one in assigned
        if one.reader == reader and (also_begun or one.case not in begun)
    )


class _ReaderLoads:
    """The numbers of cases of each reader, in all and by stratum."""

    def __init__(self, strata: Mapping[str, str], seed: int) -> None:
        self._strata, self._seed = strata, seed
        self._in_all: Counter[str] = Counter()
        self._of_stratum: Counter[tuple[str, str]] = Counter()

    def add(self, case: str, reader: str) -> None:
        self._in_all[reader] += 1
        self._of_stratum[reader, self._strata[case]] += 1

    def least(self, case: str, readers: Sequence[str]) -> str:
        """Assign a case to the reader with the fewest in its stratum, then in all, then by hash."""
        stratum = self._strata[case]
        chosen = min(
            readers,
            key=lambda reader: (
                self._of_stratum[reader, stratum],
                self._in_all[reader],
                plain_hash(self._seed, "deal", case, reader),
            ),
        )
        self.add(case, chosen)
        return chosen


def _cases_needing_second(
    strata: Mapping[str, str], orders: Mapping[str, Collection[str]], share: float, seed: int
) -> list[str]:
    """Return the cases that need a second reader: as many as each stratum's part still lacks."""
    drawn = draw_second_reader_cases(strata, share, seed=seed)
    has = {case for case in strata if SECOND_READER in orders.get(case, ())}
    lacking = Counter(strata[case] for case in drawn)
    lacking.subtract(strata[case] for case in has)
    wanting = []
    for case in _shuffle_by_stratum(drawn, strata, seed, "second reader"):
        if case not in has and FIRST_READER in orders.get(case, ()) and lacking[strata[case]] > 0:
            lacking[strata[case]] -= 1
            wanting.append(case)
    return wanting


def _shuffle_by_stratum(
    cases: Iterable[str], strata: Mapping[str, str], seed: int, about: str
) -> list[str]:
    """Sort by stratum, then by hash, so that readers' totals never differ by more than one case."""
    return sorted(cases, key=lambda case: (strata[case], plain_hash(seed, about, case)))

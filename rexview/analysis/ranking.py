"""Ranking of many models: the first and the last are shown, the rest on demand.

Every table and chart with a row or column for each model decides here which ones it shows first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

from rexview.words import tr

MAX_UNRANKED: Final = 10
"""Most things that are all shown, in their own order."""
SHOWN_AT_EACH_END: Final = 3
"""Number shown at first from each end of a longer ranking."""

_T = TypeVar("_T")


@dataclass(frozen=True)
class DisplayRanking(Generic[_T]):
    """Things (models or rows) in the order in which they are shown.

    Attributes
    ----------
    order : tuple
        All things.
    shown : tuple
        The things shown at first: all of few; of many the first and the last with a value.
    """

    order: tuple[_T, ...]
    shown: tuple[_T, ...]

    @property
    def is_cut(self) -> bool:
        """True if some are left out at first."""
        return len(self.shown) < len(self.order)

    def sentence(self, by: str) -> str:
        """Return a sentence on the ranking of many models and the drawn ones; empty for few.

        ``by`` names the number, for example "Content".
        """
        if not self.is_cut:
            return ""
        return tr(
            "Drawn: the first {first} and the last {last} of {n:,} models, ranked by {by}; the "
            "table on this page lists all."
        ).format(first=SHOWN_AT_EACH_END, last=SHOWN_AT_EACH_END, n=len(self.order), by=by)


def rank_for_display(
    things: Iterable[_T], value: Callable[[_T], float | None]
) -> DisplayRanking[_T]:
    """Rank things by a value, the highest first, where there are more than :data:`MAX_UNRANKED`.

    Those without a value come last, and are shown at first only where too few have one.

    >>> rank_for_display(range(12), float).shown
    (11, 10, 9, 2, 1, 0)
    >>> rank_for_display("ba", ord).order
    ('b', 'a')
    """
    given = tuple(things)
    if len(given) <= MAX_UNRANKED:
        return DisplayRanking(given, given)
    values = [value(one) for one in given]
    places = sorted(
        range(len(given)), key=lambda place: (values[place] is None, -(values[place] or 0.0))
    )
    known = sum(one is not None for one in values)
    if known < 2 * SHOWN_AT_EACH_END:
        shown = places[: 2 * SHOWN_AT_EACH_END]
    else:
        shown = [*places[:SHOWN_AT_EACH_END], *places[known - SHOWN_AT_EACH_END : known]]
    return DisplayRanking(
        tuple(given[place] for place in places), tuple(given[place] for place in shown)
    )


def rank_in_each_group(things: Iterable[_T]) -> DisplayRanking[_T]:
    """Return a ranking for the caption of a table in which each group has its own ranking."""
    return rank_for_display(things, lambda _: 0.0)

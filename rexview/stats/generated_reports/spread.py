"""How the values of a metric spread: what a box plot is drawn from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

_WHISKER: Final = 1.5
"""Whiskers reach the furthest value within so many interquartile ranges of the box (Tukey)."""


@dataclass(frozen=True)
class Spread:
    """Quartiles (linear between values), whiskers, extremes, and values beyond the whiskers."""

    n: int
    lowest: float
    whisker_low: float
    quarter: float
    median: float
    three_quarters: float
    whisker_high: float
    highest: float
    below: int
    above: int


def spread(values: NDArray[Any]) -> Spread | None:
    """Summarise values of shape (n,), all finite; None without any."""
    if not len(values):
        return None
    ordered = np.sort(np.asarray(values, dtype=np.float64))
    quarter, median, three_quarters = np.quantile(ordered, (0.25, 0.5, 0.75)).tolist()
    reach = _WHISKER * (three_quarters - quarter)
    inside = ordered[(ordered >= quarter - reach) & (ordered <= three_quarters + reach)]
    low, high = float(inside[0]), float(inside[-1])
    return Spread(
        n=len(ordered),
        lowest=float(ordered[0]),
        whisker_low=low,
        quarter=quarter,
        median=median,
        three_quarters=three_quarters,
        whisker_high=high,
        highest=float(ordered[-1]),
        below=int((ordered < low).sum()),
        above=int((ordered > high).sum()),
    )

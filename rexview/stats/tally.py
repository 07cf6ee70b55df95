"""How often each value occurs: all that a mean, a spread and an interval need to know."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from rexview.stats.bootstrap import RESAMPLES, Counts, Floats, Interval, mean_interval

NO_VALUE: Final = "No answer has a value."
ONE_VALUE: Final = "One value only: it has no spread and no interval."
_DIGITS: Final = 12
"""Values are counted as equal when they agree to this many digits: (5 + 4 + 4) / 3 is one value
however it was added up."""


@dataclass(frozen=True, eq=False)
class Tally:
    """Distinct values, ascending, and how often each occurs; both of shape (k,)."""

    values: Floats
    counts: Counts

    @property
    def n(self) -> int:
        """How many values there are."""
        return int(self.counts.sum())

    @cached_property
    def mean(self) -> float | None:
        """The mean; None without values."""
        return float(self.values @ self.counts / self.n) if self.n else None

    @cached_property
    def sd(self) -> float | None:
        """The sample standard deviation (n - 1); None below two values."""
        if self.mean is None or self.n < 2:
            return None
        squares = float(self.counts @ (self.values - self.mean) ** 2)
        return float(np.sqrt(squares / (self.n - 1)))

    @property
    def why(self) -> str | None:
        """Say in plain words why the mean or the spread is missing; None when neither is."""
        return {0: NO_VALUE, 1: ONE_VALUE}.get(self.n)

    def interval(self, resamples: int = RESAMPLES) -> Interval:
        """Work out the bootstrap interval of the mean; empty when no resamples are asked for."""
        return mean_interval(self.values, self.counts, resamples=resamples)

    def share(self, among: NDArray[np.bool_]) -> float | None:
        """Return the share, 0 to 1, of the values marked in a mask of shape (k,)."""
        return int(self.counts[among].sum()) / self.n if self.n else None

    def by_value(self) -> Mapping[float, int]:
        """Return the counts by value, ascending."""
        return dict(zip(self.values.tolist(), self.counts.tolist(), strict=True))


def tally(values: NDArray[Any]) -> Tally:
    """Count the values of an array of shape (n,), none of them nan."""
    rounded = np.round(np.asarray(values, dtype=np.float64), _DIGITS) + 0.0  # no negative zero
    distinct, counts = np.unique(rounded, return_counts=True)
    return Tally(distinct, counts.astype(np.int64))


def tallies(frame: pl.DataFrame) -> dict[str, Tally]:
    """Count the values of each model in a frame with columns ``model`` and ``value`` (no nulls)."""
    counted = (
        frame.group_by("model", (pl.col("value").round(_DIGITS) + 0.0).alias("value"))
        .len("n")
        .sort("model", "value")
    )
    return {
        str(model): Tally(rows["value"].to_numpy(), rows["n"].cast(pl.Int64).to_numpy())
        for (model,), rows in counted.group_by("model", maintain_order=True)
    }


NOTHING: Final = Tally(np.empty(0), np.empty(0, dtype=np.int64))
"""No values at all."""

"""Columns of words as columns of small numbers, which is what makes counting fast."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

Codes = npt.NDArray[Any]


@dataclass(frozen=True)
class Words:
    """One coded column: ``codes`` are places in ``values``; ``len(values)`` stands for none."""

    codes: Codes
    values: tuple[str, ...]

    def allowed(self, chosen: Sequence[str]) -> npt.NDArray[np.bool_]:
        """Say for each row whether its word is among the chosen ones."""
        table = np.zeros(len(self.values) + 1, dtype=np.bool_)
        places = {value: place for place, value in enumerate(self.values)}
        for word in chosen:
            if word in places:
                table[places[word]] = True
        return table[self.codes]


def _enum(column: pl.Series) -> pl.Enum:
    if not isinstance(column.dtype, pl.Enum):
        raise TypeError(f"{column.name} is not coded.")
    return column.dtype


def words_of(column: pl.Series) -> Words:
    """Turn an Enum column into codes."""
    values = tuple(_enum(column).categories.to_list())
    codes = column.to_physical().fill_null(len(values)).to_numpy()
    return Words(codes, values)


def coded(column: pl.Series, first: Sequence[str] = ()) -> pl.Series:
    """Turn a String column into an Enum: ``first`` in their order, then the rest by alphabet."""
    met = set(column.drop_nulls().unique().to_list())
    known = [word for word in first if word in met]
    return column.cast(pl.Enum([*known, *sorted(met - set(known), key=str.casefold)]))

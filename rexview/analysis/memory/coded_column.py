"""Columns of words as columns of small numbers, which is what makes counting fast."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

Codes = npt.NDArray[Any]
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class CodedColumn:
    """``codes`` are places in ``values``; ``len(values)`` stands for none."""

    codes: Codes
    values: tuple[str, ...]

    @classmethod
    def of(cls, column: pl.Series) -> CodedColumn:
        """Turn an Enum column into codes."""
        assert isinstance(column.dtype, pl.Enum)
        values = tuple(column.dtype.categories.to_list())
        return cls(column.to_physical().fill_null(len(values)).to_numpy(), values)

    def among(self, chosen: Sequence[str]) -> Mask:
        """Say for each row whether its word is among the chosen ones."""
        allowed = np.array([*(value in chosen for value in self.values), False])
        return np.asarray(allowed[self.codes])

    def counts(self, rows: Mask) -> Iterator[tuple[str, int]]:
        """Count each word in some rows."""
        counts = np.bincount(self.codes[rows], minlength=len(self.values) + 1)
        return zip(self.values, counts.tolist(), strict=False)


def enum_of(column: pl.Series, first: Sequence[str] = ()) -> pl.Series:
    """Turn a String column into an Enum: ``first`` in their order, then the rest by alphabet."""
    met = set(column.drop_nulls().unique().to_list())
    known = [word for word in first if word in met]
    rest = sorted(met - set(known), key=lambda word: (word.casefold(), word))
    return column.cast(pl.Enum([*known, *rest]))

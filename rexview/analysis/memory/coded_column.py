"""Columns of words as columns of small numbers, which is what makes counting fast."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import polars as pl

Codes = npt.NDArray[Any]
Mask = npt.NDArray[np.bool_]
_FEW: Final = 4
"""Up to so many words are compared one by one, which is faster than looking each code up."""
WORD_BITS: Final = 64
"""So many words of a column have a bit each in one number."""


@dataclass(frozen=True, eq=False)
class CodedColumn:
    """``codes`` are places in ``values``; ``len(values)`` stands for none."""

    codes: Codes
    values: tuple[str, ...]

    @classmethod
    def of(cls, column: pl.Series) -> CodedColumn:
        """Turn an Enum column into codes, of as few bytes as there are words."""
        assert isinstance(column.dtype, pl.Enum)
        values = tuple(column.dtype.categories.to_list())
        codes = column.to_physical().cast(pl.UInt32).fill_null(len(values)).to_numpy()
        return cls(codes.astype(np.min_scalar_type(len(values))), values)

    def among(self, chosen: Sequence[str]) -> Mask:
        """Say for each row whether its word is among the chosen ones."""
        places = [place for place, value in enumerate(self.values) if value in chosen]
        if len(places) > _FEW:
            allowed = np.zeros(len(self.values) + 1, dtype=np.bool_)
            allowed[places] = True
            return np.asarray(allowed[self.codes])
        found = np.zeros(len(self.codes), dtype=np.bool_)
        for place in places:
            found |= self.codes == place
        return found

    def counts(self, rows: Mask) -> Iterator[tuple[str, int]]:
        """Count each word in some rows."""
        counts = np.bincount(self.codes[rows], minlength=len(self.values) + 1)
        return zip(self.values, counts.tolist(), strict=False)

    def bits(self, first: int = 0) -> Codes:
        """Return one bit for each of the words from a place on, :data:`WORD_BITS` at most."""
        n = min(len(self.values) - first, WORD_BITS)
        kind = np.dtype(f"uint{next(size for size in (8, 16, 32, 64) if n <= size)}")
        bit_of = np.zeros(len(self.values) + 1, dtype=kind)
        bit_of[first : first + n] = [1 << place for place in range(n)]
        return np.asarray(bit_of[self.codes])

    def words(self, rows: Codes) -> pl.Series:
        """Return the words of some rows as an Enum column."""
        places = pl.Series(self.codes[rows])
        known = places.set(places >= len(self.values), None)
        words = pl.Series([*self.values, None], dtype=pl.Enum(self.values))
        return words.gather(known)


def bit_counts(bits: Codes) -> list[int]:
    """Count how often each bit is set in an array of unsigned numbers, the lowest bit first."""
    words = np.ascontiguousarray(bits).view(np.uint16).reshape(-1, bits.itemsize // 2)
    found: list[int] = []
    for word in words.T:
        counts = np.bincount(word, minlength=1 << 16)
        found += (int(counts.reshape(-1, 2, 1 << bit)[:, 1].sum()) for bit in range(16))
    return found


def enum_of(column: pl.Series, first: Sequence[str] = ()) -> pl.Series:
    """Turn a String column into an Enum: ``first`` in their order, then the rest by alphabet."""
    met = set(column.drop_nulls().unique().to_list())
    known = [word for word in first if word in met]
    rest = sorted(met - set(known), key=lambda word: (word.casefold(), word))
    return column.cast(pl.Enum([*known, *rest]))


def differs(coded: CodedColumn, n: int) -> bool:
    """Whether not all of the rows of a column have the same word, or none."""
    return n > 0 and bool((coded.codes != coded.codes[0]).any())


def pair_counts(rows: Codes, columns: Codes, n_rows: int, n_columns: int) -> npt.NDArray[np.int64]:
    """Count pairs of codes; codes of no word are left out."""
    pairs = rows.astype(np.int64) * (n_columns + 1) + columns
    counts = np.bincount(pairs, minlength=(n_rows + 1) * (n_columns + 1))
    return counts.reshape(-1, n_columns + 1)[:n_rows, :n_columns]


def named_counts(values: Sequence[str], counts: npt.NDArray[np.int64]) -> dict[str, int]:
    """Return the counts that are not 0 by word."""
    return {value: int(n) for value, n in zip(values, counts.tolist(), strict=True) if n}

"""Lists laid flat: every item of a list column in a row of its own, and back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa

from rexview.reviewset.tables.source_location import Positions


@dataclass(frozen=True)
class Flat:
    """The items of a list column.

    ``owner`` has the position in the column and ``index`` the place in its list, for each item;
    ``lengths`` has the number of items for each position of the column.
    """

    items: list[Any] | pl.Series
    owner: Positions
    index: Positions
    lengths: Positions

    @classmethod
    def of_lengths(cls, items: list[Any] | pl.Series, lengths: Positions) -> Flat:
        """Number the items of lists that have those lengths."""
        owner = np.repeat(np.arange(len(lengths), dtype=np.int64), lengths)
        starts = np.cumsum(lengths) - lengths
        return cls(items, owner, np.arange(len(owner), dtype=np.int64) - starts[owner], lengths)

    @classmethod
    def of_series(cls, lists: pl.Series) -> Flat:
        """Lay a list column flat; a null is an empty list."""
        lengths = lists.list.len().fill_null(0).cast(pl.Int64)
        items = lists.explode(empty_as_null=False, keep_nulls=False)
        return cls.of_lengths(items, lengths.to_numpy())

    def lists(self, items: pl.Series) -> pl.Series:
        """Put items, one for each of these, together into lists again."""
        offsets = np.concatenate([[0], np.cumsum(self.lengths)]).astype(np.int64)
        # pa.array() would import pandas, which takes longer than opening a small set
        starts = pa.Array.from_buffers(pa.int64(), len(offsets), [None, pa.py_buffer(offsets)])
        array = pa.LargeListArray.from_arrays(starts, items.rechunk().to_arrow())
        lists = pl.from_arrow(array)
        assert isinstance(lists, pl.Series)
        return lists.alias(items.name).cast(pl.List(items.dtype))

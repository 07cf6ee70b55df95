"""Parquet: one file, or a folder of parts that are read in the order of their names."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import polars as pl

from rexview.reviewset.chunk import Chunk
from rexview.reviewset.column import Table
from rexview.reviewset.problems import ProblemList
from rexview.reviewset.sources import TableSource


def read(source: TableSource, table: Table, problems: ProblemList) -> Iterator[Chunk]:
    """Read the parts, each as one chunk. A part that cannot be read is reported."""
    last = 0
    for part, path in enumerate(source.files):
        try:
            frame = pl.read_parquet(path, glob=False, hive_partitioning=False)
        except (pl.exceptions.PolarsError, OSError):
            problems.add(
                "error",
                source.part_label(part),
                "The file is damaged, or is not a Parquet file.",
                "Write it again.",
            )
            source.end_part(last)
            continue
        rows = np.arange(last + 1, last + 1 + frame.height, dtype=np.int64)
        columns: dict[str, list[object] | pl.Series] = {name: frame[name] for name in frame.columns}
        del frame
        yield Chunk(columns, rows, header=True)
        last += len(rows)
        source.end_part(last)

"""Parquet: one file, or a folder of parts that are read in the order of their names."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import numpy as np
import polars as pl

from rexview.reviewset.problems import ProblemList
from rexview.reviewset.sources import TableSource
from rexview.reviewset.tables.chunk import Chunk, too_many_columns
from rexview.reviewset.tables.column import Table

MAX_ROWS: Final = 5_000_000
"""Rows of one part."""


def read(source: TableSource, table: Table, problems: ProblemList) -> Iterator[Chunk]:
    """Read the parts, each as one chunk. A part that cannot be read is reported."""
    last = 0
    for part, path in enumerate(source.files):
        try:
            if _is_too_large(path, source.part_label(part), problems):
                source.end_part(last)
                continue
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


def _is_too_large(path: Path, label: str, problems: ProblemList) -> bool:
    """Look at what a part says about itself: a kilobyte can stand for any number of equal rows."""
    scan = pl.scan_parquet(path, glob=False, hive_partitioning=False)
    if too_many_columns(len(scan.collect_schema()), label, problems):
        return True
    rows = scan.select(pl.len()).collect().item()
    if rows <= MAX_ROWS:
        return False
    message = f"The file has {rows:,} rows, more than can be opened ({MAX_ROWS:,})."
    problems.add("error", label, message, "Divide it into several review sets.")
    return True

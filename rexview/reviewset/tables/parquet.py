"""Parquet parts of a table: what bounds them, and the next one read while one is worked on."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import pairwise
from math import inf
from pathlib import Path
from typing import Final

import polars as pl

from rexview.reviewset.tables.parquet_size import PartSizes, UnreadableError
from rexview.reviewset.tables.source import MAX_COLUMNS, TOO_MANY_COLUMNS, Part

MAX_ROWS: Final = 5_000_000
"""Rows of one Parquet part."""
READ_AHEAD_BYTES: Final = 64_000_000
"""Size of a Parquet part that may be read while the one before is still in memory."""


class ParquetParts:
    """The Parquet parts of a table.

    The next part is read while the one before is worked on, unless that would take much memory.
    """

    def __init__(self, parts: Sequence[Part], reader: ThreadPoolExecutor) -> None:
        self._reader = reader
        self._next = {one.path: two.path for one, two in pairwise(parts) if two.format == "parquet"}
        self._ahead: dict[Path, Future[pl.DataFrame]] = {}
        self._sizes = PartSizes()

    def read(self, path: Path) -> pl.DataFrame:
        """Read a part, and begin with the next."""
        reading = self._ahead.pop(path, None) or self._reader.submit(
            _parquet_part, path, self._sizes
        )
        try:
            return reading.result()
        finally:
            following = self._next.get(path)
            if following and _size(following) <= READ_AHEAD_BYTES:
                self._ahead[following] = self._reader.submit(_parquet_part, following, self._sizes)


def _size(path: Path) -> float:
    try:
        return path.stat().st_size
    except OSError:  # which is told when its turn comes
        return inf


def _parquet_part(path: Path, sizes: PartSizes) -> pl.DataFrame:
    try:
        sizes.add(path)
        scan = pl.scan_parquet(path, glob=False, hive_partitioning=False)
        if len(scan.collect_schema()) > MAX_COLUMNS:
            raise UnreadableError(*TOO_MANY_COLUMNS)
        rows = scan.select(pl.len()).collect().item()
        if rows <= MAX_ROWS:
            return pl.read_parquet(path, glob=False, hive_partitioning=False)
    except (pl.exceptions.PolarsError, OSError):
        message = "The file is damaged, or is not a Parquet file."
        raise UnreadableError(message, "Write it again.") from None
    message = f"The file has {rows:,} rows, more than can be opened ({MAX_ROWS:,})."
    raise UnreadableError(message, "Divide it into several review sets.")

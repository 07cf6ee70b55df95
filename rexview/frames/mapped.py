"""Arrow files as tables: mapped into memory, which has of them what is asked for.

What was read of a mapped file counts as memory of this process until the system needs it. After
something that went through all of it, such as a search, it is let go at once: the system still has
the file's pages, and the next reader gets them from there.
"""

from __future__ import annotations

import mmap
from collections.abc import Callable
from pathlib import Path
from typing import Final
from weakref import WeakSet

import polars as pl
import pyarrow as pa

_MAPS: Final[WeakSet[mmap.mmap]] = WeakSet()
"""The files that some table still needs."""
_SLICE: Final = 100_000
"""Rows that a thread takes at a time."""


def mapped(path: Path) -> pl.DataFrame:
    """Map an uncompressed Arrow file.

    Raises
    ------
    OSError, ValueError, pyarrow.ArrowException
        There is no such file, or it is not one.
    """
    with path.open("rb") as file:
        pages = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    frame = pl.from_arrow(pa.ipc.open_file(pa.py_buffer(pages)).read_all())
    assert isinstance(frame, pl.DataFrame)
    _MAPS.add(pages)
    return frame


def of_all_rows(frame: pl.DataFrame, asked: Callable[[pl.LazyFrame], pl.LazyFrame]) -> pl.DataFrame:
    """Ask something of all rows of a table, a slice at a time, and let go of what was read.

    Slices go to all cores. Asked of the whole, columns that are in several pieces would be copied.
    """
    starts = range(0, max(1, len(frame)), _SLICE)
    found = pl.concat(pl.collect_all([asked(frame.lazy().slice(at, _SLICE)) for at in starts]))
    let_go()
    return found


def let_go() -> None:
    """Give back the memory of what was read of mapped files; nothing that is in use is lost."""
    if hasattr(mmap, "MADV_DONTNEED"):
        for pages in list(_MAPS):
            # nothing was ever written into these pages, so that all of them stand in the file
            pages.madvise(mmap.MADV_DONTNEED)

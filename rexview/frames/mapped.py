"""Arrow files as tables: mapped into memory, which has of them what is asked for.

What was read of a mapped file counts as memory of this process until the system needs it. After
something that went through all of it, such as a search, it is let go at once: the system still has
the file's pages, and the next reader gets them from there.
"""

from __future__ import annotations

import io
import mmap
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, Final
from weakref import WeakSet

import numpy as np
import numpy.typing as npt
import polars as pl

_MAPS: Final[WeakSet[mmap.mmap]] = WeakSet()
"""The files that some table still needs."""
_SLICE: Final = 100_000
"""Rows that a thread takes at a time."""
_MEMORY: Final = Path("/proc/self/statm")
_MUCH: Final = 400_000_000
"""Bytes of mapped files, libraries too, that a process may hold before it lets go of tables."""


def mapped(path: Path) -> pl.DataFrame:
    """Map an uncompressed Arrow file.

    Raises
    ------
    OSError, ValueError
        There is no such file, or it is not one.
    """
    import pyarrow as pa  # takes 30 MB: only where a large set is kept

    with path.open("rb") as file:
        pages = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    try:
        frame = pl.from_arrow(pa.ipc.open_file(pa.py_buffer(pages)).read_all())
    except pa.ArrowException as error:
        raise ValueError(str(error)) from error
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


def some_rows(frame: pl.DataFrame, rows: npt.NDArray[np.integer[Any]]) -> pl.DataFrame:
    """Return some rows of a table in the order given, without the texts that they stand among.

    Rows that polars gathers refer to the memory of the whole column, and take all of it along to
    another process; and of a column in many pieces it makes one piece first.
    """
    if not len(rows):
        return frame.clear()
    slices = rows // _SLICE
    order = np.argsort(slices, kind="stable")
    parts = []
    for own in np.split(order, np.flatnonzero(np.diff(slices[order])) + 1):
        start = int(slices[own[0]]) * _SLICE
        parts.append(frame.slice(start, _SLICE)[rows[own].astype(np.int64) - start])
    found = pl.concat(parts)[np.argsort(order)] if len(parts) > 1 else parts[0]
    # the older layout of Arrow has texts without those beside them
    copy = io.BytesIO()
    found.write_ipc(copy, compat_level=pl.CompatLevel.oldest())
    copy.seek(0)
    let_go_of_much()
    return pl.read_ipc(copy)


def let_go_of_much() -> None:
    """Give back what was read of mapped files, if it has grown to much.

    For what reads here and there: around each place that is read, the system maps up to megabytes.
    """
    with suppress(OSError):  # where the system does not tell, it is left to the system
        shared = int(_MEMORY.read_text("ascii").split()[2]) * mmap.PAGESIZE
        if shared > _MUCH:
            let_go()


def let_go() -> None:
    """Give back the memory of what was read of mapped files; nothing that is in use is lost."""
    if hasattr(mmap, "MADV_DONTNEED"):
        for pages in list(_MAPS):
            # nothing was ever written into these pages, so that all of them stand in the file
            pages.madvise(mmap.MADV_DONTNEED)

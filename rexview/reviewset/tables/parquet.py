"""Read Parquet parts of a table within limits, the next one while one is processed."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import pairwise
from math import inf
from pathlib import Path
from typing import IO, Any, Final

import polars as pl

from rexview.reviewset.tables.source import MAX_COLUMNS, TOO_MANY_COLUMNS, TablePart

# Count the memory that a Parquet file takes before it is read.
#
# A kilobyte of Parquet can contain any number of values: pages are compressed, and a text stored
# once in a dictionary may be repeated in every row. The sizes in a file's footer are not trusted.
# Readers obey the header of each page, so these headers are counted. The lengths of repeated texts
# are added up through the dictionary, which stays small.
#
# Source: https://github.com/apache/parquet-format, ``parquet.thrift`` (page headers, Thrift's
# compact protocol) and ``Encodings.md``.

MAX_UNFOLDED_BYTES: Final = 4_000_000_000
"""Limit in bytes for one part of a table in memory."""
MAX_RATIO: Final = 1000
"""Maximum ratio of size in memory to file size, beyond :data:`RATIO_MATTERS_FROM`."""
RATIO_MATTERS_FROM: Final = 256_000_000
MAX_VALUES: Final = 400_000_000
"""Maximum number of values in all columns of a part, including those of lists."""
_MAX_PAGES: Final = 500_000
_MAX_FOOTER_BYTES: Final = 64_000_000
_MAX_HEADER_BYTES: Final = 16_000_000
_FIRST_WINDOW: Final = 256
_BATCH_ROWS: Final = 16_384
_DATA_PAGE, _DICTIONARY_PAGE, _DATA_PAGE_V2 = 0, 2, 3
_BY_DICTIONARY: Final = (2, 8)
_BY_PREFIX: Final = 7
_BYTES_OF: Final = {"BOOLEAN": 1, "INT32": 4, "INT64": 8, "INT96": 12, "FLOAT": 4, "DOUBLE": 8}
_DIVIDE: Final = "Divide it into several files, or leave out what is not needed."
_DAMAGED: Final = "The file is damaged, or is not a Parquet file."
_PLACE_BYTES: Final = 4
"""Per value: its position in lists, or its index in a dictionary."""


class UnreadableError(Exception):
    """The reason why a Parquet file is not read, and the remedy."""

    def __init__(self, message: str, remedy: str) -> None:
        super().__init__(message)
        self.message, self.remedy = message, remedy


@dataclass
class _Column:
    """Totals of one column's page headers, over all its row groups."""

    width: int | None
    values: int = 0
    page_bytes: int = 0
    repeated: int = 0
    """Upper limit in bytes of texts that pages repeat from a dictionary."""
    has_prefixes: bool = False
    longest_dictionary: int = 0


@dataclass
class _Pages:
    """The columns of a file by path, while their pages are counted."""

    columns: dict[str, _Column] = field(default_factory=dict)
    pages: int = 0


def check_parquet(
    path: Path, *, most_bytes: int = MAX_UNFOLDED_BYTES, most_cells: int = MAX_VALUES
) -> int:
    """Return the number of bytes that a Parquet file takes in memory.

    Parameters
    ----------
    path : Path
    most_bytes : int
        Limit in bytes of memory; a larger file is refused.
    most_cells : int
        Limit for rows times columns; a larger file is refused.

    Raises
    ------
    UnreadableError
        It would take too much memory, is damaged, or cannot be read.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        packed = path.stat().st_size
        most = min(most_bytes, max(MAX_RATIO * packed, RATIO_MATTERS_FROM))
        with path.open("rb") as file:
            _check_footer(file, packed)
            about = pq.read_metadata(path)
            if about.num_columns > MAX_COLUMNS:
                raise UnreadableError(*TOO_MANY_COLUMNS)
            if about.num_rows * about.num_columns > most_cells:
                message = f"The table has more than {most_cells:,} cells."
                raise UnreadableError(message, _DIVIDE)
            found = _count_pages(file, about)
        _check_values(found)
        certain = sum(map(_known_bytes, found.columns.values()))
        possible = certain + sum(one.repeated for one in found.columns.values())
        if certain > most:
            raise _too_large(most)
        if possible <= most:
            return possible
        prefixed = [name for name, one in found.columns.items() if one.has_prefixes]
        if prefixed:
            message = f"The texts of {prefixed[0]} are written as changes of the one before."
            raise UnreadableError(message, "Write it again without DELTA_BYTE_ARRAY.")
        doubtful = [name for name, one in found.columns.items() if one.repeated]
        return _add_repeated_texts(path, doubtful, certain, most)
    except pa.ArrowNotImplementedError:  # lists whose texts are only partly in a dictionary
        message = "The texts that the file repeats cannot be counted."
        raise UnreadableError(message, "Write it again without dictionaries.") from None
    except (pa.ArrowException, OSError, UnicodeDecodeError, _Damaged):
        raise UnreadableError(_DAMAGED, "Write it again.") from None


class PartSizes:
    """The parts of one table so far: together they may take no more memory than one file may."""

    def __init__(self) -> None:
        self._packed = self._unfolded = 0

    def add(self, path: Path) -> None:
        """Count one more part.

        Raises
        ------
        UnreadableError
            It, or all parts together, would take too much memory.
        """
        self._unfolded += check_parquet(path)
        self._packed += path.stat().st_size
        most = max(MAX_RATIO * self._packed, RATIO_MATTERS_FROM)
        if self._unfolded > most:
            raise _too_large(most)


def _too_large(most: int) -> UnreadableError:
    size = f"{most / 1e9:g} GB" if most >= 1e9 else f"{most / 1e6:,.0f} MB"
    return UnreadableError(f"The table would take more than {size} of memory, unpacked.", _DIVIDE)


def _check_footer(file: IO[bytes], size: int) -> None:
    file.seek(max(0, size - 8))
    end = file.read(8)
    if len(end) < 8 or end[4:] != b"PAR1":
        raise _Damaged
    if int.from_bytes(end[:4], "little") > _MAX_FOOTER_BYTES:
        raise UnreadableError("The file has far too many row groups.", _DIVIDE)


def _check_values(found: _Pages) -> None:
    if sum(one.values for one in found.columns.values()) > MAX_VALUES:
        raise UnreadableError(f"The file holds more than {MAX_VALUES:,} values.", _DIVIDE)


def _known_bytes(column: _Column) -> int:
    """Return the bytes of a column's unpacked pages or values, plus the place of each value."""
    of_values = column.values * (column.width or 0)
    return max(column.page_bytes, of_values) + column.values * _PLACE_BYTES


def _count_pages(file: IO[bytes], about: Any) -> _Pages:
    found = _Pages()
    for group in range(about.num_row_groups):
        for number in range(about.num_columns):
            chunk, kind = about.row_group(group).column(number), about.schema.column(number)
            if chunk.physical_type == "FIXED_LEN_BYTE_ARRAY":
                width: int | None = kind.length
            else:
                width = _BYTES_OF.get(chunk.physical_type)
            column = found.columns.setdefault(chunk.path_in_schema, _Column(width))
            starts = (chunk.dictionary_page_offset, chunk.data_page_offset)
            start = min(one for one in starts if one)
            _count_chunk(file, start, start + chunk.total_compressed_size, column, found)
    return found


def _count_chunk(file: IO[bytes], at: int, end: int, column: _Column, found: _Pages) -> None:
    column.longest_dictionary = 0
    while at < end:
        header, length = _page_header(file, at)
        kind, unpacked, packed = (_header_size(header.get(number)) for number in (1, 2, 3))
        at += length + packed
        found.pages += 1
        column.page_bytes += unpacked
        if kind == _DICTIONARY_PAGE:
            column.longest_dictionary = max(column.longest_dictionary, unpacked)
        elif kind in (_DATA_PAGE, _DATA_PAGE_V2):
            of_page = header.get(5 if kind == _DATA_PAGE else 8)
            if not isinstance(of_page, dict):
                raise _Damaged
            values = _header_size(of_page.get(1))
            encoding = of_page.get(2 if kind == _DATA_PAGE else 4)
            column.values += values
            if column.width is None and encoding in _BY_DICTIONARY:
                column.repeated += values * column.longest_dictionary
            elif column.width is None and encoding == _BY_PREFIX:
                column.repeated += values * unpacked
                column.has_prefixes = True
        if found.pages > _MAX_PAGES:
            raise UnreadableError("The file has far too many pages.", _DIVIDE)


def _header_size(value: Any) -> int:
    """Return a number of bytes or values from a header; a hostile one may be anything."""
    if not isinstance(value, int) or value < 0:
        raise _Damaged
    return value


def _add_repeated_texts(path: Path, columns: list[str], certain: int, most: int) -> int:
    """Add the lengths of texts that dictionaries repeat to ``certain``, without making them.

    Raises
    ------
    UnreadableError
        They are more than ``most``.
    """
    import pyarrow.parquet as pq

    total = certain
    with pq.ParquetFile(path, read_dictionary=columns) as content:
        for group in range(content.num_row_groups):  # each has dictionaries of its own
            how = {"row_groups": [group], "columns": columns, "use_threads": False}
            for batch in content.iter_batches(_BATCH_ROWS, **how):
                total += sum(map(_text_bytes, batch.columns))
                if total > most:
                    raise _too_large(most)
    return total


def _text_bytes(array: Any) -> int:
    """Return the length of all texts of an array, including those in lists and structs."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if isinstance(array, pa.DictionaryArray):
        lengths = pc.cast(pc.binary_length(array.dictionary), pa.int64())
        return pc.sum(pc.take(lengths, array.indices)).as_py() or 0
    if isinstance(array, pa.MapArray):
        return _text_bytes(array.keys) + _text_bytes(array.items)
    if isinstance(array, pa.StructArray):
        return sum(map(_text_bytes, array.flatten()))
    if isinstance(array, pa.ListArray | pa.LargeListArray | pa.FixedSizeListArray):
        return _text_bytes(array.flatten())
    return int(array.nbytes)


class _Damaged(Exception):
    """A page header that cannot be parsed."""


class _TooShort(Exception):
    """The header continues beyond the bytes that were read."""


def _page_header(file: IO[bytes], at: int) -> tuple[dict[int, Any], int]:
    """Return the fields of the page header at a position by their numbers, and its length."""
    window = _FIRST_WINDOW
    while window <= _MAX_HEADER_BYTES:
        file.seek(at)
        content = file.read(window)
        reader = _CompactReader(content)
        try:
            return reader.struct(0), reader.at
        except _TooShort:
            if len(content) < window:
                raise _Damaged from None
            window *= 16
    raise _Damaged


class _CompactReader:
    """Read one struct of Thrift's compact protocol; whole numbers and structs are kept."""

    _MAX_DEPTH: Final = 8

    def __init__(self, content: bytes) -> None:
        self._content, self.at = content, 0

    def struct(self, depth: int) -> dict[int, Any]:
        """Return the fields of a struct by their numbers."""
        if depth > self._MAX_DEPTH:
            raise _Damaged
        found: dict[int, Any] = {}
        number = 0
        while (head := self._byte()) != 0:
            step, kind = head >> 4, head & 15
            number = number + step if step else self._whole()
            found[number] = self._value(kind, depth)
        return found

    def _value(self, kind: int, depth: int) -> Any:
        if kind in (1, 2):
            return kind == 1
        if kind == 3:
            return self._byte()
        if kind in (4, 5, 6):
            return self._whole()
        if kind in (7, 8):
            self._skip(8 if kind == 7 else self._plain())
            return None
        if kind == 12:
            return self.struct(depth + 1)
        raise _Damaged  # page headers have no lists, sets or maps

    def _byte(self) -> int:
        if self.at >= len(self._content):
            raise _TooShort
        self.at += 1
        return self._content[self.at - 1]

    def _plain(self) -> int:
        value = shift = 0
        while True:
            one = self._byte()
            value |= (one & 127) << shift
            shift += 7
            if one < 128:
                return value
            if shift > 63:
                raise _Damaged

    def _whole(self) -> int:
        value = self._plain()
        return (value >> 1) ^ -(value & 1)

    def _skip(self, count: int) -> None:
        self.at += count
        if self.at > len(self._content):
            raise _TooShort


MAX_ROWS: Final = 5_000_000
"""Maximum number of rows of one Parquet part."""
READ_AHEAD_BYTES: Final = 64_000_000
"""Maximum size of a Parquet part that is read while the previous one is still in memory."""


class ParquetParts:
    """The Parquet parts of a table.

    The next part is read while one is processed, unless that would take much memory.
    """

    def __init__(self, parts: Sequence[TablePart], reader: ThreadPoolExecutor) -> None:
        self._reader = reader
        self._next = {one.path: two.path for one, two in pairwise(parts) if two.format == "parquet"}
        self._ahead: dict[Path, Future[pl.DataFrame]] = {}
        self._sizes = PartSizes()

    def read(self, path: Path) -> pl.DataFrame:
        """Read a part, and start reading the next."""
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
    except OSError:  # reported when its turn comes
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

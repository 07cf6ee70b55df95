"""Tables out of files that have records of their own: JSON, JSON Lines and Parquet."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Mapping
from datetime import date, time, timedelta
from decimal import Decimal
from pathlib import Path, PurePosixPath
from typing import Any, Final
from uuid import UUID

from rexview.bounded import file_name
from rexview.reviewset.importers.core.problem_log import ProblemLog
from rexview.reviewset.importers.core.source_files import (
    MAX_BYTES,
    MAX_CELLS,
    json_lines,
    read_json,
    read_text,
)
from rexview.reviewset.importers.table.structured.json_records import (
    Records,
    TooManyCells,
    tables_of,
)
from rexview.reviewset.importers.table.structured.model_logs import is_batch, is_harness_sample
from rexview.reviewset.importers.table.workbook import text_of_cell
from rexview.reviewset.json_text import JsonError
from rexview.reviewset.tables.parquet_size import UnreadableError, check_parquet

JSON_SUFFIXES: Final = (".json", ".jsonl", ".ndjson")
PARQUET_SUFFIXES: Final = (".parquet",)
_ROWS_AT_A_TIME: Final = 256
TOO_MANY_CELLS: Final = (
    f"The table has more than {MAX_CELLS:,} cells.",
    "Split it into several files, or leave out columns that are not needed.",
)
_ONE_A_LINE: Final = "Write one complete JSON object on each line."
_KINDS: Final = ((is_batch, "a batch of requests"), (is_harness_sample, "samples of lm-eval"))


def read_json_tables(
    path: Path, log: ProblemLog, file: str, pictures: Pictures, max_rows: int | None = None
) -> list[Records]:
    """Read the tables of a JSON or JSON Lines file; log an error where there are none.

    Pictures inside go to ``pictures``.
    """
    text = read_text(path, log, save_as="UTF-8", label=file)
    if text is None:
        return []
    text = text.lstrip("\ufeff")
    if not text.strip():
        log.error(file, "The file is empty.", "Give the file that holds the data.")
        return []
    try:
        if _is_json_lines(text):
            found = [_json_lines(file, text, log, max_rows)]
        else:
            value = read_json(path, log, file)
            if value is None:
                return []
            entries = [*value.values()] if isinstance(value, dict) else value
            _note_kind(file, entries[0] if isinstance(entries, list) and entries else None, log)
            found = tables_of(value)
    except TooManyCells:
        log.error(file, *TOO_MANY_CELLS)
        return []
    found = [table for table in found if table.records]
    for table in found:
        for number, record in zip(table.numbers, table.records, strict=True):
            for name, value in record.items():
                record[name] = pictures.taken_out(value, number)
    if not found and not log.has_errors:
        message = "The file has no list or object of records that could be rows of a table."
        log.error(file, message, "Give a list of objects, one for each answer or case.")
    return found


def _is_json_lines(text: str) -> bool:
    """Whether the first line is a whole object and another one follows."""
    first, _, rest = text.lstrip().partition("\n")
    if not first.startswith("{") or not rest.lstrip().startswith("{"):
        return False
    try:
        return isinstance(json.loads(first), dict)
    except (ValueError, RecursionError):
        return False


def _json_lines(file: str, text: str, log: ProblemLog, max_rows: int | None) -> Records:
    """Read one entry a line; numbers are those of lines."""
    found = Records()
    for number, entry in json_lines(text, file, log):
        if isinstance(entry, JsonError):
            found.unread.append((number, f"The line is not JSON: {entry}."))
            log.warning(file, f"The line is not JSON: {entry}.", _ONE_A_LINE, row=number)
            continue
        _note_kind(file, entry, log)
        found.add(entry, number)
        if max_rows is not None and len(found.records) >= max_rows:
            break
    return found


def _note_kind(file: str, entry: Any, log: ProblemLog) -> None:
    for kind in (kind for test, kind in _KINDS if test(entry)):
        log.note(f"{file}: read as {kind}.")


def read_parquet_table(
    path: Path, log: ProblemLog, file: str, pictures: Pictures, max_rows: int | None = None
) -> list[Records]:
    """Read a Parquet file as records; its numbers are those of rows.

    Pictures inside go to ``pictures``. Whole numbers that stand for classes in a Hugging Face file
    become the classes' names.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    found = Records()
    try:
        check_parquet(path, most_bytes=path.stat().st_size + MAX_BYTES, most_cells=MAX_CELLS)
        with pq.ParquetFile(path) as content:
            classes = _class_names(content.schema_arrow.metadata)
            for batch in content.iter_batches(_ROWS_AT_A_TIME):
                for record in batch.to_pylist():
                    number = len(found.numbers) + len(found.unread) + 1
                    found.add(_plain_record(record, number, classes, pictures), number)
                if max_rows is not None and len(found.records) >= max_rows:
                    break
    except UnreadableError as error:
        log.error(file, error.message, error.remedy)
        return []
    except TooManyCells:
        log.error(file, *TOO_MANY_CELLS)
        return []
    except (pa.ArrowException, OSError, UnicodeDecodeError):
        log.error(file, "The file is damaged, or is not a Parquet file.", "Write it again.")
        return []
    if not found.records:
        log.error(file, "The table is empty.", "Give a table with rows.")
        return []
    return [found]


def _plain_record(
    record: dict[str, Any], number: int, classes: Mapping[str, list[str]], pictures: Pictures
) -> dict[str, Any]:
    plain = {name: pictures.taken_out(_plain(value), number) for name, value in record.items()}
    for name, names in classes.items():
        value = plain.get(name)
        if isinstance(value, int) and 0 <= value < len(names):
            plain[name] = names[value]
    return plain


def _plain(value: Any) -> Any:
    """Return a value of Parquet as one of JSON: dates as text, maps as objects."""
    if isinstance(value, date | time):
        return text_of_cell(value)
    if isinstance(value, Decimal | timedelta | UUID):
        return str(value)
    if isinstance(value, list):
        return [_plain(one) for one in value]
    if isinstance(value, Mapping):
        return {name: _plain(one) for name, one in value.items()}
    return value


def _class_names(metadata: Mapping[bytes, bytes] | None) -> dict[str, list[str]]:
    """Return the names of classes by column, as Hugging Face's ``datasets`` writes them."""
    try:
        features = json.loads((metadata or {}).get(b"huggingface", b"{}"))["info"]["features"]
        return {
            name: list(map(str, one["names"]))
            for name, one in features.items()
            if one.get("_type") == "ClassLabel"
        }
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return {}


MAX_PICTURE_BYTES: Final = 200_000_000
"""Bytes of one picture."""
_MAGIC: Final = (
    (0, b"\x89PNG", ".png"),
    (0, b"\xff\xd8\xff", ".jpg"),
    (8, b"WEBP", ".webp"),
    (0, b"GIF8", ".gif"),
    (0, b"BM", ".bmp"),
    (0, b"II*\x00", ".tif"),
    (0, b"MM\x00*", ".tif"),
    (128, b"DICM", ".dcm"),
)
_BASE64: Final = ("iVBORw0KGgo", "/9j/", "UklGR")
_SHORTEST: Final = 100


class Pictures:
    """Takes pictures out of values and leaves their paths; writes them where a folder is given.

    ``files`` has the file of each path.
    """

    def __init__(self, folder: Path | None) -> None:
        self.folder = folder
        self.files: dict[str, Path] = {}
        self._count = 0

    def taken_out(self, value: Any, row: int) -> Any:
        """Return a value of a row with paths for pictures, also inside lists and objects."""
        if isinstance(value, bytes):
            return self._kept(value, row, None)
        if isinstance(value, str):
            content = _decoded(value)
            return value if content is None else self._kept(content, row, None)
        if isinstance(value, list | tuple):
            return [self.taken_out(one, row) for one in value]
        if isinstance(value, Mapping):
            content = value.get("bytes")
            if isinstance(content, bytes) and value.keys() <= {"bytes", "path"}:
                return self._kept(content, row, value.get("path"))
            if value.keys() == {"bytes", "path"}:
                return value["path"]
            return {name: self.taken_out(one, row) for name, one in value.items()}
        return value

    def _kept(self, content: bytes, row: int, path: Any) -> str:
        """Keep a picture; what is none becomes a word on its size."""
        ending = next((end for at, magic, end in _MAGIC if content.startswith(magic, at)), None)
        if ending is None or len(content) > MAX_PICTURE_BYTES:
            return f"{len(content):,} bytes"
        stem = PurePosixPath(file_name(str(path))).stem if path else "picture"
        name = f"{row:06}_{stem}{ending}"
        while name in self.files:
            self._count += 1
            name = f"{row:06}_{stem}_{self._count}{ending}"
        self.files[name] = Path(name)
        if self.folder is not None:
            self.folder.mkdir(parents=True, exist_ok=True)
            self.files[name] = self.folder / name
            self.files[name].write_bytes(content)
        return name


def _decoded(text: str) -> bytes | None:
    """Return the bytes of a picture that a text holds as base64 or as a data address."""
    if len(text) < _SHORTEST:
        return None
    if text.startswith("data:image/"):
        text = text.partition(",")[2]
    elif not text.startswith(_BASE64):
        return None
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return None

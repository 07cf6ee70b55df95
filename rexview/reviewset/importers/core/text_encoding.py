"""The bytes of a text file, and which encoding they are in."""

from __future__ import annotations

import codecs
from pathlib import Path
from typing import Final

from rexview.bounded import read_file
from rexview.errors import FileRefused
from rexview.reviewset.importers.core.problem_log import ProblemLog

_MARKS: Final = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


def read_source(path: Path, most_bytes: int, log: ProblemLog) -> bytes | None:
    """Read a source file; log an error and return None when it is none, or too large."""
    try:
        return read_file(path, most_bytes)
    except FileRefused as refusal:
        log.error(path.name, str(refusal), "Give a file, or split it into several ones.")
    except OSError as error:
        message = f"The file cannot be read: {error.strerror or error}."
        log.error(path.name, message, "See to it that the app may read it.")
    return None


def sniff_encoding(data: bytes) -> str:
    """Name the encoding of a whole file's bytes.

    A byte order mark decides; without one, zero bytes in every second place mean UTF-16, bytes
    that are valid UTF-8 mean UTF-8, and anything else is taken for Windows-1252, the usual
    encoding of spreadsheets saved as CSV in Western Europe and America.

    Returns
    -------
    str
        ``utf-8``, ``utf-8-sig``, ``utf-16``, ``utf-16-le``, ``utf-16-be`` or ``cp1252``.
    """
    for mark, name in _MARKS:
        if data.startswith(mark):
            return name
    start = data[:4096]
    if len(start) >= 4:
        half = len(start) // 2
        if start[1::2].count(0) > half * 0.6:
            return "utf-16-le"
        if start[0::2].count(0) > half * 0.6:
            return "utf-16-be"
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return "cp1252"
    return "utf-8"


def decode(data: bytes) -> tuple[str, str]:
    """Return the text of a whole file's bytes, and the encoding it was in.

    Bytes that the encoding does not define become the replacement character.
    """
    encoding = sniff_encoding(data)
    return data.decode(encoding, "replace"), encoding

"""What a file is, by its content alone: its first bytes, then its JSON keys, columns and lines."""

from __future__ import annotations

import csv
import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from rexview.bounded import check_file
from rexview.reviewset.importers.core.source_files import sniff_encoding
from rexview.reviewset.json_text import is_too_deep

_HEAD: Final = 262_144
_WHOLE_JSON: Final = 60_000_000
"""JSON up to that many bytes is parsed to see what it is; of longer files the beginning is."""
_LOOKED_AT: Final = 50
_SEP_LINE: Final = 5
"""Length of Excel's first line ``sep=;``, which names the delimiter."""
_BY_MAGIC: Final[dict[str, tuple[Any, ...]]] = {
    "png": ("PNG picture", 0, b"\x89PNG\r\n\x1a\n"),
    "jpeg": ("JPEG picture", 0, b"\xff\xd8\xff"),
    "gif": ("GIF picture", 0, b"GIF87a", b"GIF89a"),
    "tiff": ("TIFF picture", 0, b"II*\x00", b"MM\x00*", b"II+\x00", b"MM\x00+"),
    "jpeg2000": ("JPEG 2000 picture", 0, b"\x00\x00\x00\x0cjP  ", b"\xff\x4f\xff\x51"),
    "webp": ("WebP picture", 8, b"WEBP"),
    "dicom": ("DICOM file", 128, b"DICM"),
    "parquet": ("Parquet table", 0, b"PAR1"),
    "pdf": ("PDF document", 0, b"%PDF"),
    "gzip": ("gzip archive", 0, b"\x1f\x8b"),
    "bzip2": ("bzip2 archive", 0, b"BZh"),
    "xz": ("xz archive", 0, b"\xfd7zXZ\x00"),
    "7z": ("7z archive", 0, b"7z\xbc\xaf\x27\x1c"),
    "rar": ("RAR archive", 0, b"Rar!\x1a\x07"),
    "sqlite": ("SQLite database", 0, b"SQLite format 3\x00"),
    "xls": ("old Excel or Word file", 0, b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"),
    "numpy": ("NumPy array", 0, b"\x93NUMPY"),
    "hdf5": ("HDF5 file", 0, b"\x89HDF\r\n\x1a\n"),
    "arrow": ("Arrow file", 0, b"ARROW1"),
    "pickle": ("Python pickle", 0, b"\x80\x02", b"\x80\x04", b"\x80\x05"),
    "tar": ("tar archive", 257, b"ustar"),
}
"""By kind of file: the kind in words, and where its first bytes are one of some sequences."""
TYPES: Final[dict[str, str]] = {kind: words for kind, (words, *_) in _BY_MAGIC.items()} | {
    "bmp": "BMP picture",
    "xlsx": "Excel workbook",
    "docx": "Word document",
    "zip": "ZIP archive",
    "inspect": "log of Inspect",
    "nifti": "NIfTI volume",
    "xml": "XML file",
    "html": "web page",
    "json": "JSON",
    "jsonl": "JSON Lines",
    "broken_json": "damaged JSON",
    "table": "table",
    "text": "text",
    "empty": "empty file",
    "unknown": "file of an unknown kind",
}
"""Kinds of files, in words."""
PICTURES: Final = frozenset(("png", "jpeg", "gif", "tiff", "bmp", "webp", "jpeg2000", "dicom"))
_INSPECT: Final = frozenset(("_journal/start.json", "header.json"))
"""Members of a log that Inspect wrote as an archive: at its run's start, and at its end."""
_ARROW_STREAM: Final = b"\xff\xff\xff\xff"
_DICOM_GROUPS: Final = (b"\x02\x00", b"\x08\x00")
"""First groups of a DICOM data set without a preamble, in little endian."""


@dataclass(frozen=True)
class Found:
    """Why a file is of a format; ``role`` where it is read at another time than the format is."""

    why: str
    role: int | None = None


class Probe:
    """A file that is looked at to see what it is. Nothing is read before it is asked for.

    ``pictures`` are the names and stems of the pictures that are imported with it, folded; ``kept``
    holds what recognisers found out, so that none reads the file twice.

    Raises FileRefused or OSError when something is asked of what is no file, or cannot be read.
    """

    def __init__(
        self, path: Path, label: str | None = None, pictures: frozenset[str] = frozenset()
    ) -> None:
        self.path = path
        self.label = label or path.name
        self.pictures = pictures
        self.kept: dict[str, Any] = {}

    @cached_property
    def size(self) -> int:
        """Bytes of the file."""
        return self.path.stat().st_size

    @cached_property
    def head(self) -> bytes:
        """The first bytes, 262,144 at most."""
        check_file(self.path, 1 << 62)  # a device may never end
        with self.path.open("rb") as stream:
            return stream.read(_HEAD)

    @cached_property
    def kind(self) -> str:
        """A key of :data:`TYPES`."""
        head = self.head
        if not head.strip(b"\xef\xbb\xbf \t\r\n\x00"):
            return "empty"
        for kind, (_, start, *magic) in _BY_MAGIC.items():
            if head.startswith(tuple(magic), start):
                return kind
        if head.startswith((b"PK\x03\x04", b"PK\x05\x06")):
            return self._kind_of_zip()
        if head.startswith(b"BM") and int.from_bytes(head[2:6], "little") in (0, self.size):
            return "bmp"
        if head.startswith(_ARROW_STREAM) and b"\x00" in head[4:16]:
            return "arrow"
        if head[344:348] in (b"n+1\x00", b"ni1\x00"):
            return "nifti"
        if head[:2] in _DICOM_GROUPS and len(head) >= 16:
            explicit = head[4:6].isalpha() and head[4:6].isupper()
            if explicit or int.from_bytes(head[4:8], "little") < 256:  # or implicit VR
                return "dicom"
        if b"\x00" in head and not sniff_encoding(head).startswith("utf-16"):
            return "unknown"
        return self._kind_of_text()

    def _kind_of_zip(self) -> str:
        import zipfile

        try:
            with zipfile.ZipFile(self.path) as archive:
                names = archive.namelist()[:1000]
        except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError):
            return "zip"
        if any(name.startswith("xl/") for name in names):
            return "xlsx"
        if not _INSPECT.isdisjoint(names):
            return "inspect"
        return "docx" if any(name.startswith("word/") for name in names) else "zip"

    def _kind_of_text(self) -> str:
        start = self.text.lstrip()[:200].lower()
        if start.startswith(("<!doctype html", "<html")):
            return "html"
        if start.startswith("<"):
            return "xml"
        if self.json is not None:
            return "json"
        if self.json_lines:
            return "jsonl"
        if start.startswith(("{", "[")):
            return "broken_json"
        return "table" if self.is_table else "text"

    @property
    def type(self) -> str:
        """What the file is, in words."""
        return TYPES[self.kind]

    @cached_property
    def text(self) -> str:
        """The beginning as text, in the encoding that it seems to have."""
        encoding = sniff_encoding(self.head[:-4] if len(self.head) == _HEAD else self.head)
        return self.head.decode(encoding, "replace").removeprefix("\ufeff")

    @cached_property
    def json(self) -> Any:
        """The file's JSON object or list; of a long file what it begins with; else None."""
        if not self.text.lstrip().startswith(("{", "[")):
            return None
        if self.size > _WHOLE_JSON:
            return self._json_start()
        content = self.path.read_bytes()
        try:
            value = json.loads(content.decode(sniff_encoding(content), "replace").lstrip("\ufeff"))
        except (ValueError, RecursionError):
            return None
        return None if is_too_deep(value) else value

    def _json_start(self) -> Any:
        decoder, text = json.JSONDecoder(), self.text.lstrip()
        is_object, place = text[0] == "{", 1
        names: dict[str, Any] = {}
        items: list[Any] = []
        try:
            while len(names) + len(items) < _LOOKED_AT:
                place += len(text[place:]) - len(text[place:].lstrip(" \t\r\n,"))
                value, place = decoder.raw_decode(text, place)
                if is_object:
                    name = value
                    place = text.index(":", place) + 1
                    place += len(text[place:]) - len(text[place:].lstrip())
                    names[name] = None
                    names[name], place = decoder.raw_decode(text, place)
                else:
                    items.append(value)
        except (ValueError, RecursionError, TypeError):
            pass
        return names if is_object else items

    @cached_property
    def json_lines(self) -> list[dict[str, Any]]:
        """The first objects, where nearly each line of the file is one; else an empty list."""
        lines = [line for line in self.text.splitlines()[: _LOOKED_AT + 1] if line.strip()]
        if len(self.head) == _HEAD and len(lines) <= _LOOKED_AT:
            lines = lines[:-1]  # the last may be cut off
        found: list[dict[str, Any]] = []
        for line in lines[:_LOOKED_AT]:
            try:
                value = json.loads(line)
            except (ValueError, RecursionError):
                continue  # its reader says which line
            if isinstance(value, dict):
                found.append(value)
        return found if len(found) * 2 > len(lines[:_LOOKED_AT]) else []

    @cached_property
    def is_table(self) -> bool:
        """Whether a text is a table with a header."""
        lines = self.text.splitlines(keepends=True)
        first = next((line for line in lines if line.strip()), "")
        separator = max((",", "\t", ";", "|"), key=first.count)
        if first.lower().startswith("sep=") and len(first.rstrip("\r\n")) == _SEP_LINE:
            separator, lines = first[4], lines[lines.index(first) + 1 :]
        try:
            records = [one for one in csv.reader(lines[:400], delimiter=separator) if any(one)]
        except csv.Error:
            return False
        columns, body = len(records[0]) if records else 0, records[1 : 1 + _LOOKED_AT]
        whole = sum(len(one) == columns for one in body)
        return columns > 1 and whole > 0 and whole * 2 >= len(body)

"""Read source files: text in any encoding, and JSON with the faults of real files.

Such faults are NaN from pandas, byte order marks, repeated keys, and hostile nesting.
"""

from __future__ import annotations

import codecs
import csv
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import Any, Final

from rexview.errors import FileRefused
from rexview.importers.receipt import ProblemLog
from rexview.reviewset.json_text import JsonError, is_too_deep, parse_json
from rexview.reviewset.problems import quote_value
from rexview.untrusted_input import check_regular_file, printable_text, read_file
from rexview.vocab import english_count

MAX_BYTES: Final = 500_000_000
MAX_CELLS: Final = 5_000_000
"""Limit for the cells of one table."""
MAX_VALUES: Final = 20_000_000
"""Limit for commas and brackets of a JSON file: empty lists take thirty times the memory of their
text."""
_MARKS: Final = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


@dataclass(frozen=True)
class SourceFile:
    """A file or folder of an import; ``label`` is its name in the source, as shown to people.

    ``folder`` distinguishes it from files of the same name: it then belongs to a model that is
    named after the folder.
    """

    path: Path
    label: str
    folder: str | None = None


_NOT_A_MODEL: Final = frozenset(
    (
        *("rexrank", "prediction", "predictions", "pred", "preds", "result", "results", "output"),
        *("outputs", "generated", "reports", "report", "iuxray", "iu", "xray", "mimic", "mimiccxr"),
        *("cxr", "chexpert", "chexpertplus", "plus", "rexgradient", "gradient", "valid", "val"),
        *("validation", "test", "train", "private", "public", "json", "findings", "impression"),
    )
)


def model_name_of_file(file: SourceFile) -> str:
    """Return the name of a model from its file's name, without words common to all such files.

    A file such as ``predictions.json`` gets the name of the nearest folder with a model's name,
    among the given folders.
    """
    stem = file.path.stem
    return file.folder or printable_text(_model_words(stem) or _folder_of_model(file) or stem)


def _folder_of_model(file: SourceFile) -> str:
    folders = (one.name.removesuffix(".zip") for one in PurePosixPath(file.label).parents)
    return next((name for name in folders if _model_words(name)), "")


def warn_of_missing_model(file: SourceFile, model: str, log: ProblemLog) -> None:
    """Warn if a model was named after a file whose name has no model in it, with the remedy."""
    if not file.folder and not _model_words(file.path.stem) and model == model_name_of_file(file):
        after = ", after its folder" if _folder_of_model(file) else ""
        message = f"Its name tells no model: the model is called “{model}” now{after}."
        remedy = f"Name it as an option: --model {file.path.name}=NAME, or “Model names” on Data."
        log.warning(file.label, message, remedy, field="model")


def _model_words(name: str) -> str:
    words = [word for word in re.split(r"[_\s]+", name) if word]
    return " ".join(
        word for word in words if re.sub(r"[^a-z]", "", word.lower()) not in (*_NOT_A_MODEL, "")
    )


def distinguish_files(files: Sequence[SourceFile]) -> list[SourceFile]:
    """Give files of the same name their nearest folders in which all differ, as model names.

    Folders such as ``test`` and ``valid`` name no model; their files stay unchanged.
    """
    alike: dict[str, list[SourceFile]] = {}
    for file in files:
        alike.setdefault(file.path.name, []).append(file)
    folders: dict[SourceFile, str] = {}
    for group in alike.values():
        parents = [[parent.name for parent in one.path.parents] for one in group]
        for names in zip(*parents, strict=False) if len(group) > 1 else ():
            if len(set(names)) == len(group):
                if all(map(_model_words, names)):
                    folders |= dict(zip(group, map(printable_text, names), strict=True))
                break
    return [replace(file, folder=folders.get(file)) for file in files]


def model_from_options(file: SourceFile, options: Mapping[str, Any]) -> str | None:
    """Return the model given for a file by the option (NAME or FILE=NAME), or None."""
    given = options.get("model") or ()
    names = [given] if isinstance(given, str) else list(given)
    for name in names:
        label, mark, model = name.partition("=")
        if mark and label in (file.label, file.path.name):
            return str(model).strip()
    plain = [name for name in names if "=" not in name]
    return str(plain[0]) if len(plain) == 1 else None


def read_text(path: Path, log: ProblemLog, *, save_as: str, label: str | None = None) -> str | None:
    """Read a text file; log an error and return None if it is not text, or too large.

    A warning is logged where Windows-1252 was assumed; ``save_as`` is its advice.
    """
    name = label or path.name
    try:
        content = read_file(path, MAX_BYTES)
    except FileRefused as refusal:
        log.error(name, str(refusal), "Give a file, or split it into several ones.")
        return None
    except OSError as error:
        message = f"The file cannot be read: {error.strerror or error}."
        log.error(name, message, "See to it that the app may read it.")
        return None
    encoding = sniff_encoding(content)
    text = content.decode(encoding, "replace")
    if text.startswith("PK\x03\x04"):
        log.error(name, "This is not a text file.", "Give it its own ending, such as .xlsx.")
        return None
    if encoding == "cp1252":
        message = "The file is not UTF-8; it was read as Windows-1252."
        log.warning(name, message, f"Save it as {save_as} if letters look wrong.")
    return text


def sniff_encoding(data: bytes) -> str:
    """Return the encoding of a whole file's bytes.

    A byte order mark decides. Without one, zero bytes in every second place mean UTF-16, and valid
    UTF-8 means UTF-8. Anything else is taken for Windows-1252, the usual encoding of spreadsheets
    saved as CSV in Western Europe and America.
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


class _Objects:
    """Make dicts that keep the first of repeated keys, and record the last object's repeated keys.

    ``inside`` has those of the earlier objects.
    """

    def __init__(self) -> None:
        self.repeated: list[str] = []
        self.inside: list[str] = []

    def __call__(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        made: dict[str, Any] = {}
        self.inside += self.repeated
        self.repeated = []
        for key, value in pairs:
            if key in made:
                self.repeated.append(key)
            else:
                made[key] = value
        return made


def read_source_json(path: Path, log: ProblemLog, label: str | None = None) -> Any:
    """Read a JSON file; log an error and return None if it cannot be read.

    NaN and Infinity become None. Of repeated keys in an object the first one counts, with a
    warning. In the outermost object each repeated key gets a warning: entries of a dict by id must
    not disappear silently.
    """
    name = label or path.name
    text = read_text(path, log, save_as="UTF-8", label=name)
    if text is None:
        return None
    if not text.strip():
        log.error(name, "The file is empty.", "Give the file that holds the data.")
        return None
    if _has_too_many_values(text, name, log):
        return None
    objects = _Objects()
    try:
        value = json.loads(text, parse_constant=lambda _: None, object_pairs_hook=objects)
        if is_too_deep(value):
            raise RecursionError
    except json.JSONDecodeError as error:
        where = f"{error.msg} at line {error.lineno}, column {error.colno}"
        remedy = "Give a complete JSON file; it may have been cut off."
        log.error(name, f"The file is not valid JSON: {where}.", remedy)
        return None
    except (RecursionError, ValueError):
        message = (
            "The file is nested too deeply, or has a number too long, to be data of this kind."
        )
        log.error(name, message, "Give the file as it was published.")
        return None
    if isinstance(value, dict):
        for key in objects.repeated:
            row = list(value).index(key) + 1 if len(objects.repeated) < 100 else None
            log.warning(name, *REPEATED, row=row)
    inside = objects.inside if isinstance(value, dict) else objects.inside + objects.repeated
    if inside:
        named = ", ".join(quote_value(key) for key in list(dict.fromkeys(inside))[:3])
        keys = english_count(len(inside), "key")
        message = f"{keys} twice in one object ({named}); the first was kept."
        log.warning(name, message, REPEATED[1])
    return value


def _has_too_many_values(text: str, file: str, log: ProblemLog) -> bool:
    too_many = sum(map(text.count, ",[{")) > MAX_VALUES
    if too_many:
        message = f"The file holds more than {MAX_VALUES:,} values."
        log.error(file, message, "Split it into several files.")
    return too_many


def json_lines(text: str, file: str, log: ProblemLog) -> Iterator[tuple[int, Any]]:
    """Yield the number and the value of each line; the value is a JsonError if it is not JSON.

    A text with too many values is an error, and yields no lines.
    """
    if _has_too_many_values(text, file, log):
        return
    for number, line in enumerate(text.lstrip("\ufeff").split("\n"), start=1):
        if line.strip():
            try:
                yield number, parse_json(line)
            except JsonError as error:
                yield number, error


REPEATED: Final = (
    "This id occurs more than once; the first entry was kept.",
    "Give every entry its own id.",
)


# Recognise a file by its content alone: its first bytes, then its JSON keys, columns and lines.

_HEAD: Final = 262_144
_WHOLE_JSON: Final = 60_000_000
"""JSON up to this number of bytes is parsed to recognise it; of longer files only the beginning."""
_LOOKED_AT: Final = 50
_SEP_LINE: Final = 5
"""Length of Excel's first line ``sep=;``, which gives the delimiter."""
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
"""By kind of file: the kind in words, and the positions and values of its first bytes."""
FILE_TYPES: Final[dict[str, str]] = {kind: words for kind, (words, *_) in _BY_MAGIC.items()} | {
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
PICTURE_TYPES: Final = frozenset(("png", "jpeg", "gif", "tiff", "bmp", "webp", "jpeg2000", "dicom"))
_INSPECT: Final = frozenset(("_journal/start.json", "header.json"))
"""Members of an Inspect log archive: written at the start of its run, and at its end."""
_ARROW_STREAM: Final = b"\xff\xff\xff\xff"
_DICOM_GROUPS: Final = (b"\x02\x00", b"\x08\x00")
"""First groups of a DICOM data set without a preamble, in little endian."""


@dataclass(frozen=True)
class Recognition:
    """Why a file is of a format; ``role`` if its reading order differs from the format's."""

    why: str
    role: int | None = None


class Probe:
    """A file to recognise. Each property is read when first used.

    ``pictures`` are the folded names and stems of the pictures in the same import. ``kept`` caches
    results of recognisers, so that none reads the file twice.

    Raises FileRefused or OSError if a property of an unreadable file, or of no file, is used.
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
        """Size of the file in bytes."""
        return self.path.stat().st_size

    @cached_property
    def head(self) -> bytes:
        """The first bytes, 262,144 at most."""
        check_regular_file(self.path, 1 << 62)  # a device may never end
        with self.path.open("rb") as stream:
            return stream.read(_HEAD)

    @cached_property
    def kind(self) -> str:
        """A key of :data:`FILE_TYPES`."""
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
        """The kind of file, in words."""
        return FILE_TYPES[self.kind]

    @cached_property
    def text(self) -> str:
        """The first bytes as text, in the encoding that was detected."""
        encoding = sniff_encoding(self.head[:-4] if len(self.head) == _HEAD else self.head)
        return self.head.decode(encoding, "replace").removeprefix("\ufeff")

    @cached_property
    def json(self) -> Any:
        """The file's JSON object or list, of a long file its beginning; else None."""
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
        """The first objects, if nearly each line of the file is one; else an empty list."""
        lines = [line for line in self.text.splitlines()[: _LOOKED_AT + 1] if line.strip()]
        if len(self.head) == _HEAD and len(lines) <= _LOOKED_AT:
            lines = lines[:-1]  # the last may be cut off
        found: list[dict[str, Any]] = []
        for line in lines[:_LOOKED_AT]:
            try:
                value = json.loads(line)
            except (ValueError, RecursionError):
                continue  # its reader reports which line
            if isinstance(value, dict):
                found.append(value)
        return found if len(found) * 2 > len(lines[:_LOOKED_AT]) else []

    @cached_property
    def is_table(self) -> bool:
        """True if a text is a table with a header."""
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

"""Open sources of any kind, recognise each file by its content, and read them in order."""

from __future__ import annotations

import gzip
import lzma
import os
import stat
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path, PurePosixPath
from typing import Any, Final

from rexview.errors import FileRefused, ImportSourceError
from rexview.importers.box_table import pictures_with_boxes
from rexview.importers.case_names import safe_path
from rexview.importers.formats import IMPORT_FORMATS, PROPOSED_MAPPING, Importer
from rexview.importers.image_placement import gather_images, place_images
from rexview.importers.rexvqa import check_file_options, declare_readers, file_assignments
from rexview.importers.set_rows import SetRows
from rexview.importers.source_files import FILE_TYPES, Probe, SourceFile, distinguish_files
from rexview.importers.table.importer import plan_tables
from rexview.importers.table.roles import fold_picture_names, is_path
from rexview.untrusted_input import printable_text, safe_file_name

# Open folders and archives into files, within limits and never outside the scratch folder.

MAX_FILES: Final = 500_000
MAX_UNPACKED: Final = 50_000_000_000
"""Total size in bytes that all archives of an import may unpack to."""
MAX_RATIO: Final = 1000
"""The highest ratio of unpacked to packed size: text reaches a hundredfold, a bomb a
millionfold."""
_SMALL: Final = 10_000_000
_DEEPEST: Final = 3
_CHUNK: Final = 1_048_576
_PASSED_OVER: Final = frozenset(("__macosx", "thumbs.db", "desktop.ini", "ehthumbs.db"))
"""Lower-case names of files that operating systems leave in folders; dot files are skipped, too."""
_ENCRYPTED: Final = 0x1
_DAMAGED: Final = (OSError, EOFError, zlib.error, lzma.LZMAError)


def is_system_file(name: str) -> bool:
    """True if an operating system, not a person, left the file or folder there."""
    return name.startswith(".") or name.lower() in _PASSED_OVER


class SourceOpener:
    """Open the sources of one import into files, each with a unique name.

    Packed files go into the scratch folder of the import. The receipt lists what cannot be opened.
    """

    def __init__(self, rows: SetRows) -> None:
        self._rows = rows
        self._labels: set[str] = set()
        self._unpacked = 0
        self._files = 0

    def open(self, sources: Sequence[SourceFile]) -> Iterator[SourceFile]:
        """Yield every file of the sources, with folders and archives opened."""
        for source in sources:
            if source.path.is_dir():
                yield from self._folder(source.path, source.path, source.label, 0)
            else:
                yield from self._file(source, 0)

    def _folder(self, folder: Path, root: Path, label: str, depth: int) -> Iterator[SourceFile]:
        real = root.resolve()

        def closed(error: OSError) -> None:
            name = Path(error.filename).relative_to(root).as_posix()
            self._unread(f"{label}/{name}", "folder", f"It cannot be read: {error.strerror}.")

        for place, folders, names in os.walk(folder, onerror=closed):
            folders[:] = sorted(name for name in folders if not is_system_file(name))
            for name in sorted(names):
                path = Path(place, name)
                shown = f"{label}/{path.relative_to(root).as_posix()}"
                if is_system_file(name):
                    continue
                try:
                    leads_out = not path.resolve().is_relative_to(real)
                    is_file = stat.S_ISREG(path.stat().st_mode)
                except (OSError, RuntimeError):  # RuntimeError: links that form a loop
                    self._unread(shown, "file or link", "It cannot be read, or leads nowhere.")
                    continue
                if leads_out:
                    self._unread(shown, "link", "It leads out of the folder.")
                elif not is_file:
                    self._unread(shown, "device or pipe", "It is no file.")
                else:
                    yield from self._file(SourceFile(path, shown), depth)

    def _file(self, file: SourceFile, depth: int) -> Iterator[SourceFile]:
        self._files += 1
        if self._files > MAX_FILES:
            if self._files == MAX_FILES + 1:
                message = f"There are more than {MAX_FILES:,} files."
                self._rows.log.error(file.label, message, "Import them in several parts.")
            return
        try:
            kind = Probe(file.path).kind
        except OSError as error:
            self._unread(file.label, "file", f"It cannot be read: {error.strerror or error}.")
            return
        if kind in ("zip", "gzip") and depth >= _DEEPEST:
            self._unread(file.label, "archive", "Archives are nested too deeply.")
        elif kind == "zip":
            yield from self._zip(file, depth)
        elif kind == "gzip" and not file.path.name.lower().endswith((".nii.gz", ".tgz", ".tar.gz")):
            yield from self._gzip(file, depth)
        else:
            name, number = printable_text(file.label), 2
            while name in self._labels:
                name, number = f"{printable_text(file.label)} ({number})", number + 1
            self._labels.add(name)
            yield SourceFile(file.path, name)

    def _unread(self, label: str, kind: str, why: str) -> None:
        self._rows.receipt.file_unread(printable_text(label), kind, why)

    def _zip(self, file: SourceFile, depth: int) -> Iterator[SourceFile]:
        folder = self._rows.new_folder(safe_file_name(file.path.stem))
        try:
            with zipfile.ZipFile(file.path) as archive:
                members = archive.infolist()
                if len(members) > MAX_FILES:
                    why = f"It has more than {MAX_FILES:,} files."
                    self._unread(file.label, "ZIP archive", why)
                    return
                for member in members:
                    self._member(archive, member, folder, file.label)
        except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError):
            self._unread(file.label, "ZIP archive", "It is damaged.")
            return
        yield from self._folder(folder, folder, file.label, depth + 1)

    def _member(
        self, archive: zipfile.ZipFile, member: zipfile.ZipInfo, folder: Path, label: str
    ) -> None:
        written = member.filename.replace("\\", "/")
        parts = PurePosixPath(written).parts
        if written.endswith("/") or any(is_system_file(one) for one in parts if one != ".."):
            return
        shown = f"{label}/{written}"
        path = safe_path(written)
        if path is None or path != written.removeprefix("./"):
            self._unread(written, "file in an archive", "Its path leads out of the archive.")
        elif member.flag_bits & _ENCRYPTED:
            self._unread(shown, "file in an archive", "It is encrypted.")
        elif stat.S_ISLNK(member.external_attr >> 16):
            self._unread(shown, "link in an archive", "Links are not followed.")
        elif member.file_size > max(_SMALL, member.compress_size * MAX_RATIO):
            self._unread(shown, "file in an archive", "It would be far larger than the archive.")
        else:
            self._unpack(archive, member, folder / path, shown)

    def _unpack(
        self, archive: zipfile.ZipFile, member: zipfile.ZipInfo, target: Path, shown: str
    ) -> None:
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            if target.exists():
                self._unread(shown, "file in an archive", "Another one of its name came first.")
                return
        except OSError:  # a file has the name of its folder, or the name is too long
            self._unread(shown, "file in an archive", "No file can be written under its name.")
            return
        try:
            with archive.open(member) as packed:
                if not self._copy(packed, target, member.file_size):
                    self._unread(shown, "file in an archive", "The archives hold too much.")
        except (*_DAMAGED, zipfile.BadZipFile, NotImplementedError):
            target.unlink(missing_ok=True)
            self._unread(shown, "file in an archive", "It is damaged.")

    def _gzip(self, file: SourceFile, depth: int) -> Iterator[SourceFile]:
        name = safe_file_name(file.path.name.removesuffix(".gz").removesuffix(".GZ"))
        target = self._rows.new_folder(safe_file_name(file.path.stem)) / name
        most = max(_SMALL, file.path.stat().st_size * MAX_RATIO)
        try:
            with gzip.open(file.path) as source:
                whole = self._copy(source, target, most)
        except _DAMAGED:
            self._unread(file.label, "gzip archive", "It is damaged.")
            return
        if not whole:
            self._unread(file.label, "gzip archive", "It would be far larger than the archive.")
            return
        label = file.label.removesuffix(".gz").removesuffix(".GZ")
        yield from self._file(SourceFile(target, label), depth + 1)

    def _copy(self, source: Any, target: Path, most: int) -> bool:
        """Copy at most ``most`` bytes; return False, and leave no file, if there are more."""
        written = 0
        with target.open("wb") as out:
            while chunk := source.read(_CHUNK):
                written += len(chunk)
                self._unpacked += len(chunk)
                if written > most or self._unpacked > MAX_UNPACKED:
                    break
                try:
                    out.write(chunk)
                except OSError as error:
                    message = f"Unpacking failed: {error.strerror}."
                    remedy = "Make room where temporary files go (TMPDIR), or unpack it yourself."
                    log = self._rows.log
                    log.error("archive", message, remedy)
                    refusal = "The archives cannot be unpacked."
                    raise ImportSourceError(refusal, log.problems) from None
            else:
                return True
        target.unlink()
        return False


# Read sources of any kind: each file is recognised by its content and read by the importer of its
# format.
#
# The order of the sources does not matter. Files that make cases are read first, then answers,
# boxes, and finally scores, flags and edits.

_CLAIM_ANY_FILE: Final = ("predictions", "table")
"""Formats that would also claim files of other formats; they are tried last."""
_REASONS: Final = {
    "empty": "It is empty.",
    "pickle": "Reading a pickle can run any program; save it as JSON, CSV or Parquet.",
    "arrow": "Save it as Parquet: Dataset.to_parquet() or DataFrame.to_parquet().",
    "xls": "Save it as .xlsx or .csv.",
    "html": "Save what it shows as .xlsx or .csv.",
    "broken_json": "Its JSON breaks off, goes wrong or is nested too deeply.",
    **dict.fromkeys(
        ("table", "xlsx", "parquet"),
        "Too few columns say by their names what they hold; give a mapping (import table).",
    ),
    **dict.fromkeys(("tar", "7z", "rar", "bzip2", "xz", "gzip"), "Unpack it, or make it a ZIP."),
}
_BOXES: Final = 3
"""The role from which image sizes are needed."""
_ANSWERS: Final = 2
_NAMED_ALONE: Final = 4
_HUGGING_FACE: Final = (
    ("_data_files", "_fingerprint"),
    ("builder_name", "features"),
    ("citation", "features"),
)
"""Keys of the JSON files stored with the tables of a Hugging Face data set."""
_UNKNOWN: Final = "No format that is known has such content."


@dataclass(frozen=True)
class RecognisedFile:
    """A file with its format, the reason, and its place in the reading order."""

    file: SourceFile
    importer: Importer
    why: str
    role: int


def recognise_file(
    file: SourceFile, pictures: frozenset[str] = frozenset()
) -> RecognisedFile | None:
    """Return the format of a file by its content; None if no format fits.

    ``pictures`` are the names of the pictures in the same import.

    Raises FileRefused or OSError when it cannot be read.
    """
    probe = Probe(file.path, file.label, pictures)
    keys = probe.json.keys() if probe.kind == "json" and isinstance(probe.json, dict) else ()
    if any({*known} <= {*keys} for known in _HUGGING_FACE):  # metadata of a stored data set
        return None
    special = [name for name in IMPORT_FORMATS if name not in _CLAIM_ANY_FILE]
    for importer in (IMPORT_FORMATS[name] for name in (*special, *_CLAIM_ANY_FILE)):
        found = importer.recognises(probe)
        if found is not None:
            return RecognisedFile(file, importer, found.why, found.role or importer.role)
    return None


def read_auto(files: Sequence[SourceFile], rows: SetRows, options: Mapping[str, Any]) -> None:
    """Read files, folders and archives of any known formats."""
    names = dict.fromkeys(file.path.stem.replace("_", " ") for file in files[:2])
    rows.name = rows.name or " and ".join(names)
    found: list[RecognisedFile] = []
    opened = list(SourceOpener(rows).open(files))
    check_file_options(opened, options, rows)
    pictures = fold_picture_names(file.label for file in opened if is_path(file.label))
    for file in opened:
        try:
            one = recognise_file(file, pictures)
            kind = None if one else Probe(file.path).kind
        except (FileRefused, OSError) as error:
            rows.receipt.file_unread(file.label, "file", f"It cannot be read: {error}")
            continue
        if one:
            found.append(one)
        else:
            why = _REASONS.get(str(kind), _UNKNOWN)
            rows.receipt.file_unread(file.label, FILE_TYPES[str(kind)], why)
    found = _with_pictures_of_boxes(found, pictures)
    apart = distinguish_files([one.file for one in found])
    found = [replace(one, file=file) for one, file in zip(found, apart, strict=True)]
    readers = file_assignments(options.get("reader"))
    options = {**options, "reader": None, "model": (*(options.get("model") or ()), *readers)}
    tables = [one.file for one in found if one.importer.id == "table"]
    decisions, turns = plan_tables(tables, options, rows)
    found = [replace(one, role=turns.get(one.file.label, one.role)) for one in found]
    order = list(IMPORT_FORMATS)
    found.sort(key=lambda one: (one.role, order.index(one.importer.id), one.file.label))
    beside = [file.path if file.path.is_dir() else file.path.parent for file in files]
    for (role, name), some in groupby(found, key=lambda one: (one.role, one.importer.id)):
        group = list(some)
        rows.log.end_warnings_if_refused()
        if role >= _BOXES:
            _place_images(rows, options, beside, files[0].label)
        importer = IMPORT_FORMATS[name]
        inside = [one.file for one in group]
        _name_files(group, rows)
        rows.provisional = name == "images"
        settings = format_options(importer, options, inside)
        importer.read(inside, rows, {**settings, "decisions": decisions})
        rows.provisional = False
        if name == "images":
            _name_unread(group, rows)
    _place_images(rows, options, beside, files[0].label)
    declare_readers(rows, {one.rpartition("=")[2].strip() for one in readers})
    rows.description = f"Imported from {', '.join(file.label for file in files)}."


def _with_pictures_of_boxes(
    found: Sequence[RecognisedFile], pictures: frozenset[str]
) -> list[RecognisedFile]:
    """Recognise tables again with the pictures that tables of boxes name, even missing ones."""
    boxes = [one.file for one in found if one.importer.id == "boxes"]
    named = fold_picture_names(name for file in boxes for name in pictures_with_boxes(file))
    if named <= pictures:
        return list(found)
    again = (
        recognise_file(one.file, pictures | named)
        if one.importer.id == "table" and one.role < _ANSWERS
        else one
        for one in found
    )
    return [one for one in again if one is not None]


def _name_files(group: Sequence[RecognisedFile], rows: SetRows) -> None:
    """List the files of one format in the receipt, one line per reason if there are many."""
    alike: dict[str, list[str]] = {}
    for one in group:
        alike.setdefault(one.why, []).append(one.file.label)
    for why, labels in alike.items():
        if len(labels) > _NAMED_ALONE:
            labels = [f"{labels[0]} and {len(labels) - 1:,} more"]
        for label in labels:
            rows.receipt.file_read(label, group[0].importer.name, why)


def _place_images(
    rows: SetRows, options: Mapping[str, Any], beside: Sequence[Path], label: str
) -> None:
    """Find the images of all cases so far; placing boxes needs their sizes."""
    if not rows.log.has_errors:
        place_images(rows, options["images"], beside, label)
        gather_images(rows, beside)


def _name_unread(pictures: Sequence[RecognisedFile], rows: SetRows) -> None:
    """List the pictures that were left out, such as broken ones, in the receipt."""
    used = {file.resolve() for file in rows.files.values()}
    named = {one.file for one in rows.receipt.files_unread}
    for one in pictures:
        if one.file.path.resolve() not in used and one.file.label not in named:
            why = "It is damaged, or no radiograph; the problems say which."
            rows.receipt.file_unread(one.file.label, one.why, why)


def format_options(
    importer: Importer, options: Mapping[str, Any], files: Sequence[SourceFile]
) -> dict[str, Any]:
    """Return the options for one format: those given to ``auto``, with columns as proposed."""
    settings: dict[str, Any] = {"images": None}
    for option in importer.options:
        value = options.get(option.name)
        if option.name == "model":
            value = _model_options(files, value or (), option.type)
        if option.name == "mapping" and value is None:
            value = PROPOSED_MAPPING
        settings[option.name] = option.default if value is None else value
    return settings


def _model_options(files: Sequence[SourceFile], given: Sequence[str], kind: str) -> Any:
    """Return the NAME and FILE=NAME entries that apply to these files, in the option's own type."""
    plain = [one for one in given if "=" not in one]
    told = [
        f"{file.label}={name}"
        for label, mark, name in (one.partition("=") for one in given)
        for file in files
        if mark and label in (file.label, file.path.name)
    ]
    if kind == "text":
        alone = plain or ([told[0].rpartition("=")[2]] if len(files) == 1 and told else [])
        return alone[0] if len(alone) == 1 else None
    return (*(plain if len(files) == 1 else ()), *told)

"""Sources of any kind: each file is recognised by its content and read by the format that knows it.

The order of the sources does not matter: what makes cases is read first, then answers, boxes, and
what people said of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import Any, Final

from rexview.errors import FileRefused
from rexview.reviewset.importers.annotations.box_table import pictures_of
from rexview.reviewset.importers.auto.unpack import Opener
from rexview.reviewset.importers.core.formats import FORMATS, PROPOSED, Importer
from rexview.reviewset.importers.core.recognise import TYPES, Probe
from rexview.reviewset.importers.core.set_rows import SetRows
from rexview.reviewset.importers.core.source_files import SourceFile, told_apart
from rexview.reviewset.importers.images.placement import gather_images, place_images
from rexview.reviewset.importers.rexvqa import check_told, declare_readers, of_files
from rexview.reviewset.importers.table.importer import plan
from rexview.reviewset.importers.table.roles import is_path, picture_names

_GENERAL: Final = ("predictions", "table")
"""Formats that would take much for theirs: they are asked last."""
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
"""The role from which on image sizes are needed."""
_ANSWERS: Final = 2
_NAMED_ALONE: Final = 4
_HUGGING_FACE: Final = (
    ("_data_files", "_fingerprint"),
    ("builder_name", "features"),
    ("citation", "features"),
)
"""Keys of the JSON files that lie beside the tables of a data set."""
_UNKNOWN: Final = "No format that is known has such content."


@dataclass(frozen=True)
class Recognised:
    """A file with the format that it is of, why, and when it is read."""

    file: SourceFile
    importer: Importer
    why: str
    role: int


def recognise(file: SourceFile, pictures: frozenset[str] = frozenset()) -> Recognised | None:
    """Say what a file is by its content; None when no format knows it.

    ``pictures`` are the names of the pictures that are imported with it.

    Raises FileRefused or OSError when it cannot be read.
    """
    probe = Probe(file.path, file.label, pictures)
    keys = probe.json.keys() if probe.kind == "json" and isinstance(probe.json, dict) else ()
    if any({*known} <= {*keys} for known in _HUGGING_FACE):  # how a data set is stored
        return None
    special = [name for name in FORMATS if name not in _GENERAL]
    for importer in (FORMATS[name] for name in (*special, *_GENERAL)):
        found = importer.recognises(probe)
        if found is not None:
            return Recognised(file, importer, found.why, found.role or importer.role)
    return None


def read_auto(files: Sequence[SourceFile], rows: SetRows, options: Mapping[str, Any]) -> None:
    """Read files, folders and archives of any known kinds."""
    names = dict.fromkeys(file.path.stem.replace("_", " ") for file in files[:2])
    rows.name = rows.name or " and ".join(names)
    found: list[Recognised] = []
    opened = list(Opener(rows).open(files))
    check_told(opened, options, rows)
    pictures = picture_names(file.label for file in opened if is_path(file.label))
    for file in opened:
        try:
            one = recognise(file, pictures)
            kind = None if one else Probe(file.path).kind
        except (FileRefused, OSError) as error:
            rows.receipt.file_unread(file.label, "file", f"It cannot be read: {error}")
            continue
        if one:
            found.append(one)
        else:
            why = _REASONS.get(str(kind), _UNKNOWN)
            rows.receipt.file_unread(file.label, TYPES[str(kind)], why)
    found = _with_pictures_of_boxes(found, pictures)
    apart = told_apart([one.file for one in found])
    found = [replace(one, file=file) for one, file in zip(found, apart, strict=True)]
    readers = of_files(options.get("reader"))
    options = {**options, "reader": None, "model": (*(options.get("model") or ()), *readers)}
    tables = [one.file for one in found if one.importer.id == "table"]
    decisions, turns = plan(tables, options, rows)
    found = [replace(one, role=turns.get(one.file.label, one.role)) for one in found]
    order = list(FORMATS)
    found.sort(key=lambda one: (one.role, order.index(one.importer.id), one.file.label))
    beside = [file.path if file.path.is_dir() else file.path.parent for file in files]
    for (role, name), some in groupby(found, key=lambda one: (one.role, one.importer.id)):
        group = list(some)
        rows.log.end_warnings_if_refused()
        if role >= _BOXES:
            _place(rows, options, beside, files[0].label)
        importer = FORMATS[name]
        inside = [one.file for one in group]
        _name_files(group, rows)
        rows.provisional = name == "images"
        settings = settings_for(importer, options, inside)
        importer.read(inside, rows, {**settings, "decisions": decisions})
        rows.provisional = False
        if name == "images":
            _name_unread(group, rows)
    _place(rows, options, beside, files[0].label)
    declare_readers(rows, {one.rpartition("=")[2].strip() for one in readers})
    rows.description = f"Imported from {', '.join(file.label for file in files)}."


def _with_pictures_of_boxes(
    found: Sequence[Recognised], pictures: frozenset[str]
) -> list[Recognised]:
    """Recognise tables again by the pictures that tables of boxes name, which need not be there."""
    boxes = [one.file for one in found if one.importer.id == "boxes"]
    named = picture_names(name for file in boxes for name in pictures_of(file))
    if named <= pictures:
        return list(found)
    again = (
        recognise(one.file, pictures | named)
        if one.importer.id == "table" and one.role < _ANSWERS
        else one
        for one in found
    )
    return [one for one in again if one is not None]


def _name_files(group: Sequence[Recognised], rows: SetRows) -> None:
    """Name the files of one format in the receipt; many that are known by the same are one line."""
    alike: dict[str, list[str]] = {}
    for one in group:
        alike.setdefault(one.why, []).append(one.file.label)
    for why, labels in alike.items():
        if len(labels) > _NAMED_ALONE:
            labels = [f"{labels[0]} and {len(labels) - 1:,} more"]
        for label in labels:
            rows.receipt.file_read(label, group[0].importer.name, why)


def _place(rows: SetRows, options: Mapping[str, Any], beside: Sequence[Path], label: str) -> None:
    """Find the images of all cases so far; boxes cannot be placed without their sizes."""
    if not rows.log.has_errors:
        place_images(rows, options["images"], beside, label)
        gather_images(rows, beside)


def _name_unread(pictures: Sequence[Recognised], rows: SetRows) -> None:
    """Name the pictures that were left out, such as broken ones; the problems say why."""
    used = {file.resolve() for file in rows.files.values()}
    named = {one.file for one in rows.receipt.files_unread}
    for one in pictures:
        if one.file.path.resolve() not in used and one.file.label not in named:
            why = "It is damaged, or no radiograph; the problems say which."
            rows.receipt.file_unread(one.file.label, one.why, why)


def settings_for(
    importer: Importer, options: Mapping[str, Any], files: Sequence[SourceFile]
) -> dict[str, Any]:
    """Return the options of one format: what was given to ``auto``, and columns as proposed."""
    settings: dict[str, Any] = {"images": None}
    for option in importer.options:
        value = options.get(option.name)
        if option.name == "model":
            value = _models_of(files, value or (), option.type)
        if option.name == "mapping" and value is None:
            value = PROPOSED
        settings[option.name] = option.default if value is None else value
    return settings


def _models_of(files: Sequence[SourceFile], given: Sequence[str], kind: str) -> Any:
    """Return what of NAME and FILE=NAME is about these files, as an option of the kind has it."""
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

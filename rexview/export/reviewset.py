"""Export some cases as a review set of their own, with everything people wrote.

It includes all entries with a table: scores, flags, edits, choices, comments, decisions and more.
Entries without a table (consensus, assignments, agendas) stay in the reviews and are listed in a
note. Picture files are rewritten under neutral names, with their pixels and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from io import BytesIO
from pathlib import Path
from typing import Any, Final

import numpy as np
import polars as pl
import pydicom
from PIL import Image
from pydicom.dataset import Dataset, FileMetaDataset
from pydicom.uid import ImplicitVRLittleEndian, SecondaryCaptureImageStorage, generate_uid

from rexview import frames
from rexview.answer_digest import digests_of
from rexview.columns import TABLES
from rexview.errors import ImageBroken, ImageError, PathEscape
from rexview.export.export_job import ExportProgress
from rexview.export.export_records import ExportContent, WholeSet
from rexview.export.pseudonyms import IdKind
from rexview.imaging.image_files import read_image
from rexview.reviewset import find_image_file, load_review_set
from rexview.reviewset.write import copy_own_files, write_tables
from rexview.schema import ReviewSet
from rexview.vocab import english_count

# The tables of an exported review set: the rows of its cases, with pseudonyms if wanted.

_IDS: Final[Mapping[str, IdKind]] = {"study_id": "study", "patient_id": "patient", "site": "site"}
_STALE: Final = tuple(
    name for name in frames.TABLES if f"stale_{name}" in ReviewSet.__dataclass_fields__
)


def _closed(name: str) -> frozenset[str]:
    """Return the columns of a table with a fixed vocabulary, including those of its records."""
    every = [part for column in TABLES[name].columns for part in (column, *column.fields)]
    words = {part.name for part in every if part.kind == "word" and not part.open_vocabulary}
    return frozenset(words | {"view", "finish_reason"})


_CLOSED: Final = {name: _closed(name) for name in TABLES}


@dataclass(frozen=True)
class _NewNames:
    """New names in the exported set: pictures by path, models by id."""

    whole: WholeSet
    pictures: Mapping[str, str]
    models: Mapping[str, str]

    def text(self, text: str) -> str:
        if text in self.models:
            return self.models[text]
        return self.whole.hidden.text(text) if self.whole.hidden else text


def make_exported_set(
    whole: WholeSet, pictures: Mapping[str, str], models: Mapping[str, str]
) -> tuple[ReviewSet, list[str]]:
    """Return the cases of an export as their own set, and notes about it.

    Parameters
    ----------
    whole : WholeSet
    pictures : mapping
        New name of each picture by its path in the set.
    models : mapping
        New id of each model whose id changes, as a path on a disk does.
    """
    there, new = whole.review_set, _NewNames(whole, pictures, models)
    order = pl.DataFrame({"case": list(whole.cases)}, schema={"case": pl.String})
    notes = []
    tables: dict[str, Any] = {}
    for name in frames.TABLES:
        key = "id" if name == "cases" else "case"
        given: pl.DataFrame = getattr(there, name)
        if name == "scores" and there.unfinished.height:
            more = there.unfinished.join(order, on="case", how="semi")
            if more.height:
                given = pl.concat([given, more])
                count = english_count(more.height, "score")
                notes.append(
                    f"{count} of cases that their reader has not finished are in the new set, "
                    "where they count."
                )
        tables[name] = _renamed(name, _of_cases(given, order, key), new)
        if name in _STALE:
            stale: pl.DataFrame = getattr(there, f"stale_{name}")
            tables[f"stale_{name}"] = _renamed(name, _of_cases(stale, order, key), new)
    named = tuple(
        replace(model, id=models.get(model.id, model.id), name=models.get(model.name, model.name))
        for model in there.info.models
    )
    info = replace(there.info, id=None, images="images/", models=named)
    if whole.hidden:
        info = whole.hidden.everywhere(info)
    made = replace(there, info=info, unfinished=there.unfinished.clear(), **tables)
    return made, notes


def update_digests(written: ReviewSet, made: ReviewSet) -> ReviewSet:
    """Return the set with the digests of current answers as in the new set.

    ``written`` is the new set as read from its files. Rows of earlier answers keep theirs.
    """
    digests = digests_of(written)
    changed: dict[str, Any] = {}
    for name in frames.TABLES:
        rows: pl.DataFrame = getattr(made, name)
        if not rows.height:
            continue
        for column, model in _digest_columns(rows):
            pairs = list(rows.select("case", model).iter_rows())
            found = digests.of_all((case, one) for case, one in pairs if one is not None)
            new = pl.Series(column, [found.get(pair) for pair in pairs], dtype=pl.String)
            had = rows[column].is_not_null()
            rows = rows.with_columns(pl.when(had).then(pl.coalesce(new, column)).alias(column))
        changed[name] = rows
    return replace(made, **changed)


def _digest_columns(rows: pl.DataFrame) -> list[tuple[str, str]]:
    """Return the columns of digests, each with the column of its model."""
    columns = {"answer_digest": "model", "first_digest": "first", "second_digest": "second"}
    return [(name, model) for name, model in columns.items() if {name, model} <= set(rows.columns)]


def _of_cases(rows: pl.DataFrame, order: pl.DataFrame, key: str) -> pl.DataFrame:
    """Return the rows of the given cases; the table of cases itself in the export's order."""
    if key == "id":
        return order.rename({"case": "id"}).join(rows, on="id", how="left", maintain_order="left")
    return rows.join(order, on=key, how="semi", maintain_order="left")


def _renamed(name: str, rows: pl.DataFrame, new: _NewNames) -> pl.DataFrame:
    """Replace names of pictures and models in rows, and ids by pseudonyms."""
    if rows.is_empty() or not (new.whole.hidden or new.models or "images" in rows.columns):
        return rows.select(rows.columns)
    changed = [_row(name, row, new) for row in rows.iter_rows(named=True)]
    return pl.DataFrame(changed, schema=rows.schema)


def _row(table: str, row: dict[str, Any], new: _NewNames) -> dict[str, Any]:
    case_id = row["id"] if "reference_boxes" in row else row["case"]
    if images := row.get("images"):
        row["images"] = [
            {**image, "path": new.pictures.get(image["path"], image["path"])}
            if isinstance(image, dict)
            else new.pictures.get(image, image)
            for image in images
        ]
    hidden = new.whole.hidden
    if hidden is None and not new.models:
        return row
    found: dict[str, Any] = _map_strings(row, new.text, _CLOSED[table])
    if hidden is None:
        return found
    case = new.whole.review_set.case(case_id)
    ids = {image.id: f"image-{at}" for at, image in enumerate(case.images if case else (), 1)}
    _name_images(row, found, ids)
    found["id" if "reference_boxes" in row else "case"] = hidden.of("case", case_id)
    for name, kind in _IDS.items():
        if row.get(name) is not None:
            found[name] = hidden.of(kind, row[name])
    if "extra" in found:
        found["extra"] = None  # it may contain names
    return found


def _name_images(row: Mapping[str, Any], found: dict[str, Any], ids: Mapping[str, str]) -> None:
    """Replace the ids of images by those of exports: they are often names of files."""
    for name in ("images", "boxes", "reference_boxes"):
        field = "id" if name == "images" else "image"
        for given, new in zip(row.get(name) or (), found.get(name) or (), strict=True):
            if isinstance(given, dict) and given[field] is not None:
                new[field] = ids.get(given[field], new[field])
    on, new_on = row.get("on"), found.get("on")
    if isinstance(on, dict) and isinstance(new_on, dict) and on["image"] is not None:
        new_on["image"] = ids.get(on["image"], new_on["image"])


def _map_strings(value: Any, change: Callable[[str], str], closed: frozenset[str]) -> Any:
    if isinstance(value, str):
        return change(value)
    if isinstance(value, list):
        return [_map_strings(one, change, closed) for one in value]
    if isinstance(value, dict):
        return {
            name: one if name in closed else _map_strings(one, change, closed)
            for name, one in value.items()
        }
    return value


# Rewritten picture files: the pixels and how to show them, nothing else.

_OF_PIXELS: Final = frozenset(
    (
        *("SamplesPerPixel", "PhotometricInterpretation", "PlanarConfiguration", "NumberOfFrames"),
        *("Rows", "Columns", "BitsAllocated", "BitsStored", "HighBit", "PixelRepresentation"),
        *("PixelAspectRatio", "PixelPaddingValue", "PixelPaddingRangeLimit"),
        *("LossyImageCompression", "BurnedInAnnotation", "Modality"),
        *("PixelSpacing", "ImagerPixelSpacing", "NominalScannedPixelSpacing"),
        *("EstimatedRadiographicMagnificationFactor", "PixelSpacingCalibrationType"),
        *("WindowCenter", "WindowWidth", "VOILUTFunction", "VOILUTSequence"),
        *("RescaleSlope", "RescaleIntercept", "RescaleType", "ModalityLUTSequence"),
        *("PresentationLUTShape", "PresentationLUTSequence", "LUTDescriptor", "LUTData"),
        "RedPaletteColorLookupTableDescriptor",
        *("GreenPaletteColorLookupTableDescriptor", "BluePaletteColorLookupTableDescriptor"),
        *("RedPaletteColorLookupTableData", "GreenPaletteColorLookupTableData"),
        *("BluePaletteColorLookupTableData", "PatientOrientation", "ViewPosition"),
        *("ViewCodeSequence", "CodeValue", "CodingSchemeDesignator"),
        *("SharedFunctionalGroupsSequence", "PerFrameFunctionalGroupsSequence"),
        *("PixelMeasuresSequence", "FrameVOILUTSequence", "FramePixelDataPropertiesSequence"),
        "PixelValueTransformationSequence",
        *("ExtendedOffsetTable", "ExtendedOffsetTableLengths"),
        *("PixelData", "FloatPixelData", "DoubleFloatPixelData"),
    )
)
"""Attributes of DICOM for showing the pixels: numbers and fixed words, no free text."""
_PNG: Final = b"\x89PNG\r\n\x1a\n"
_PNG_KEPT: Final = (b"IHDR", b"PLTE", b"IDAT", b"IEND", b"tRNS", b"gAMA", b"cHRM", b"sRGB", b"sBIT")
_MOST: Final = 65_535


def write_clean_picture(source: Path, target: Path) -> Path:
    """Rewrite a picture file with the same pixels; return ``target`` with its ending.

    DICOM keeps its encoded pixels, with only the attributes for showing them. PNG keeps its pixels
    as well. Everything else becomes PNG, upright by EXIF orientation, which the app's boxes refer
    to.

    Raises
    ------
    ImageError
        It cannot be read.
    OSError
    """
    as_png = target.with_name(f"{target.name}.png")
    picture = read_image(source)  # first: a broken file may contain anything
    with source.open("rb") as file:
        head = file.read(len(_PNG))
    if head == _PNG and _write_png(source.read_bytes(), as_png):
        return as_png
    if picture.kind == "dicom":
        as_dicom = target.with_name(f"{target.name}.dcm")
        _write_dicom(source, as_dicom)
        return as_dicom
    pixels = picture.pixels
    most = 255
    if pixels.ndim == 2 and pixels.dtype != np.uint8:
        if int(pixels.min(initial=0)) < 0 or int(pixels.max(initial=0)) > _MOST:
            raise ImageBroken("The picture has values that PNG cannot hold.")
        pixels, most = pixels.astype(np.uint16), _MOST
    if picture.invert:
        pixels = (most - pixels).astype(pixels.dtype)
    Image.fromarray(np.ascontiguousarray(pixels)).save(as_png, "PNG")
    return as_png


def _write_png(content: bytes, target: Path) -> bool:
    """Copy the picture's chunks of a PNG; False if EXIF may turn it, or if it is cut off."""
    kept, place = BytesIO(), len(_PNG)
    kept.write(_PNG)
    while place + 12 <= len(content):
        size = int.from_bytes(content[place : place + 4])
        name = content[place + 4 : place + 8]
        if name == b"eXIf" or place + 12 + size > len(content):
            return False
        if name in _PNG_KEPT:
            kept.write(content[place : place + 12 + size])
        elif name in (b"tEXt", b"zTXt") and b"exif" in content[place : place + 60].lower():
            return False
        if name == b"IEND":
            break  # no program shows what follows
        place += 12 + size
    target.write_bytes(kept.getvalue())
    return True


def _write_dicom(source: Path, target: Path) -> None:
    given = pydicom.dcmread(source, force=True)
    kept = _display_attributes(given)
    kept.SOPClassUID = SecondaryCaptureImageStorage
    kept.SOPInstanceUID = generate_uid()
    kept.StudyInstanceUID, kept.SeriesInstanceUID = generate_uid(), generate_uid()
    kept.PatientName, kept.PatientID, kept.StudyID = "", "", ""
    meta = FileMetaDataset()
    meta.MediaStorageSOPClassUID = kept.SOPClassUID
    meta.MediaStorageSOPInstanceUID = kept.SOPInstanceUID
    meta.TransferSyntaxUID = given.file_meta.get("TransferSyntaxUID", ImplicitVRLittleEndian)
    kept.file_meta = meta
    kept.save_as(target, enforce_file_format=True)


def _display_attributes(given: Dataset) -> Dataset:
    """Copy the attributes for showing the pixels, also within sequences."""
    kept = Dataset()
    for element in given:
        if element.keyword not in _OF_PIXELS:
            continue
        if element.VR == "SQ":
            setattr(kept, element.keyword, [_display_attributes(item) for item in element.value])
        else:
            kept.add(element)
    return kept


_IMAGES: Final = "images"
_WITHOUT_TABLE: Final = {
    "adjudicate": "scores agreed on",
    "assign": "assignments",
    "skip": "cases left out by a reader",
    "reveal": "records of what a reader was shown",
    "written_failure": "failures in words",
    "written_validation": "answers read for a failure in words",
    "written_mark": "answers marked with a failure in words",
    "meeting": "meetings",
    "agenda": "cases on agendas",
    "presenter_note": "presenter's notes",
    "discussed": "cases shown in meetings",
    "vote": "votes",
}
"""Kinds of entries without a table in a set, and their names."""


def write(content: ExportContent, out: Path, progress: ExportProgress) -> None:
    """Write the review set into an empty folder.

    Raises
    ------
    ExportCancelled
        The user has cancelled the export.
    """
    whole = content.whole()
    names = _write_pictures(content, whole, out / _IMAGES, progress)
    models = _other_ids(content, whole)
    made, notes = make_exported_set(whole, names, models)
    copy_own_files(made, out)
    write_tables(made, out, "jsonl", f"{_IMAGES}/")
    if whole.hidden or models or made.answers["images"].list.len().sum():
        # a digest covers the answer in the new set: model, words and pictures
        made = update_digests(load_review_set(out), made)
        for table in out.glob("*.jsonl"):
            table.unlink()
        write_tables(made, out, "jsonl", f"{_IMAGES}/")
    for sentence in notes:
        progress.note(sentence)
    _note_left_entries(whole, progress)


def _other_ids(content: ExportContent, whole: WholeSet) -> dict[str, str]:
    """Return the exported ids of models whose id changes."""
    both = zip(whole.review_set.models, content.models, strict=True)
    return {given.id: shown.id for given, shown in both if given.id != shown.id}


def _write_pictures(
    content: ExportContent, whole: WholeSet, folder: Path, progress: ExportProgress
) -> dict[str, str]:
    """Write the pictures of all cases; return their new names by their paths in the set."""
    folder.mkdir()
    names: dict[str, str] = {}
    for made in progress.over(content):
        real = whole.cases[made.number - 1]
        case = whole.review_set.case(real)
        of_study = [image.path for image in case.images] if case else []
        returned = [path for one in whole.review_set.answers_of(real) for path in one.images]
        repeats = [
            path
            for one in whole.review_set.answers_of(real)
            for other in whole.review_set.repeats_of(real, one.model)
            for path in other.images
        ]
        for path in (*of_study, *returned, *repeats):
            if path in names:
                continue
            stem = f"{made.number:04d}-{len(names) + 1:04d}"
            try:
                names[path] = write_clean_picture(
                    find_image_file(whole.review_set, path), folder / stem
                ).name
            except (ImageError, PathEscape, OSError):
                names[path] = f"{stem}.png"
                progress.note("Pictures that cannot be read are named in the set, but not in it.")
            progress.check()
    return names


def _note_left_entries(whole: WholeSet, progress: ExportProgress) -> None:
    """Report entries that are in no table."""
    cases = set(whole.cases)
    left = []
    for kind, words in _WITHOUT_TABLE.items():
        rows = [
            row
            for row in whole.reviews.current(kind)
            if row.value is not None and (row.case is None or row.case in cases)
        ]
        if rows:
            left.append(f"{len(rows):,} {words}")
    if left:
        where = "but kept with the reviews (python -m rexview backup)"
        progress.note(f"Not in the new set, {where}: {', '.join(left)}.")

"""Tables about images, recognised by their columns: boxes, and metadata such as view, age, labels.

Known layouts: NIH ChestX-ray14 (``BBox_List_2017.csv``, ``Data_Entry_2017.csv``), VinDr-CXR
(``x_min`` ... ``y_max``), RSNA (``patientId, x, y, width, height``), and plain ``image, label,
x, y, width, height``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from rexview.geometry import from_corners
from rexview.reviewset.importers.coco.box_placement import four_numbers
from rexview.reviewset.importers.core.problem_log import ProblemLog
from rexview.reviewset.importers.core.report_text import read_age, read_sex
from rexview.reviewset.importers.table.cell_values import read_list, read_number
from rexview.reviewset.importers.table.column_names import ColumnName, is_identity
from rexview.reviewset.importers.table.sheet import Sheet, read_sheet

_IMAGE: Final = (
    *("image index", "image", "image id", "image path", "image name", "filename", "file name"),
    *("file", "path", "dicom id", "patient id"),
)
_LABEL: Final = ("finding label", "label", "class name", "class", "category", "finding", "target")
_LABELS: Final = ("finding labels", "labels", "label", "finding", "findings")
_CORNERS: Final = (
    (("x min", "xmin", "x 1"), ("y min", "ymin", "y 1")),
    (("x max", "xmax", "x 2"), ("y max", "ymax", "y 2")),
)
_SIZES: Final = (
    (("x", "bbox x", "left"), ("y", "bbox y", "top")),
    (("width", "w", "bbox w", "bbox width"), ("height", "h", "bbox h", "bbox height")),
)
_ONE_CELL: Final = ("bbox", "box", "bounding box")
_VIEW: Final = ("view position", "view", "projection", "ap pa", "frontal lateral")
_AGE: Final = ("patient age", "age")
_SEX: Final = ("patient gender", "patient sex", "gender", "sex")
_PATIENT: Final = ("patient id", "subject id", "patient")
_NORMAL_LABELS: Final = frozenset(("no finding", "normal", "no findings"))

Columns = Mapping[str, str]


@dataclass(frozen=True)
class TableBox:
    """A box of a table: the image's name as written, and x, y, width, height in pixels."""

    image: str
    label: str
    box: tuple[float, float, float, float]
    row: int


@dataclass(frozen=True)
class ImageMetadata:
    """What a table says of one image. ``patient`` groups images; it is not shown as it is."""

    image: str
    row: int
    view: str | None = None
    age: str | None = None
    sex: str | None = None
    patient: str | None = field(default=None, repr=False)
    labels: tuple[str, ...] = ()
    extra: Mapping[str, str] = field(default_factory=dict)

    @property
    def normal(self) -> bool | None:
        """Whether the labels say that there is no finding; None without labels."""
        if not self.labels:
            return None
        return all(label.lower() in _NORMAL_LABELS for label in self.labels)


def read_image_table(
    path: Path, log: ProblemLog
) -> tuple[list[TableBox], list[ImageMetadata]] | None:
    """Read a table of boxes or of metadata; None when its columns say that it is neither.

    Problems of a table that is neither are not reported: it may have nothing to do with images.
    """
    own = ProblemLog()
    sheet = read_sheet(path, own)
    if sheet is None:
        return None
    columns = {ColumnName.of(name).plain: name for name in reversed(sheet.columns)}
    image = _first(columns, _IMAGE)
    if image is None:
        return None
    read_box = _box_reader(columns)
    if read_box is not None:
        log.take(own)
        return list(_boxes(sheet, columns, image, read_box, log)), []
    known = [_first(columns, words) for words in (_VIEW, _AGE, _SEX, _LABELS)]
    if image == _first(columns, ("patient id",)) or not any(known):
        return None
    log.take(own)
    return [], list(_metadata(sheet, columns, image))


def _first(columns: Columns, words: tuple[str, ...]) -> str | None:
    return next((columns[word] for word in words if word in columns), None)


@dataclass(frozen=True)
class _BoxReader:
    """Where the four numbers of a box stand, and how they are meant."""

    cells: tuple[str, ...]
    corners: bool = False

    def read(self, record: Mapping[str, str | None]) -> tuple[float, float, float, float] | None:
        if len(self.cells) == 1:
            try:
                values = json.loads(record[self.cells[0]] or "")
            except (ValueError, RecursionError):
                return None
            return four_numbers(values) if isinstance(values, list) else None
        numbers = four_numbers([read_number(record[cell]) for cell in self.cells])
        if numbers is not None and self.corners:
            return four_numbers(from_corners(*numbers))
        return numbers


def _box_reader(columns: Columns) -> _BoxReader | None:
    for words, corners in ((_SIZES, False), (_CORNERS, True)):
        cells = [_first(columns, names) for pair in words for names in pair]
        found = tuple(cell for cell in cells if cell is not None)
        if len(found) == 4:
            return _BoxReader(found, corners)
    one = _first(columns, _ONE_CELL)
    return _BoxReader((one,)) if one else None


def _boxes(
    sheet: Sheet, columns: Columns, image: str, reader: _BoxReader, log: ProblemLog
) -> Iterator[TableBox]:
    label = _first(columns, _LABEL)
    for row, record in sheet.records():
        name = record[image]
        if name is None or all(record[cell] is None for cell in reader.cells):
            continue  # VinDr and RSNA list images without a finding, too
        box = reader.read(record)
        if box is None:
            log.warning(
                sheet.file,
                "The box does not have four finite numbers; it was left out.",
                "Give x, y, width and height in pixels.",
                row=row,
                field=reader.cells[0],
            )
            continue
        yield TableBox(name, (label and record[label]) or "", box, row)


def _metadata(sheet: Sheet, columns: Columns, image: str) -> Iterator[ImageMetadata]:
    view, age, sex, patient, labels = (
        _first(columns, words) for words in (_VIEW, _AGE, _SEX, _PATIENT, _LABELS)
    )
    used = {image, view, age, sex, patient, labels}
    others = [name for name in sheet.columns if name not in used and not is_identity(name)]
    for row, record in sheet.records():
        name = record[image]
        if name is None:
            continue

        def cell(column: str | None, record: Mapping[str, str | None] = record) -> str | None:
            return record[column] if column else None

        yield ImageMetadata(
            image=name,
            row=row,
            view=cell(view),
            age=read_age(cell(age)),
            sex=read_sex(cell(sex)),
            patient=cell(patient),
            labels=tuple(read_list(cell(labels))),
            extra={other: value for other in others for value in [record[other]] if value},
        )

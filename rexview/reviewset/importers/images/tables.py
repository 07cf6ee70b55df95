"""Tables about images, recognised by their columns: boxes, and metadata such as view, age, labels.

Known layouts: NIH ChestX-ray14 (``BBox_List_2017.csv``, ``Data_Entry_2017.csv``), VinDr-CXR
(``x_min`` ... ``y_max``), RSNA (``patientId, x, y, width, height``), and plain ``image, label,
x, y, width, height``. The names of columns stand in ``table/column_names.yaml``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from rexview.geometry import from_corners
from rexview.reviewset.importers.coco.box_placement import Box, FoundBox, four_numbers
from rexview.reviewset.importers.core.problem_log import ProblemLog
from rexview.reviewset.importers.core.report_text import read_age, read_sex
from rexview.reviewset.importers.table.cell_values import read_list, read_number
from rexview.reviewset.importers.table.column_names import IMAGE_TABLES, ColumnName, is_identity
from rexview.reviewset.importers.table.sheet import Row, Sheet, read_sheet

_SIZES: Final = ("x", "y", "width", "height")
_CORNERS: Final = ("x_min", "y_min", "x_max", "y_max")
_METADATA: Final = ("view", "age", "sex", "labels")
_NORMAL_LABELS: Final = frozenset(("no finding", "normal", "no findings"))


@dataclass(frozen=True)
class ImageMetadata:
    """What a table says of one image. ``patient`` groups images; it is not shown as it is."""

    image: str
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
) -> tuple[list[FoundBox], list[ImageMetadata]] | None:
    """Read a table of boxes or of metadata; None when its columns say that it is neither.

    Problems of a table that is neither are not reported: it may have nothing to do with images.
    """
    of_table = ProblemLog()
    sheet = read_sheet(path, of_table)
    if sheet is None:
        return None
    plain = {ColumnName.of(name).plain: name for name in reversed(sheet.columns)}
    columns = {
        meaning: next(plain[name] for name in names if name in plain)
        for meaning, names in IMAGE_TABLES.items()
        if not plain.keys().isdisjoint(names)
    }
    if "image" not in columns:
        return None
    shapes = (_SIZES, _CORNERS, ("box",))
    shape = next((one for one in shapes if columns.keys() >= set(one)), None)
    if shape is None and (
        columns["image"] == plain.get("patient id") or columns.keys().isdisjoint(_METADATA)
    ):
        return None
    log.take(of_table)
    if shape is not None:
        return list(_boxes(sheet, columns, shape, log)), []
    return [], list(_metadata(sheet, columns, log))


def _boxes(
    sheet: Sheet, columns: Mapping[str, str], shape: tuple[str, ...], log: ProblemLog
) -> Iterator[FoundBox]:
    for row in sheet.read(columns, log):
        name = row["image"]
        if name is None or all(row[part] is None for part in shape):
            continue  # VinDr and RSNA list images without a finding, too
        box = _box(row, shape)
        if box is None:
            message = "The box does not have four finite numbers; it was left out."
            row.warn(message, "Give x, y, width and height in pixels.", columns[shape[0]])
            continue
        yield FoundBox(name, row["label"] or "", box, row.number)


def _box(row: Row, shape: tuple[str, ...]) -> Box | None:
    if len(shape) == 1:
        try:
            values = json.loads(row[shape[0]] or "")
        except (ValueError, RecursionError):
            return None
        return four_numbers(values) if isinstance(values, list) else None
    numbers = four_numbers([read_number(row[part]) for part in shape])
    return four_numbers(from_corners(*numbers)) if numbers and shape == _CORNERS else numbers


def _metadata(sheet: Sheet, columns: Mapping[str, str], log: ProblemLog) -> Iterator[ImageMetadata]:
    used = {columns.get(part) for part in ("image", "patient", *_METADATA)}
    others = [name for name in sheet.columns if name not in used and not is_identity(name)]
    for row in sheet.read(columns, log):
        name = row["image"]
        if name is not None:
            yield ImageMetadata(
                image=name,
                view=row["view"],
                age=read_age(row["age"]),
                sex=read_sex(row["sex"]),
                patient=row["patient"],
                labels=tuple(read_list(row["labels"])),
                extra={other: value for other in others if (value := row.cells[other])},
            )

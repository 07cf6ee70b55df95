"""Boxes brought onto the images of an import, as the truth or as a model's.

Which box four numbers are is found out for all boxes of a file and model at once
(:mod:`.box_reading`), unless the format or the person says so. A picture that no source has becomes
a new case.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import Any, Final

import numpy as np

from rexview.geometry import box_problem
from rexview.reviewset.importers.annotations.box_reading import (
    SHAPES,
    BoxReading,
    FoundBox,
    ReadingProposal,
    picture_size,
    propose_reading,
)
from rexview.reviewset.importers.core.case_names import safe_path
from rexview.reviewset.importers.core.set_rows import Place, SetRows
from rexview.reviewset.tables.source import At
from rexview.written_boxes.forms import Corners


class PictureCases:
    """Finds or makes the cases of the pictures of one file.

    Cases of other sources are found by the picture's name, whatever its folder; two pictures of
    this file that differ in their folder only are two.
    """

    def __init__(self, rows: SetRows) -> None:
        self._rows = rows
        self._before = {case["id"] for case in rows.cases}

    def find(self, *names: str) -> Place | None:
        """Return case and image of the first of these names that is there."""
        for name in names:
            path = safe_path(name)
            place = self._rows.find_case(image=path) if path else None
            if place is not None and (place[0] in self._before or self._has(place[0], path)):
                return place
        return None

    def _has(self, case_id: str, path: str | None) -> bool:
        case = self._rows.case(case_id) or {}
        return any(image["path"] == path for image in case.get("images") or [])

    def case_of(
        self,
        names: tuple[str, ...],
        at: At,
        otherwise: str,
        *,
        study: str | None = None,
        image: Mapping[str, Any] | None = None,
        **fields: Any,
    ) -> str:
        """Add what is said of a picture to its case, and return the case's id.

        ``names`` are what the picture may be called, the first what it is called where no source
        has it; ``study`` names a case of several pictures, ``image`` says more of the picture.
        """
        known = self.find(*names)
        path = safe_path(names[0]) if names else None
        case_id = study or (str(PurePosixPath(path).with_suffix("")) if path else otherwise)
        row: dict[str, Any] = {"id": known[0] if known else case_id, **fields}
        if known is None and path is not None:
            row["images"] = [{"path": path, **(image or {})}]
        return self._rows.add_case(row, at)


_SAME_SHAPE: Final = 0.01
_PICTURES_SHOWN: Final = 3
_NO_IMAGE: Final = "Its image is not there, or several have that name."

Size = tuple[int, int]
Find = Callable[[FoundBox], Place | None]


@dataclass(frozen=True)
class BoxPreview:
    """Some boxes of a file as they are read, for a person to look at before the import.

    ``pictures`` has up to three images (the id of the case and of the image, size in pixels) with
    their boxes: label, and the four numbers as given, which another reading makes into other boxes.
    """

    file: str
    model: str | None
    count: int
    proposal: ReadingProposal
    pictures: tuple[
        tuple[str, str, Size, tuple[tuple[str, tuple[float, float, float, float]], ...]], ...
    ]


@dataclass(frozen=True)
class _Placed:
    found: FoundBox
    case: str
    image: str
    stored: Size | None

    @property
    def size(self) -> Size | None:
        """The size of the picture that the numbers are of."""
        return self.found.size or self.stored


def place_boxes(
    found: Sequence[FoundBox],
    file: str,
    rows: SetRows,
    options: Mapping[str, Any],
    *,
    find: Find | None = None,
    shapes: Sequence[Corners] = SHAPES,
    expected: BoxReading | None = None,
    part: str = "",
    absent_from: str = "are not in the folder, or whose name occurs there more than once",
) -> int:
    """Add boxes to their cases, as the reference or to answers of their model; return how many.

    Boxes that cannot be drawn are added all the same, with a warning: where a model puts a box
    matters even if that is outside of the image. Boxes measured on a picture of another size are
    scaled to the stored one, where both have the same shape. Where no source gives any image, cases
    are made of the names of the pictures.

    ``found`` are of one file, or of many small ones that are one export (``box.file`` says which);
    ``file`` and ``part`` name it and the list in it for a person. ``find`` finds case and image of
    a box, by the name of the picture when left out. ``shapes`` are what the names of the columns
    allow, ``expected`` is what the format prescribes, and ``absent_from`` completes "boxes are for
    images that ..." where their images are not found.
    """
    if find is None:
        if not any(True for _ in rows.images()):
            make_cases({str(box.image): box.size for box in reversed(found)}, file, rows, part)
        find = _by_name(file, rows, part)
    targets = {one.image: find(one) for one in {box.image: box for box in found}.values()}
    images = {(case, image["id"]): image for case, image in rows.images()}
    groups: dict[str | None, list[_Placed]] = {}
    absent = 0
    for box in found:
        target = targets[box.image]
        image = images.get((target[0], target[1] or "")) if target else None
        if target is None or image is None:
            absent += 1
            rows.receipt.unused(_at(box, file, part), _NO_IMAGE)
            continue
        stored = picture_size(image.get("width"), image.get("height"))
        groups.setdefault(box.model, []).append(_Placed(box, target[0], image["id"], stored))
    if absent:
        message = f"{absent:,} boxes are for images that {absent_from}; they were left out."
        remedy = "Nothing, if only some of the images are meant. Else give the images, too."
        rows.log.warning(file, message, remedy, field="image")
    return sum(
        _add_group(
            model,
            boxes,
            file,
            rows,
            part,
            _reading_of(boxes, _said(options, file, model), shapes, expected),
        )
        for model, boxes in groups.items()
    )


def _said(options: Mapping[str, Any], file: str, model: str | None) -> BoxReading | None:
    """Return the reading that a person said, for all boxes or for this model's of this file."""
    said: BoxReading | Mapping[Any, BoxReading] | None = options.get("boxes_as")
    return said.get((file, model)) if isinstance(said, Mapping) else said


def _reading_of(
    boxes: Sequence[_Placed],
    said: BoxReading | None,
    shapes: Sequence[Corners],
    expected: BoxReading | None,
) -> ReadingProposal:
    if said is not None:
        return ReadingProposal(said, (), "It was said so.", prescribed=True)
    numbers = [one.found.numbers for one in boxes]
    sizes = [one.size for one in boxes]
    return propose_reading(numbers, sizes, shapes=shapes, expected=expected)


def _add_group(
    model: str | None,
    boxes: Sequence[_Placed],
    file: str,
    rows: SetRows,
    part: str,
    proposal: ReadingProposal,
) -> int:
    """Add the boxes of one model, or the reference, in one reading; return how many."""
    _say(proposal, len(boxes), model, file, rows)
    rows.box_previews.append(_preview(file, model, boxes, proposal))
    reading = proposal.reading
    sizes = [one.size if reading.unit == "pixels" else one.stored or one.size for one in boxes]
    known = np.array([size or (np.nan, np.nan) for size in sizes], dtype=np.float64)
    numbers = np.array([one.found.numbers for one in boxes], dtype=np.float64)
    pixels = reading.to_pixels(numbers, known).round(6)
    added = scaled = 0
    for one, size, box in zip(boxes, sizes, pixels.tolist(), strict=True):
        at = _at(one.found, file, part)
        if not np.isfinite(box).all():
            _keep_unplaced(one, reading, at, rows)
            continue
        drawn, was_scaled = _scaled(box, size, one.stored, at, rows)
        scaled += was_scaled
        problem = box_problem(drawn, *(one.stored or one.size or (None, None)))
        if problem:
            message = f"{problem} It is kept, and not drawn."
            rows.log.warning(at.file, message, "Correct the box.", row=at.row, field="box")
        row = {"image": one.image, "label": one.found.label, "box": drawn, **one.found.extra}
        if model is None:
            rows.add_boxes(one.case, one.image, [row], at)
        else:
            rows.add_model_boxes(one.case, model, [row | {"score": one.found.score}], at)
        added += 1
    if scaled:
        rows.log.note(f"{file}: {scaled:,} boxes were scaled to the size of their image file.")
    return added


def _say(
    proposal: ReadingProposal, count: int, model: str | None, file: str, rows: SetRows
) -> None:
    whose = f"boxes of {model}" if model is not None else "reference boxes"
    how = proposal.reading.in_words
    rows.log.note(f"{file}: {count:,} {whose}, read as {how}.")
    certain = proposal.sure and proposal.fits and proposal.reading.unit == "pixels"
    if certain or proposal.prescribed:
        return
    message = f"The {whose} are read as {how}. {proposal.why}"
    remedy = f"Say how they are meant (option boxes-as), if not {proposal.reading}."
    rows.log.warning(file, message, remedy, field="box")


def _keep_unplaced(one: _Placed, reading: BoxReading, at: At, rows: SetRows) -> None:
    """Keep a box in parts of an image whose size nobody knows, as an extra field of its case."""
    message = (
        f"The box is in {reading.unit} of an image whose size is not known; it is kept as the "
        "extra field boxes_as_given, and not drawn."
    )
    rows.log.warning(at.file, message, "Give the images, too.", row=at.row, field="box")
    case = rows.case(one.case)
    assert case is not None
    given = {
        "image": one.image,
        "label": one.found.label,
        "numbers": list(one.found.numbers),
        "reading": str(reading),
        "model": one.found.model,
    }
    case["boxes_as_given"] = [*(case.get("boxes_as_given") or []), given]
    rows.receipt.used(at)


def _scaled(
    box: Sequence[float], size: Size | None, stored: Size | None, at: At, rows: SetRows
) -> tuple[list[float], bool]:
    if size is None or stored is None or size == stored:
        return list(box), False
    across, down = stored[0] / size[0], stored[1] / size[1]
    if abs(across / down - 1) > _SAME_SHAPE:
        message = (
            "The box was measured on a picture of another shape than the image file; it may be "
            "misplaced."
        )
        remedy = "Give the image that the boxes were drawn on."
        rows.log.warning(at.file, message, remedy, row=at.row, field="box")
        return list(box), False
    return [one * scale for one, scale in zip(box, (across, down) * 2, strict=True)], True


def _at(box: FoundBox, file: str, part: str) -> At:
    return At(box.file or file, box.row, part)


def _by_name(file: str, rows: SetRows, part: str) -> Find:
    def find(box: FoundBox) -> Place | None:
        name = str(box.image)
        return rows.find_case(image=name, case=name, at=_at(box, file, part))

    return find


def make_cases(sizes: Mapping[str, Size | None], file: str, rows: SetRows, part: str = "") -> None:
    """Make a case of each picture that a file names, with its size where that is known."""
    pictures = PictureCases(rows)
    for name, size in sizes.items():
        known = dict(zip(("width", "height"), size, strict=True)) if size else {}
        pictures.case_of((name,), At(file, None, part), name, image=known)
    if sizes:
        rows.log.note(f"{file}: cases were made of the {len(sizes):,} pictures that it names.")


def _preview(
    file: str, model: str | None, boxes: Sequence[_Placed], proposal: ReadingProposal
) -> BoxPreview:
    """Choose the pictures with the most boxes."""
    pictures: dict[tuple[str, str, Size], list[_Placed]] = {}
    for one in boxes:
        if one.size is not None:
            pictures.setdefault((one.case, one.image, one.size), []).append(one)
    fullest = sorted(pictures.items(), key=lambda item: -len(item[1]))[:_PICTURES_SHOWN]
    shown = tuple(
        (*place, tuple((one.found.label, one.found.numbers) for one in inside))
        for place, inside in fullest
    )
    return BoxPreview(file, model, len(boxes), proposal, shown)


def as_model(found: Sequence[FoundBox], model: str | None) -> list[FoundBox]:
    """Return boxes as those of ``model``, where one is named."""
    return list(found) if model is None else [replace(box, model=model) for box in found]


def name_unread(unread: Mapping[str, int], file: str, rows: SetRows) -> None:
    """Name kinds of annotations that are not read, with how many there are."""
    for kind, count in unread.items():
        why = f"{count:,} of them are there; they are not read."
        rows.receipt.column_unused(file, kind, None, why)

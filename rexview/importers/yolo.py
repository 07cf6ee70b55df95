"""Read YOLO's text files: one a picture, one box a line, with a list of class names.

A line is ``class x y width height`` in fractions of the picture, x and y of the centre; a sixth
number is a model's confidence. Lines with more numbers are outlines, ``class x1 y1 x2 y2 ...``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath
from typing import Any, Final

from rexview.errors import FileRefused
from rexview.importers.box_placement import BoxReading, SourceBox, place_boxes
from rexview.importers.set_rows import SetRows
from rexview.importers.source_files import Probe, SourceFile, read_text
from rexview.reviewset.tables.source import RowOrigin
from rexview.text.written_boxes import four_numbers, one_number
from rexview.untrusted_input import parse_untrusted_yaml

CLASS_FILES: Final = ("classes.txt", "obj.names", "_darknet.labels", "predefined_classes.txt")
_LINE: Final = re.compile(r"^\d+(?:\.0*)?(?:[ \t]+-?\d*\.?\d+(?:[eE]-?\d+)?){4,}$")
_LONGEST_CLASS: Final = 80
_FOLDERS: Final = ("labels", "train", "val", "valid", "test")


@dataclass
class LabelFile:
    """The boxes of one picture; ``outlines`` counts lines that were outlines."""

    boxes: list[SourceBox] = field(default_factory=list)
    broken: list[int] = field(default_factory=list)
    outlines: int = 0


def looks_like_labels(text: str) -> bool:
    """True if every line of a text (at least one) is a YOLO line within the picture."""
    lines = [line.strip() for line in text.splitlines()[:200] if line.strip()]
    if not lines or not all(_LINE.match(line) for line in lines):
        return False
    numbers = [float(word) for line in lines for word in line.split()[1:]]
    return max(numbers) <= 1.1 and min(numbers) >= -0.1


def class_names(name: str, text: str) -> list[str] | None:
    """Return the class names of ``classes.txt`` and similar files, None for another file."""
    file = PurePosixPath(name).name.lower()
    if file not in CLASS_FILES and not file.endswith(".names"):
        return None
    names = [line.strip() for line in text.splitlines() if line.strip()]
    return names if names and all(len(one) <= _LONGEST_CLASS for one in names) else None


def names_of_yaml(content: Any) -> list[str] | None:
    """Return the class names of a parsed ``data.yaml``, None for another file."""
    names = content.get("names") if isinstance(content, Mapping) else None
    if isinstance(names, list):
        return [str(name) for name in names]
    if isinstance(names, Mapping) and all(isinstance(key, int) for key in names):
        most = max(names, default=-1)
        return [str(names.get(key, key)) for key in range(most + 1)] if most < 10_000 else None
    return None


def read_labels(name: str, text: str, classes: list[str], model: str | None) -> LabelFile:
    """Read one file of boxes; ``name`` is its path, ``model`` names the model of confidences."""
    found = LabelFile()
    image = picture_name(name)
    for row, line in enumerate(text.splitlines(), start=1):
        words = line.split()
        if not words:
            continue
        values = words[1:]
        outline = len(values) >= 6 and len(values) % 2 == 0
        score = None
        if outline:
            found.outlines += 1
            values = _around(values)
        elif len(values) == 5:
            score = one_number(values.pop())
        numbers = four_numbers(values)
        if numbers is None:
            found.broken.append(row)
            continue
        number = words[0].partition(".")[0]
        known = number.isdigit() and int(number) < len(classes)
        label = classes[int(number)] if known else f"class {number}"
        whose = None if score is None else model
        found.boxes.append(SourceBox(image, label, numbers, row, whose, score))
    return found


def _around(values: list[str]) -> list[Any]:
    """Return centre, width and height of the box around an outline's points."""
    try:
        across = [float(value) for value in values[0::2]]
        down = [float(value) for value in values[1::2]]
    except ValueError:
        return []
    left, right, top, bottom = min(across), max(across), min(down), max(down)
    return [(left + right) / 2, (top + bottom) / 2, right - left, bottom - top]


def picture_name(name: str) -> str:
    """Return the picture's path without ending: ``labels/train/a.txt`` is ``images/train/a``.

    >>> picture_name("set/labels/a.txt"), picture_name("a.txt")
    ('set/images/a', 'a')
    """
    path = PurePosixPath(name).with_suffix("")
    parts = ["images" if part == "labels" else part for part in path.parts]
    return "/".join(parts)


def model_name(name: str) -> str:
    """Return the model of boxes with confidences, named after its run's folder.

    >>> model_name("runs/detect/exp3/labels/a.txt"), model_name("a.txt")
    ('exp3', 'YOLO')
    """
    folders = [part for part in PurePosixPath(name).parts[:-1] if part not in _FOLDERS]
    return folders[-1] if folders else "YOLO"


def recognises(probe: Probe) -> str | None:
    """Return why a file is YOLO's (lines of boxes, or the list of their classes), or None."""
    if probe.kind not in ("text", "table"):
        return None
    if looks_like_labels(probe.text):
        return "lines of a class and four shares of the picture"
    return "names of classes" if _class_names(probe.label, probe.text) else None


def _class_names(label: str, text: str) -> list[str] | None:
    names = class_names(label, text)
    if names is None and PurePosixPath(label).suffix.lower() in (".yaml", ".yml"):
        try:
            names = names_of_yaml(parse_untrusted_yaml(text)[0])
        except FileRefused:
            return None
    return names


def read_yolo(files: Sequence[SourceFile], rows: SetRows, options: Mapping[str, Any]) -> None:
    """Read YOLO's label files and lists of classes; lines with a confidence are a model's."""
    classes: dict[PurePosixPath, list[str]] = {}
    labels: list[tuple[SourceFile, str]] = []
    for file in files:
        text = read_text(file.path, rows.log, save_as="UTF-8")
        if text is None:
            continue
        names = _class_names(file.label, text)
        if names is None:
            labels.append((file, text))
        else:
            classes[PurePosixPath(file.label).parent] = names
    boxes: list[SourceBox] = []
    outlines = unnamed = 0
    for file, text in labels:
        # the class names of its folder, of one above, else the only ones there are
        above = [classes[one] for one in PurePosixPath(file.label).parents if one in classes]
        names = (above or [*classes.values()] if len(classes) == 1 else [*above, []])[0]
        model = options.get("model") or model_name(file.label)
        found = read_labels(file.label, text, names, model)
        rows.receipt.rows(file.label, len(found.boxes) + len(found.broken))
        for row in found.broken:
            rows.receipt.unused(RowOrigin(file.label, row), "The line has no four numbers.")
        outlines += found.outlines
        unnamed += any(box.label.startswith("class ") for box in found.boxes)
        boxes += [replace(box, file=file.label) for box in found.boxes]
    where = "YOLO files"
    place_boxes(boxes, where, rows, options, expected=BoxReading("cxcywh", "fraction"))
    if outlines:
        rows.log.note(f"{where}: {outlines:,} outlines were read as the boxes around them.")
    if unnamed:
        message = f"{unnamed:,} files have classes without a name; their numbers are shown."
        rows.log.warning(where, message, "Give classes.txt or data.yaml, too.", field="class")

"""Files of annotation tools read into an import: Label Studio, FiftyOne, Pascal VOC, YOLO."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import PurePosixPath
from typing import Any, Final

from rexview.bounded import parse_yaml
from rexview.errors import FileRefused
from rexview.reviewset.importers.annotations import fiftyone, label_studio, pascal_voc, yolo
from rexview.reviewset.importers.annotations.box_placement import (
    PictureCases,
    as_model,
    place_boxes,
)
from rexview.reviewset.importers.annotations.box_reading import BoxReading, FoundBox
from rexview.reviewset.importers.core.recognise import Probe
from rexview.reviewset.importers.core.set_rows import Place, SetRows
from rexview.reviewset.importers.core.source_files import SourceFile, read_json, read_text
from rexview.reviewset.importers.table.column_names import is_identity
from rexview.reviewset.report_text import report_fields
from rexview.reviewset.tables.source import At

_REPORT: Final = ("report", "findings", "impression")
_PERCENT: Final = BoxReading("xywh", "percent")
_FRACTIONS: Final = BoxReading("xywh", "fraction")
_CENTRES: Final = BoxReading("cxcywh", "fraction")
_CORNERS: Final = BoxReading("xyxy", "pixels")


def is_label_studio(probe: Probe) -> str | None:
    """Say why a file is an export of Label Studio."""
    found = probe.kind == "json" and label_studio.looks_like_tasks(probe.json)
    return "tasks of Label Studio" if found else None


def is_fiftyone(probe: Probe) -> str | None:
    """Say why a file is an export of FiftyOne."""
    found = probe.kind == "json" and fiftyone.looks_like_samples(probe.json)
    return "samples of FiftyOne" if found else None


def is_voc(probe: Probe) -> str | None:
    """Say why a file is a Pascal VOC annotation."""
    found = probe.kind == "xml" and pascal_voc.looks_like_voc(probe.text)
    return "an <annotation> in XML" if found else None


def is_yolo(probe: Probe) -> str | None:
    """Say why a file is YOLO's: lines of boxes, or the list of their classes."""
    if probe.kind not in ("text", "table"):
        return None
    if yolo.looks_like_labels(probe.text):
        return "lines of a class and four shares of the picture"
    return "names of classes" if _class_names(probe.label, probe.text) else None


def _class_names(label: str, text: str) -> list[str] | None:
    names = yolo.class_names(label, text)
    if names is None and PurePosixPath(label).suffix.lower() in (".yaml", ".yml"):
        try:
            names = yolo.names_of_yaml(parse_yaml(text)[0])
        except FileRefused:
            return None
    return names


def read_label_studio(
    files: Sequence[SourceFile], rows: SetRows, options: Mapping[str, Any]
) -> None:
    """Read exports of Label Studio: people's boxes are the reference, predictions a model's."""
    for file in files:
        content = read_json(file.path, rows.log)
        if not label_studio.looks_like_tasks(content):
            continue
        rows.receipt.rows(file.label, len(content))
        boxes: list[FoundBox] = []
        unread: dict[str, int] = {}
        hidden: dict[str, None] = {}
        several = 0
        pictures = PictureCases(rows)
        cases: dict[int | str, str] = {}
        for task in label_studio.read_tasks(content):
            if isinstance(task, int):
                rows.receipt.unused(At(file.label, task), "The entry is no task.")
                continue
            at = At(file.label, task.row)
            hidden |= dict.fromkeys(name for name in task.data if is_identity(name))
            given = {name: value for name, value in task.data.items() if not is_identity(name)}
            given = _case_words(given, task.words.get(None, {}))
            named = given.pop("id", None)
            case_id = pictures.case_of(task.images, at, str(named or f"task {task.row}"), **given)
            cases[task.row] = case_id
            for model in task.models:
                words = task.words.get(model, {})
                texts = [text for name in words for text in words[name]]
                answer = {"case": case_id, "model": model, "text": "\n".join(texts) or None}
                rows.add_answer({**answer, **_plain_words(words)}, at)
                rows.declare_model(model, draws_boxes=True)
            boxes += as_model(task.boxes, options.get("model"))
            several += task.annotators > 1 and bool(task.boxes)
            for kind, count in task.unread.items():
                unread[kind] = unread.get(kind, 0) + count

        def find(box: FoundBox, cases: Mapping[int | str, str] = cases) -> Place | None:
            return rows.find_case(case=cases[box.image])

        place_boxes(boxes, file.label, rows, options, find=find, expected=_PERCENT)
        for name in hidden:
            rows.receipt.identity_column(file.label, name)
        _name_unread(unread, file, rows)
        if several:
            rows.log.warning(
                file.label,
                f"{several:,} tasks have boxes of more than one person; all are reference boxes.",
                "Export one person's annotations, if only those are meant.",
                field="annotations",
            )


def _case_words(data: Mapping[str, Any], words: Mapping[str, list[str]]) -> dict[str, Any]:
    """Return a task's data and what people wrote as fields of a case; the report among them."""
    given = dict(data) | _plain_words({name: words[name] for name in words if name not in _REPORT})
    written = {name: "\n".join(words[name]) for name in _REPORT if name in words}
    texts = {name: given.pop(name) for name in _REPORT if isinstance(given.get(name), str)}
    texts |= written
    return given | report_fields(
        texts.get("report"), findings=texts.get("findings"), impression=texts.get("impression")
    )


def _plain_words(words: Mapping[str, list[str]]) -> dict[str, Any]:
    return {name: texts[0] if len(texts) == 1 else texts for name, texts in words.items()}


def _name_unread(unread: Mapping[str, int], file: SourceFile, rows: SetRows) -> None:
    for kind, count in unread.items():
        why = f"{count:,} of them are there; they are not read."
        rows.receipt.column_unused(file.label, kind, None, why)


def read_fiftyone(files: Sequence[SourceFile], rows: SetRows, options: Mapping[str, Any]) -> None:
    """Read exports of FiftyOne: fields with confidences are models', others the reference."""
    for file in files:
        content = read_json(file.path, rows.log)
        if not fiftyone.looks_like_samples(content):
            continue
        rows.receipt.rows(file.label, len(content.get("samples") or content["labels"]))
        boxes: list[FoundBox] = []
        unread: dict[str, int] = {}
        pictures = PictureCases(rows)
        for sample in fiftyone.read_samples(content):
            if isinstance(sample, int):
                why = "The entry is no sample: it has no filepath."
                rows.receipt.unused(At(file.label, sample), why)
                continue
            at = At(file.label, sample.row)
            case: dict[str, Any] = dict(sample.extra)
            tags = {}
            for name, labels in sample.labels.items():
                if any(score is not None for _, score in labels):
                    case[name] = [{"label": word, "confidence": score} for word, score in labels]
                else:
                    tags[name] = [word for word, _ in labels]
            name = f"sample {sample.row}"
            case_id = pictures.case_of((sample.image,), at, name, **case, tags=tags)
            for model in sample.models:
                rows.add_answer({"case": case_id, "model": options.get("model") or model}, at)
            for model in sample.not_run:
                rows.receipt.ran_not(at, model)
            boxes += as_model(sample.boxes, options.get("model"))
            for kind, count in sample.unread.items():
                unread[kind] = unread.get(kind, 0) + count
        place_boxes(boxes, file.label, rows, options, expected=_FRACTIONS)
        _name_unread(unread, file, rows)


def read_voc(files: Sequence[SourceFile], rows: SetRows, options: Mapping[str, Any]) -> None:
    """Read Pascal VOC, one file a picture; objects with a confidence are a model's."""
    boxes: list[FoundBox] = []
    pictures = PictureCases(rows)
    for file in files:
        text = read_text(file.path, rows.log, save_as="UTF-8")
        if text is None:
            continue
        try:
            found = pascal_voc.read_annotation(text)
        except pascal_voc.NotPascalVoc as error:
            message = f"The file {error}"
            rows.log.warning(file.label, message, "Export it again.", kind="voc")
            rows.receipt.file_unread(file.label, "XML", message)
            continue
        rows.receipt.rows(file.label, len(found.boxes) + len(found.broken))
        pictures.case_of((found.image,), At(file.label), found.image)
        for row in found.broken:
            rows.receipt.unused(At(file.label, row), "The object has no four numbers as bndbox.")
        boxes += [
            replace(one, file=file.label, model=None if one.score is None else "detector")
            for one in found.boxes
        ]
    place_boxes(
        as_model(boxes, options.get("model")),
        "Pascal VOC files",
        rows,
        options,
        expected=_CORNERS,
    )


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
    boxes: list[FoundBox] = []
    outlines = unnamed = 0
    for file, text in labels:
        names = _nearest(PurePosixPath(file.label).parent, classes)
        model = options.get("model") or yolo.model_name(file.label)
        found = yolo.read_labels(file.label, text, names, model)
        rows.receipt.rows(file.label, len(found.boxes) + len(found.broken))
        for row in found.broken:
            rows.receipt.unused(At(file.label, row), "The line has no four numbers.")
        outlines += found.outlines
        unnamed += any(box.label.startswith("class ") for box in found.boxes)
        boxes += [replace(box, file=file.label) for box in found.boxes]
    where = "YOLO files"
    place_boxes(boxes, where, rows, options, expected=_CENTRES)
    if outlines:
        rows.log.note(f"{where}: {outlines:,} outlines were read as the boxes around them.")
    if unnamed:
        message = f"{unnamed:,} files have classes without a name; their numbers are shown."
        rows.log.warning(where, message, "Give classes.txt or data.yaml, too.", field="class")


def _nearest(folder: PurePosixPath, classes: Mapping[PurePosixPath, list[str]]) -> list[str]:
    """Return the class names of the folder itself, of one above, else the only ones there are."""
    for one in (folder, *folder.parents):
        if one in classes:
            return classes[one]
    return next(iter(classes.values())) if len(classes) == 1 else []

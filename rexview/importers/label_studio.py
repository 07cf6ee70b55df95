"""Read Label Studio's JSON exports: tasks with people's annotations and models' predictions.

Both forms are read: the full one (``data``, ``annotations``, ``predictions``) and the short one
(JSON-MIN), which puts the labels among the data. Boxes are percent of the picture, origin top left
(labelstud.io, "Units of image annotations"). The results' own ``type`` gives their kind.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import parse_qs, unquote, urlsplit

from rexview.importers.box_placement import (
    BoxReading,
    PictureCases,
    SourceBox,
    assign_model,
    list_unread_kinds,
    picture_size,
    place_boxes,
    upright_box,
)
from rexview.importers.set_rows import CaseImage, SetRows
from rexview.importers.source_files import Probe, SourceFile, read_source_json
from rexview.importers.table.cells import is_identity
from rexview.reviewset.report_text import report_fields
from rexview.reviewset.tables.source import RowOrigin
from rexview.text.written_boxes import four_numbers, one_number

_BOXES: Final = ("rectanglelabels", "rectangle", "ellipselabels", "polygonlabels")
_WORDS: Final = ("choices", "taxonomy", "rating", "number", "textarea")
_TASK_FIELDS: Final = frozenset(
    (
        *("id", "data", "annotations", "completions", "predictions", "drafts", "meta", "inner_id"),
        *("created_at", "updated_at", "updated_by", "project", "file_upload", "comment_authors"),
        *("total_annotations", "cancelled_annotations", "total_predictions", "comment_count"),
        *("unresolved_comment_count", "last_comment_updated_at", "annotator", "annotation_id"),
        *("lead_time", "overlap", "state", "allow_skip"),
    )
)
_REPORT: Final = ("report", "findings", "impression")
_UPLOAD_PREFIX: Final = re.compile(r"^[0-9a-f]{8}-")
"""Label Studio puts eight digits before the name of an uploaded file."""
_IMAGE_ENDING: Final = re.compile(r"\.(png|jpe?g|webp|tiff?|bmp|gif|dcm|dicom)$", re.IGNORECASE)


@dataclass
class LabelStudioTask:
    """One task: its picture's possible names, its other data, and its annotations.

    ``models`` made a prediction, perhaps an empty one. ``words`` are choices, ratings and texts by
    the name of their control; people's are under None, a model's under its version. ``unread``
    counts the kinds of results that are not read.
    """

    row: int
    images: tuple[str, ...]
    data: dict[str, Any]
    boxes: list[SourceBox] = field(default_factory=list)
    words: dict[str | None, dict[str, list[str]]] = field(default_factory=dict)
    unread: Counter[str] = field(default_factory=Counter)
    annotators: int = 0
    models: dict[str, None] = field(default_factory=dict)


def looks_like_tasks(content: Any) -> bool:
    """True if parsed JSON is a list of Label Studio's tasks, in either form."""
    first = content[0] if isinstance(content, list) and content else None
    if not isinstance(first, Mapping):
        return False
    full = isinstance(first.get("data"), Mapping)
    if full and first.keys() & {"annotations", "completions", "predictions"}:
        return True
    return any(
        isinstance(one, Mapping) and "original_width" in one and _label_key(one)
        for value in first.values()
        if isinstance(value, list)
        for one in value[:1]
    )


def read_tasks(content: Sequence[Any]) -> Iterator[LabelStudioTask | int]:
    """Yield the tasks of an export; for an invalid entry, its place in the list (from 1)."""
    for row, entry in enumerate(content, start=1):
        if not isinstance(entry, Mapping):
            yield row
        elif isinstance(entry.get("data"), Mapping):
            yield _full_task(row, entry)
        else:
            yield _short_task(row, entry)


def _full_task(row: int, entry: Mapping[str, Any]) -> LabelStudioTask:
    images, data = _split_data(entry["data"])
    meta = entry.get("meta")
    if isinstance(meta, Mapping):
        data |= {key: value for key, value in meta.items() if key not in data}
    data |= {key: value for key, value in entry.items() if key not in _TASK_FIELDS}
    task = LabelStudioTask(row, images, data)
    annotations = entry.get("annotations") or entry.get("completions")
    for one in _objects(annotations):
        if one.get("was_cancelled"):
            task.unread["skipped annotation"] += 1
            continue
        task.annotators += 1
        task.unread.update(k for k in ("completed_by", "lead_time") if one.get(k) is not None)
        for result in _objects(one.get("result")):
            _add(task, result, None)
    for one in _objects(entry.get("predictions")):
        model = one.get("model_version")
        model = str(model) if model not in (None, "") else "prediction"
        task.models[model] = None
        for result in _objects(one.get("result")):
            _add(task, result, model)
    return task


def _short_task(row: int, entry: Mapping[str, Any]) -> LabelStudioTask:
    """Read a JSON-MIN task: lists of labelled shapes are boxes, everything else is data."""
    shapes = {
        key: value
        for key, value in entry.items()
        if isinstance(value, list) and any(_label_key(one) for one in _objects(value))
    }
    images, data = _split_data({k: v for k, v in entry.items() if k not in shapes})
    task = LabelStudioTask(
        row, images, {k: v for k, v in data.items() if k not in _TASK_FIELDS}, annotators=1
    )
    for value in shapes.values():
        for one in _objects(value):
            _add(task, {"type": _label_key(one), "value": one, **one}, None)
    return task


def _split_data(data: Mapping[str, Any]) -> tuple[tuple[str, ...], dict[str, Any]]:
    """Return the picture's possible names, and the other data of a task."""
    named = {key: names for key, value in data.items() if (names := task_picture_names(value))}
    first = next(iter(named), None)
    others = {key: value for key, value in data.items() if key != first}
    return (named[first] if first is not None else ()), others


def task_picture_names(value: Any) -> tuple[str, ...]:
    """Return the possible names of a picture in a task's data: as stored, and before upload.

    >>> task_picture_names("/data/local-files/?d=xrays/a.png"), task_picture_names("plain text")
    (('xrays/a.png',), ())
    >>> task_picture_names("/data/upload/4/71159d8b-a.png")
    ('71159d8b-a.png', 'a.png')
    """
    if not isinstance(value, str) or len(value) > 2000 or "\n" in value:
        return ()
    parts = urlsplit(value)
    path = parse_qs(parts.query).get("d", [unquote(parts.path)])[0]
    if not _IMAGE_ENDING.search(path):
        return ()
    if parts.path.startswith("/data/upload/"):
        stored = path.rpartition("/")[2]
        return tuple(dict.fromkeys((stored, _UPLOAD_PREFIX.sub("", stored))))
    if parts.scheme:
        return (path.rpartition("/")[2],)
    return (path.lstrip("/"),)


def _add(task: LabelStudioTask, result: Mapping[str, Any], model: str | None) -> None:
    kind = str(result.get("type") or "").lower()
    value = result.get("value")
    if not isinstance(value, Mapping):
        task.unread[kind or "result without a value"] += 1
        return
    if kind in _BOXES:
        box = _box(task, result, value, kind, model)
        if box is None:
            task.unread[f"{kind} without four numbers"] += 1
        else:
            task.boxes.append(box)
        return
    words = value.get("text" if kind == "textarea" else kind)
    if kind in _WORDS and words is not None:
        name = str(result.get("from_name") or kind)
        listed = words if isinstance(words, list) else [words]
        kept = task.words.setdefault(model, {}).setdefault(name, [])
        # a choice of a taxonomy is the list of its levels
        kept += [" / ".join(map(str, one)) if isinstance(one, list) else str(one) for one in listed]
        return
    task.unread[kind or "result without a type"] += 1


def _box(
    task: LabelStudioTask,
    result: Mapping[str, Any],
    value: Mapping[str, Any],
    kind: str,
    model: str | None,
) -> SourceBox | None:
    known = picture_size(result.get("original_width"), result.get("original_height"))
    numbers = four_numbers(_upright(value, kind, known))
    if numbers is None or not task.images:
        return None
    labels = value.get(_label_key(value) or "")
    words = ", ".join(map(str, labels)) if isinstance(labels, list) else str(labels or "")
    score = result.get("score", value.get("score"))
    rotation = value.get("rotation")
    rated = None if model is None else one_number(score)
    extra = {"rotation": rotation} if rotation else {}
    return SourceBox(task.row, words, numbers, task.row, model, rated, known, extra)


def _upright(
    value: Mapping[str, Any], kind: str, size: tuple[float, float] | None
) -> Sequence[Any]:
    """Return left, top, width, height in percent of the upright box around a shape.

    A rectangle is turned clockwise about its top left corner, an ellipse about its centre. Both are
    turned in pixels, since a percent of width and of height differ unless the ``size`` is square.
    """
    degrees = one_number(value.get("rotation")) or 0.0
    across_down = size or (1.0, 1.0)
    if kind == "polygonlabels":
        points = [
            four_numbers([*point[:2], 0, 0])
            for point in value.get("points") or ()
            if isinstance(point, list) and len(point) >= 2
        ]
        known = [(point[0], point[1]) for point in points if point]
        if not known:
            return []
        left, top = (min(axis) for axis in zip(*known, strict=True))
        right, bottom = (max(axis) for axis in zip(*known, strict=True))
        return [left, top, right - left, bottom - top]
    if kind == "ellipselabels":
        ellipse = four_numbers([value.get(key) for key in ("x", "y", "radiusX", "radiusY")])
        if ellipse is None:
            return []
        x, y, across, down = ellipse
        a, b = across * across_down[0], down * across_down[1]
        sine, cosine = math.sin(math.radians(degrees)), math.cos(math.radians(degrees))
        across = math.hypot(a * cosine, b * sine) / across_down[0]
        down = math.hypot(a * sine, b * cosine) / across_down[1]
        return [x - across, y - down, 2 * across, 2 * down]
    given = [value.get(key) for key in ("x", "y", "width", "height")]
    numbers = four_numbers(given)
    if numbers is None or not degrees:
        return given
    whole = (*across_down, *across_down)
    pixels = [one * side for one, side in zip(numbers, whole, strict=True)]
    turned = upright_box((pixels[0], pixels[1], pixels[2], pixels[3]), degrees)
    return [round(one / side, 9) for one, side in zip(turned, whole, strict=True)]


def _label_key(value: Mapping[str, Any]) -> str | None:
    return next((key for key in _BOXES if key in value), None)


def _objects(value: Any) -> list[Mapping[str, Any]]:
    return [one for one in value if isinstance(one, Mapping)] if isinstance(value, list) else []


def recognises(probe: Probe) -> str | None:
    """Return why a file is an export of Label Studio, or None."""
    found = probe.kind == "json" and looks_like_tasks(probe.json)
    return "tasks of Label Studio" if found else None


def read_label_studio(
    files: Sequence[SourceFile], rows: SetRows, options: Mapping[str, Any]
) -> None:
    """Read exports of Label Studio: people's boxes are the reference, predictions a model's."""
    for file in files:
        content = read_source_json(file.path, rows.log)
        if not looks_like_tasks(content):
            continue
        rows.receipt.rows(file.label, len(content))
        boxes: list[SourceBox] = []
        unread = Counter[str]()
        hidden: dict[str, None] = {}
        several = 0
        pictures = PictureCases(rows)
        cases: dict[int | str, str] = {}
        for task in read_tasks(content):
            if isinstance(task, int):
                rows.receipt.unused(RowOrigin(file.label, task), "The entry is no task.")
                continue
            at = RowOrigin(file.label, task.row)
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
            boxes += assign_model(task.boxes, options.get("model"))
            several += task.annotators > 1 and bool(task.boxes)
            unread += task.unread

        def find(box: SourceBox, cases: Mapping[int | str, str] = cases) -> CaseImage | None:
            return rows.find_case(case=cases[box.image])

        place_boxes(
            boxes, file.label, rows, options, find=find, expected=BoxReading("xywh", "percent")
        )
        for name in hidden:
            rows.receipt.identity_column(file.label, name)
        list_unread_kinds(unread, file.label, rows)
        if several:
            message = f"{several:,} tasks have boxes of more than one person; all are reference "
            remedy = "Export one person's annotations, if only those are meant."
            rows.log.warning(file.label, f"{message}boxes.", remedy, field="annotations")


def _case_words(data: Mapping[str, Any], words: Mapping[str, list[str]]) -> dict[str, Any]:
    """Return a task's data and people's texts as fields of a case, among them the report."""
    given = dict(data) | _plain_words({name: words[name] for name in words if name not in _REPORT})
    written = {name: "\n".join(words[name]) for name in _REPORT if name in words}
    texts = {name: given.pop(name) for name in _REPORT if isinstance(given.get(name), str)}
    texts |= written
    return given | report_fields(
        texts.get("report"), findings=texts.get("findings"), impression=texts.get("impression")
    )


def _plain_words(words: Mapping[str, list[str]]) -> dict[str, Any]:
    return {name: texts[0] if len(texts) == 1 else texts for name, texts in words.items()}

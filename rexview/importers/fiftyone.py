"""Read FiftyOne's exports: ``samples.json`` of a whole data set, and ``labels.json`` of its boxes.

Boxes are ``x, y, width, height`` in fractions of the picture (docs.voxel51.com, "Exporting
datasets"). A field of labels with confidences belongs to a model, named by the field; a field
without them is the reference.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from rexview.importers.box_placement import (
    BoxReading,
    PictureCases,
    SourceBox,
    assign_model,
    list_unread_kinds,
    picture_size,
    place_boxes,
)
from rexview.importers.set_rows import SetRows
from rexview.importers.source_files import Probe, SourceFile, read_source_json
from rexview.reviewset.tables.source import RowOrigin
from rexview.text.written_boxes import four_numbers, one_number

_BOX_FIELDS: Final = frozenset(
    (
        *("_id", "_cls", "label", "bounding_box", "confidence", "tags", "mask"),
        *("index", "mask_path"),
    )
)
_SAMPLE_FIELDS: Final = frozenset(
    (
        *("_id", "_media_type", "_rand", "_dataset_id", "filepath", "metadata", "created_at"),
        *("last_modified_at", "tags"),
    )
)
_ONE_LABEL: Final = ("Classification", "Regression")


@dataclass
class FiftyOneSample:
    """One sample: its picture with size, its other fields, its boxes, its labels.

    ``labels`` are classifications by field: words, with a confidence if a model gave one.
    ``models`` are those that processed the sample, with or without a finding. ``not_run`` are
    fields without a value.
    """

    row: int
    image: str
    size: tuple[int, int] | None = None
    boxes: list[SourceBox] = field(default_factory=list)
    labels: dict[str, list[tuple[str, float | None]]] = field(default_factory=dict)
    extra: dict[str, Any] = field(default_factory=dict)
    unread: Counter[str] = field(default_factory=Counter)
    models: tuple[str, ...] = ()
    not_run: tuple[str, ...] = ()


def looks_like_samples(content: Any) -> bool:
    """True if parsed JSON is one of FiftyOne's exports."""
    if not isinstance(content, Mapping):
        return False
    samples = content.get("samples")
    if isinstance(samples, list) and samples:
        return isinstance(samples[0], Mapping) and "filepath" in samples[0]
    labels = content.get("labels")
    return isinstance(content.get("classes"), list) and isinstance(labels, Mapping)


def read_samples(content: Mapping[str, Any]) -> Iterator[FiftyOneSample | int]:
    """Yield the samples of an export; for an invalid entry, its place (from 1)."""
    if isinstance(content.get("samples"), list):
        entries = content["samples"]
        models = _fields_with_scores(entries)
        for row, entry in enumerate(entries, start=1):
            named = isinstance(entry, Mapping) and isinstance(entry.get("filepath"), str)
            yield _sample(row, entry, models) if named else row
        return
    classes = [str(name) for name in content["classes"]]
    for row, (image, entries) in enumerate(content["labels"].items(), start=1):
        sample = FiftyOneSample(row, str(image))
        for one in entries if isinstance(entries, list) else [entries]:
            if isinstance(one, Mapping):
                box = {**one, "label": _class_name(one.get("label"), classes)}
                _add_box(sample, box, "ground_truth", has_scores=False)
            elif one is not None:
                label = _class_name(one, classes)
                sample.labels.setdefault("ground_truth", []).append((label, None))
        yield sample


def _detections(value: Any) -> list[Mapping[str, Any]] | None:
    """Return the boxes of a field, None if it has none."""
    kind = value.get("_cls") if isinstance(value, Mapping) else None
    if kind not in ("Detections", "Detection"):
        return None
    given = value.get("detections") or [] if kind == "Detections" else [value]
    return [one for one in given if isinstance(one, Mapping)]


def _fields_with_scores(entries: list[Any]) -> dict[str, None]:
    """Return the box fields that have a confidence in any sample: those of models."""
    return {
        name: None
        for entry in entries
        if isinstance(entry, Mapping)
        for name, value in entry.items()
        if any(one.get("confidence") is not None for one in _detections(value) or [])
    }


def _sample(row: int, entry: Mapping[str, Any], models: Mapping[str, None]) -> FiftyOneSample:
    given = entry.get("metadata")
    about = given if isinstance(given, Mapping) else {}
    sample = FiftyOneSample(
        row,
        str(entry["filepath"]),
        picture_size(about.get("width"), about.get("height")),
        models=tuple(name for name in models if entry.get(name) is not None),
        not_run=tuple(name for name in models if entry.get(name) is None),
    )
    if entry.get("tags"):
        sample.labels["tags"] = [(str(tag), None) for tag in entry["tags"]]
    for name, value in entry.items():
        kind = value.get("_cls") if isinstance(value, Mapping) else None
        if name in _SAMPLE_FIELDS or value is None:
            continue
        found = _detections(value)
        if found is not None:
            for one in found:
                _add_box(sample, one, name, has_scores=name in models)
        elif kind in (*_ONE_LABEL, "Classifications"):
            given = value.get("classifications", []) if kind == "Classifications" else [value]
            for one in given:
                if isinstance(one, Mapping):
                    word = one.get("label", one.get("value"))
                    sample.labels.setdefault(name, []).append(
                        (str(word), one_number(one.get("confidence")))
                    )
        elif kind is not None:
            sample.unread[f"{name} ({kind})"] += 1
        else:
            sample.extra[name] = value
    return sample


def _add_box(
    sample: FiftyOneSample, one: Mapping[str, Any], name: str, *, has_scores: bool
) -> None:
    values = one.get("bounding_box")
    numbers = four_numbers(values) if isinstance(values, list) else None
    if numbers is None:
        sample.unread[f"{name} without four numbers"] += 1
        return
    extra = {key: value for key, value in one.items() if key not in _BOX_FIELDS and value}
    label = "" if one.get("label") is None else str(one["label"])
    model, score = name if has_scores else None, one_number(one.get("confidence"))
    image, row, size = sample.image, sample.row, sample.size
    sample.boxes.append(SourceBox(image, label, numbers, row, model, score, size, extra))


def _class_name(label: Any, classes: list[str]) -> str:
    numbered = isinstance(label, int) and not isinstance(label, bool) and 0 <= label < len(classes)
    return classes[label] if numbered else "" if label is None else str(label)


def recognises(probe: Probe) -> str | None:
    """Return why a file is an export of FiftyOne, or None."""
    found = probe.kind == "json" and looks_like_samples(probe.json)
    return "samples of FiftyOne" if found else None


def read_fiftyone(files: Sequence[SourceFile], rows: SetRows, options: Mapping[str, Any]) -> None:
    """Read exports of FiftyOne: fields with confidences are models', others the reference."""
    for file in files:
        content = read_source_json(file.path, rows.log)
        if not looks_like_samples(content):
            continue
        rows.receipt.rows(file.label, len(content.get("samples") or content["labels"]))
        boxes: list[SourceBox] = []
        unread = Counter[str]()
        pictures = PictureCases(rows)
        for sample in read_samples(content):
            if isinstance(sample, int):
                why = "The entry is no sample: it has no filepath."
                rows.receipt.unused(RowOrigin(file.label, sample), why)
                continue
            at = RowOrigin(file.label, sample.row)
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
            boxes += assign_model(sample.boxes, options.get("model"))
            unread += sample.unread
        place_boxes(boxes, file.label, rows, options, expected=BoxReading("xywh", "fraction"))
        list_unread_kinds(unread, file.label, rows)

"""Export cases for FiftyOne: ``fiftyone.Dataset.from_dir(folder, FiftyOneDataset)``.

``samples.json`` has one sample for each image. ``data/`` has the pictures with the viewer's first
window, pixel by pixel. The reference's boxes are the field ``ground_truth``, each model's the field
``predictions_`` and its name. Boxes are fractions of the picture (docs.voxel51.com,
"FiftyOneDataset", in the form for files written by hand: ``metadata.json`` without a version).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rexview.export.annotations import (
    NO_LABEL,
    AnnotatedImage,
    annotated_images,
    display_jpeg,
    plain_model_names,
)
from rexview.export.export_job import ExportProgress
from rexview.export.export_records import ExportAnswer, ExportBox, ExportCase, ExportContent


def write(content: ExportContent, out: Path, progress: ExportProgress) -> None:
    """Write an export into an empty folder.

    Raises
    ------
    ExportCancelled, OSError
    """
    data = out / "data"
    data.mkdir()
    names = plain_model_names(content)
    samples = []
    for case in progress.over(content):
        about = _about(case, names)
        for one in annotated_images(case, progress, with_pictures=True):
            progress.check()
            if one.picture is None:
                continue
            picture = display_jpeg(one.picture)
            (data / f"{one.image.file_stem}.jpg").write_bytes(picture)
            samples.append({**_sample(one, names, len(picture)), **about})
    (out / "samples.json").write_text(_json({"samples": samples}), encoding="utf-8")
    (out / "metadata.json").write_text(_json(_metadata(content, names)), encoding="utf-8")


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False) + "\n"


def _metadata(content: ExportContent, names: Mapping[str, str]) -> dict[str, Any]:
    info = {
        "title": content.title,
        "notice": content.notice,
        "notes": list(content.notes),
        "made": content.made.isoformat(),
        "models": {names[one.id]: one.name for one in content.models},
    }
    return {"media_type": "image", "info": info}


def _sample(one: AnnotatedImage, names: Mapping[str, str], size: int) -> dict[str, Any]:
    by_field: dict[str, list[ExportBox]] = {}
    for box in one.boxes:
        name = f"predictions_{names[box.model]}" if box.model else "ground_truth"
        by_field.setdefault(name, []).append(box)
    return {
        "_media_type": "image",
        "filepath": f"data/{one.image.file_stem}.jpg",
        "tags": [],
        "metadata": {
            "_cls": "ImageMetadata",
            "size_bytes": size,
            "mime_type": "image/jpeg",
            "width": one.width,
            "height": one.height,
        },
        "image": one.image.id,
        "view": one.image.view,
        "prior": one.image.prior,
        **{name: _detections(one, boxes) for name, boxes in by_field.items()},
    }


def _about(case: ExportCase, names: Mapping[str, str]) -> dict[str, Any]:
    """Return the fields about a case, the same for each of its images."""
    found: dict[str, Any] = {"case": case.id, "question": case.question}
    found |= {"findings": case.report.findings, "impression": case.report.impression}
    for answer in case.answers:
        found |= _of_answer(case, answer, names[answer.model])
    return {name: value for name, value in found.items() if value is not None}


def _of_answer(case: ExportCase, answer: ExportAnswer, name: str) -> dict[str, Any]:
    failures = [
        flag.failure
        for flag in case.flags
        if flag.model == answer.model and flag.verdict != "rejected" and not flag.hint
    ]
    return {
        f"answer_{name}": answer.text,
        f"content_{name}": answer.final.get("content"),
        f"failures_{name}": list(dict.fromkeys(failures)),
    }


def _detections(one: AnnotatedImage, boxes: Sequence[ExportBox]) -> dict[str, Any]:
    return {"_cls": "Detections", "detections": [_detection(one, box) for box in boxes]}


def _detection(one: AnnotatedImage, box: ExportBox) -> dict[str, Any]:
    found = {
        "_cls": "Detection",
        "attributes": {},
        "tags": ["unsure"] if box.unsure else [],
        "label": box.label or NO_LABEL,
        "bounding_box": list(one.share(box)),
    }
    told = {"confidence": box.score, "side": box.side}
    return found | {name: value for name, value in told.items() if value is not None}

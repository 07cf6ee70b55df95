"""Export cases as one COCO file (cocodataset.org, "Data format"): images, and all their boxes.

The reference and all models share one list of annotations; ``attributes`` of each has its
``source`` (``reference`` or ``model``). A model's box has its ``score``, as in COCO's results.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from rexview.export.annotations import NO_LABEL, AnnotatedImage, FileNames, annotated_images
from rexview.export.export_job import ExportProgress
from rexview.export.export_records import ExportBox, ExportContent


def write(content: ExportContent, out: Path, progress: ExportProgress) -> None:
    """Write an export as a COCO file.

    Raises
    ------
    ExportCancelled, OSError
    """
    images: list[dict[str, Any]] = []
    annotations: list[dict[str, Any]] = []
    categories: dict[str, int] = {}
    names = FileNames()
    for case in progress.over(content):
        for one in annotated_images(case, progress):
            images.append(_image(one, len(images) + 1, names))
            for box in one.boxes:
                category = categories.setdefault(box.label or NO_LABEL, len(categories) + 1)
                made = _annotation(one, box, len(annotations) + 1, len(images), category, content)
                annotations.append(made)
    names.note(progress)
    document = {
        "info": _info(content),
        "licenses": [],
        "images": images,
        "annotations": annotations,
        "categories": [
            {"id": number, "name": name, "supercategory": "finding"}
            for name, number in categories.items()
        ],
    }
    text = json.dumps(document, ensure_ascii=False, allow_nan=False, indent=1)
    out.write_text(text + "\n", encoding="utf-8")


def _info(content: ExportContent) -> dict[str, Any]:
    return {
        "description": content.title,
        "version": "1",
        "year": content.made.year,
        "date_created": content.made.isoformat(),
        "notice": content.notice,
        "notes": list(content.notes),
        "models": [{"id": one.id, "name": one.name} for one in content.models],
    }


def _image(one: AnnotatedImage, number: int, names: FileNames) -> dict[str, Any]:
    image = one.image
    return {
        "id": number,
        "file_name": names.of(image),
        "width": one.width,
        "height": one.height,
        "case": one.case.id,
        "image": image.id,
        "view": image.view,
        "prior": image.prior,
    }


def _annotation(
    one: AnnotatedImage,
    box: ExportBox,
    number: int,
    image: int,
    category: int,
    content: ExportContent,
) -> dict[str, Any]:
    x, y, width, height = box.box
    attributes = {
        "source": "model" if box.model else "reference",
        "model": box.model,
        "model_name": content.model(box.model).name if box.model else None,
        "case": one.case.id,
        "side": box.side,
        "unsure": box.unsure,
    }
    found = {
        "id": number,
        "image_id": image,
        "category_id": category,
        "bbox": [x, y, width, height],
        "area": width * height,
        "segmentation": [],
        "iscrowd": 0,
        "attributes": attributes,
    }
    return found if box.score is None else {**found, "score": box.score}

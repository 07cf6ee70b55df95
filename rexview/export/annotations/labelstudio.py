"""Export cases as tasks of Label Studio (labelstud.io, "Import pre-annotated data"): one JSON file.

A task is an image. Each model's boxes are a prediction; the reference's boxes are an annotation
marked as the ground truth. Both are in percent of the image. The pictures are included in the file,
with the viewer's first window. The tasks fit the labelling configuration :data:`CONFIG`, which
takes the labels from each task.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from rexview.export.annotations import NO_LABEL, AnnotatedImage, annotated_images
from rexview.export.export_job import ExportProgress
from rexview.export.export_records import ExportBox, ExportContent
from rexview.export.sheets.film_layout import encode_picture as jpeg_of

CONFIG: Final = """\
<View>
  <Header value="$case"/>
  <Text name="question" value="$question"/>
  <RectangleLabels name="box" toName="image" value="$labels"/>
  <Image name="image" value="$image" zoom="true"/>
</View>
"""
_PERCENT: Final = 100


def write(content: ExportContent, out: Path, progress: ExportProgress) -> None:
    """Write an export as a list of tasks, one after another.

    Raises
    ------
    ExportCancelled, OSError
    """
    with out.open("w", encoding="utf-8", newline="\n") as file:
        before = "[\n"
        for case in progress.over(content):
            for one in annotated_images(case, progress, with_pictures=True):
                progress.check()
                task = json.dumps(_task(one, content), ensure_ascii=False, allow_nan=False)
                file.write(before + task)
                before = ",\n"
        file.write("[]\n" if before == "[\n" else "\n]\n")


def _task(one: AnnotatedImage, content: ExportContent) -> dict[str, Any]:
    case, image = one.case, one.image
    picture = jpeg_of(one.picture).jpeg if one.picture else b""
    labels = dict.fromkeys(box.label or NO_LABEL for box in one.boxes)
    reference = [box for box in one.boxes if box.model is None]
    return {
        "data": {
            "image": f"data:image/jpeg;base64,{base64.b64encode(picture).decode()}",
            "case": case.id,
            "image_id": image.id,
            "file_name": image.file_name or image.file_stem,
            "view": image.view,
            "prior": image.prior,
            "question": case.question,
            "notice": content.notice,
            "labels": [{"value": label} for label in labels],
        },
        "predictions": [
            {"model_version": content.model(answer.model).name, "result": _results(one, boxes)}
            for answer in case.answers
            if (boxes := [box for box in one.boxes if box.model == answer.model])
        ],
        "annotations": (
            [{"ground_truth": True, "result": _results(one, reference)}] if reference else []
        ),
    }


def _results(one: AnnotatedImage, boxes: Sequence[ExportBox]) -> list[dict[str, Any]]:
    whose = boxes[0].model or "reference"
    return [_result(one, box, f"{whose}-{place}") for place, box in enumerate(boxes, start=1)]


def _result(one: AnnotatedImage, box: ExportBox, name: str) -> dict[str, Any]:
    left, top, width, height = (share * _PERCENT for share in one.share(box))
    found = {
        "id": name,
        "type": "rectanglelabels",
        "from_name": "box",
        "to_name": "image",
        "original_width": one.width,
        "original_height": one.height,
        "image_rotation": 0,
        "value": {
            "x": left,
            "y": top,
            "width": width,
            "height": height,
            "rotation": 0,
            "rectanglelabels": [box.label or NO_LABEL],
        },
        "meta": {"text": [f"side: {box.side}"]} if box.side else {},
    }
    return found if box.score is None else {**found, "score": box.score}

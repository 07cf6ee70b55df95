"""Boxes of models and of people, and corrected lines."""

import json
from pathlib import Path
from typing import Any

from support.shapes.shape import put, put_csv, put_json, put_lines, put_picture, shape

TWO = ("a.png", "b.png")


def _pictures(folder: Path, width: int = 100, height: int = 200) -> None:
    for name in TWO:
        put_picture(folder / "images" / name, width, height)


@shape(
    "boxes-corners",
    *("boxes", "images"),
    cases=2,
    models={"yolov8x": 2, "frcnn": 1},
    model_boxes=4,
    images_found=2,
    rows_in=4,
)
def _(folder: Path) -> None:
    _pictures(folder)
    put_csv(
        folder / "detections.csv",
        "image_id|model|class_name|x_min|y_min|x_max|y_max|score",
        ["a", "yolov8x", "Nodule", 10, 20, 40, 80, 0.9],
        ["b", "yolov8x", "Nodule", 20, 20, 60, 80, 0.5],
        ["b", "yolov8x", "Nodule", 20, 120, 120, 280, 0.3],  # leaves the picture
        ["a", "frcnn", "Nodule", 12, 20, 44, 90, 0.8],
    )


@shape("boxes-in-one-column", "table", cases=2, models={"MAIRA-2": 2}, model_boxes=2, rows_in=2)
def _(folder: Path) -> None:
    put_csv(
        folder / "grounding.csv",
        "image|question|model|answer|Bbox [x,y,w,h]",
        ["a.png", "Where is it?", "MAIRA-2", "On the left.", "[[10, 20, 30, 40], [5, 6, 7, 8]]"],
        ["b.png", "Where is it?", "MAIRA-2", "Nowhere.", ""],
    )


@shape(
    "boxes-fractions",
    *("boxes", "images"),
    cases=2,
    models={"det-A": 2},
    model_boxes=2,
    images_found=2,
    rows_in=2,
    box=(10, 40, 30, 80),
)
def _(folder: Path) -> None:
    _pictures(folder)
    rows = [[name, "det-A", "nodule", 0.1, 0.2, 0.4, 0.6, 0.7] for name in TWO]
    put_csv(folder / "norm.csv", "filename|model|label|x1|y1|x2|y2|confidence", *rows)


@shape(
    "boxes-thousandths",
    *("table", "images"),
    cases=2,
    models={"gemini-2.5-pro": 2},
    model_boxes=1,
    images_found=2,
    rows_in=2,
    box=(10, 40, 30, 80),
)
def _(folder: Path) -> None:
    _pictures(folder)
    rows = []
    for name in TWO:
        boxes = [{"box_2d": [200, 100, 600, 400], "label": "effusion"}] if name == "a.png" else []
        said = f"```json\n{json.dumps(boxes)}\n```"
        about = {"id": name[0], "image": name, "question": "Detect all findings."}
        rows.append({**about, "model": "gemini-2.5-pro", "response": said, "boxes": boxes})
    put_lines(folder / "gemini.jsonl", rows)


@shape(
    "boxes-percent-centre",
    *("boxes", "images"),
    cases=2,
    models={"system A": 2},
    model_boxes=2,
    images_found=2,
    rows_in=2,
    box=(10, 40, 30, 80),
)
def _(folder: Path) -> None:
    _pictures(folder)
    rows = [[name[0], "system A", "opacity", "25%", "40%", "30%", "40%"] for name in TWO]
    put_csv(folder / "boxes.csv", "case|AI|finding|cx|cy|w|h", *rows)


@shape(
    "nih",
    *("boxes", "images", "metadata"),
    cases=2,
    reference_boxes=2,
    images_found=2,
    rows_in=4,
    kept={
        *("Follow-up #", "OriginalImage[Width", "Height]"),
        *("OriginalImagePixelSpacing[x", "y]"),
    },
)
def _(folder: Path) -> None:
    _pictures(folder)
    lines = [f"{name},Mass,10.08,20.2,30.6,40.4,,," for name in TWO]
    header = "Image Index,Finding Label,Bbox [x,y,w,h],,,"
    put(folder / "BBox_List_2017.csv", "\r\n".join([header, *lines]) + "\r\n")
    header = (
        "Image Index,Finding Labels,Follow-up #,Patient ID,Patient Age,Patient Gender,"
        "View Position,OriginalImage[Width,Height],OriginalImagePixelSpacing[x,y],"
    )
    lines = [f"{name},Mass|Nodule,0,13118,61,F,PA,100,200,0.143,0.143," for name in TWO]
    put(folder / "Data_Entry_2017.csv", "\n".join([header, *lines]) + "\n")


@shape(
    "yolo",
    *("yolo", "images"),
    cases=2,
    models={"exp3": 1},
    model_boxes=1,
    reference_boxes=2,
    images_found=2,
    rows_in=3,
    unread={"data/labels/b.txt"},
)
def _(folder: Path) -> None:
    root = folder / "data"
    _pictures(root)
    put(root / "labels/a.txt", "1 0.5 0.25 0.2 0.1\n0 0.5 0.75 0.2 0.1\n")
    put(root / "labels/b.txt", "")
    put(root / "runs/detect/exp3/labels/a.txt", "1 0.5 0.25 0.2 0.1 0.75\n")
    put(root / "data.yaml", "train: images\nnames:\n  0: Mass\n  1: Nodule\n")


@shape("pascal-voc", *("voc", "images"), cases=2, reference_boxes=1, images_found=2, rows_in=1)
def _(folder: Path) -> None:
    root = folder / "voc"
    _pictures(root)
    box = "<xmin>10</xmin><ymin>20</ymin><xmax>40</xmax><ymax>60</ymax>"
    drawn = f"<object><name>Mass</name><difficult>0</difficult><bndbox>{box}</bndbox></object>"
    for name, objects in zip(TWO, (drawn, ""), strict=True):
        put(
            root / f"Annotations/{name[0]}.xml",
            f"<annotation><filename>{name}</filename><path>C:\\lab\\{name}</path><size><width>100"
            f"</width><height>200</height><depth>1</depth></size>{objects}</annotation>\n",
        )


@shape(
    "coco",
    *("coco", "images"),
    cases=2,
    models={"dino": 2},
    model_boxes=2,
    reference_boxes=1,
    images_found=2,
    rows_in=3,
)
def _(folder: Path) -> None:
    _pictures(folder)
    images = [
        {"id": 100 + n, "file_name": name, "width": 100, "height": 200}
        for n, name in enumerate(TWO)
    ]
    box = {"category_id": 7, "bbox": [10.0, 20.0, 30.0, 40.0]}
    drawn = [{"id": 1, "image_id": 100, **box, "area": 1200.0, "iscrowd": 0, "segmentation": []}]
    names = [{"id": 7, "name": "Nodule", "supercategory": "lung"}]
    about = {"info": {"description": "invented"}, "licenses": []}
    data = {**about, "images": images, "annotations": drawn, "categories": names}
    put_json(folder / "instances_val.json", data)
    put_json(folder / "dino.json", [{"image_id": 100 + n, **box, "score": 0.5} for n in (0, 1)])


def _rectangle(**more: Any) -> dict[str, Any]:
    value = {"x": 10, "y": 20, "width": 30, "height": 40, "rectanglelabels": ["Mass"]}
    return {
        "original_width": 100,
        "original_height": 200,
        "image_rotation": 0,
        "value": value,
        "from_name": "label",
        "to_name": "image",
        "type": "rectanglelabels",
        **more,
    }


@shape(
    "label-studio",
    *("labelstudio", "images"),
    cases=2,
    models={"det-v3": 2},
    model_boxes=1,
    reference_boxes=2,
    images_found=2,
    rows_in=2,
    columns_unused={"completed_by"},
)
def _(folder: Path) -> None:
    _pictures(folder)
    tasks = [
        {
            "id": 900 + n,
            "data": {"image": f"/data/upload/4/1a2b3c4d-{name}", "question": "What is seen?"},
            "annotations": [{"id": n, "completed_by": 2, "result": [_rectangle()]}],
            "predictions": [
                {"model_version": "det-v3", "result": [_rectangle(score=0.5)] if n else []}
            ],
        }
        for n, name in enumerate(TWO)
    ]
    put_json(folder / "project-4-at-2025-03-02.json", tasks)


@shape(
    "fiftyone",
    *("fiftyone", "images"),
    cases=2,
    models={"detector": 1},
    model_boxes=1,
    reference_boxes=2,
    images_found=2,
    rows_in=2,
    not_run={"detector": 1},
    unread={"export/metadata.json"},
)
def _(folder: Path) -> None:
    root = folder / "export"
    samples = []
    for n, name in enumerate(TWO):
        put_picture(root / "data" / name, 100, 200)
        box = {"_cls": "Detection", "label": "nodule", "bounding_box": [0.1, 0.2, 0.3, 0.4]}
        found = {"_cls": "Detections", "detections": [{**box, "confidence": 0.5}]}
        samples.append(
            {
                "filepath": f"data/{name}",
                "tags": ["validation"],
                "metadata": {"_cls": "ImageMetadata", "width": 100, "height": 200},
                "ground_truth": {"_cls": "Detections", "detections": [box]},
                "detector": None if n else found,
                "uniqueness": 0.5,
            }
        )
    put_json(root / "samples.json", {"samples": samples})
    put_json(root / "metadata.json", {"name": "cxr-demo", "media_type": "image", "classes": {}})


@shape("line-edits", "edits", cases=1, models={"X-REM": 1}, edits=4, rows_in=4)
def _(folder: Path) -> None:
    put_csv(
        folder / "refisco.csv",
        "study_id|source|radiologist|line_no|original_line|edited_line|error_severity",
        ["s1", "X-REM", "r1", 1, "Edema.", "", 2],
        ["s1", "X-REM", "r1", 2, "Normal heart.", "Normal heart.", ""],
        ["s1", "X-REM", "r1", 3, "", "Effusion.", 4],
        ["s1", "X-REM", "r1", 4, "No mass.", "Small mass.", 3],
    )

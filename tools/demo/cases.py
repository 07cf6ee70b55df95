"""Make the tables of the review set from the texts and the truth about the pictures.

``texts/*.yaml`` contain the invented words of people and models; boxes in them are relative to the
truth (``like: effusion``), never in pixels. This module does not need the CT.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rexview.package_data import read_package_table
from tools.demo.corrections import edit_rows, preference_row, reference_row

Row = dict[str, Any]
Truth = Mapping[str, Mapping[str, Any]]
"""Facts of :mod:`tools.demo.render` about each picture, by ``study/shot``."""

TEXTS = Path(__file__).with_name("texts")
DRAWN: Truth = read_package_table(Path(__file__).with_name("drawn.yaml"))
"""Boxes drawn on the finished films, by ``study/shot`` and finding."""
MODELS: list[Row] = [
    {
        "id": "generalist",
        "name": "Generalist (simulated)",
        "kind": "generalist",
        "draws_boxes": True,
        "max_output_tokens": 4096,
        "notes": "Invented. Stands for a large general model that reasons at length, draws boxes.",
    },
    {
        "id": "medical-4b",
        "name": "Medical 4B (simulated)",
        "kind": "medical",
        "draws_boxes": False,
        "max_output_tokens": 512,
        "notes": "Invented. Stands for a small medical model: short, text only, 512 tokens.",
    },
]
READERS: list[Row] = [
    {"id": "reader_a", "name": "Reader A (simulated)", "role": "Radiologist"},
    {"id": "reader_b", "name": "Reader B (simulated)", "role": "Radiologist"},
]
NOTICE = (
    "Simulated demonstration data: radiographs projected from one CT, answers and scores invented."
    " Not for clinical use."
)
SITES = {
    "Simulated North": (1, 3, 4, 7, 9, 12, 14, 15, 21, 22, 23, 25, 27, 28, 30, 32, 35),
    "Simulated South": (2, 5, 6, 8, 10, 11, 16, 24, 26, 31, 33, 34, 36),
    "Simulated East": (13, 17, 29),
}
"""Sites of imaging, by patient number: three invented hospitals."""
_START = dt.datetime(2026, 3, 2, 8, 0, tzinfo=dt.UTC)


@dataclass(frozen=True)
class Tables:
    """The rows of the review set's tables, ready to be written."""

    info: Row
    cases: list[Row] = field(default_factory=list)
    answers: list[Row] = field(default_factory=list)
    scores: list[Row] = field(default_factory=list)
    flags: list[Row] = field(default_factory=list)
    choices: list[Row] = field(default_factory=list)
    edits: list[Row] = field(default_factory=list)
    preferences: list[Row] = field(default_factory=list)
    references: list[Row] = field(default_factory=list)


def read_texts(folder: Path = TEXTS) -> list[Row]:
    """Read all case texts, in the order of their ids."""
    texts = [read_package_table(path) for path in sorted(folder.glob("*.yaml"))]
    return sorted(texts, key=lambda text: str(text["id"]))


def image_rows(text: Row) -> list[Row]:
    """Return the images of a case as in its text: ``shot``, ``file`` type, flags."""
    return [{"study": text["study"], **image} for image in text["images"]]


def file_name(image: Row) -> str:
    """Return the path of an image inside the images folder."""
    return f"{image['study']}-{image['shot']}.{image['file']}"


def assemble(texts: list[Row], truth: Truth) -> Tables:
    """Turn texts and truth into rows.

    Raises
    ------
    KeyError
        A text names a finding that the picture does not have.
    """
    info = {
        "format": 1,
        "name": "Demonstration",
        "description": (
            "Chest radiographs simulated from one CT, with the answers of two invented models and"
            " the scores of two invented readers."
        ),
        "notice": NOTICE,
        "images": "images/",
        "models": MODELS,
        "readers": READERS,
        "rubric": "rexecution",
    }
    tables = Tables(info)
    for number, text in enumerate(texts):
        tables.cases.append(_case(text, truth))
        tables.answers.extend(_answers(text, truth, number))
        tables.scores.extend(_scores(text, number))
        tables.flags.extend(_flags(text, number))
        tables.choices.extend(_choices(text, number))
        tables.edits.extend(_edits(text, truth, number))
        tables.preferences.extend(_preferences(text, number))
        tables.references.extend(
            reference_row(text, given, _START + _sitting(given["reader"], number))
            for given in text.get("references", [])
        )
    return tables


def _case(text: Row, truth: Truth) -> Row:
    images = []
    for image in image_rows(text):
        known = truth[f"{image['study']}/{image['shot']}"]
        row: Row = {"id": image.get("id", image["shot"]), "path": file_name(image)}
        row |= {"view": image["view"], "width": known["width"], "height": known["height"]}
        row |= {key: image[key] for key in ("key", "prior", "patient_orientation") if key in image}
        if image["file"] != "dcm":  # DICOM files contain it
            row["pixel_mm"] = round(known["pixel_mm"], 4)
        images.append(row)
    copied = ("id", "question", "question_type", "category", "tags", "difficulty")
    row = {key: text[key] for key in copied}
    row |= {"study_id": f"sim-{text['study']}", "patient_id": f"sim-{text['patient']}"}
    row |= {"site": _site(text["patient"]), "normal": text.get("normal", False)}
    report = {key: _filled(value, text, truth) for key, value in text["report"].items()}
    row |= {"context": text["context"], "report": report, "images": images}
    row["reference_boxes"] = [
        _reference(box, text, truth) for box in text.get("reference_boxes", [])
    ]
    row |= {key: text[key] for key in ("options", "correct") if key in text}
    if "explanation" in text:
        row["explanation"] = _filled(text["explanation"], text, truth)
    return row | {"simulated": True}


def _site(patient: str) -> str:
    return next(site for site, numbers in SITES.items() if int(patient[1:]) in numbers)


def _filled(words: str, text: Row, truth: Truth) -> str:
    """Insert measured values into a text: ``{ctr}`` is the cardiothoracic ratio of the key image.

    The heart's width is that of a reader's box, if there is one.
    """
    if "{ctr}" not in words:
        return words.strip()
    _, known = _known(text, truth, None)
    drawn = known["boxes"].get("heart")
    ratio = drawn[2] / known["heart"]["chest"] if drawn else known["heart"]["ratio"]
    return words.strip().replace("{ctr}", f"{ratio:.2f}")


def _known(text: Row, truth: Truth, image_id: str | None) -> tuple[Row, Mapping[str, Any]]:
    images = image_rows(text)
    named = [image for image in images if image.get("id", image["shot"]) == image_id]
    image = named[0] if named else images[0]
    key = f"{image['study']}/{image['shot']}"
    known = truth[key]
    return image, {**known, "boxes": {**known["boxes"], **DRAWN.get(key, {})}}


def _reference(box: Row, text: Row, truth: Truth) -> Row:
    image, _ = _known(text, truth, box.get("image"))
    row = {"image": image.get("id", image["shot"]), "label": box["label"]}
    row["box"] = place_box(box, text, truth)
    return row | ({"side": box["side"]} if "side" in box else {})


def place_box(box: Row, text: Row, truth: Truth) -> list[float]:
    """Return the pixels of a box that a text describes.

    The text has one of ``like`` (a finding's true box: from ``drawn.yaml``, otherwise the shadow of
    its voxels), ``mirror`` (the same on the other side of the picture), ``heart`` (as drawn,
    otherwise its silhouette), ``tip`` (the end of a device, ``size_mm`` wide) or ``at`` (shares of
    the picture). Then it may have ``grow`` (share by which it is enlarged), ``shift`` (shares of
    its size), and ``sides`` (how much left, top, right and bottom each move outwards, in shares of
    its size). Two people who draw a box never agree on all four sides, and neither draws a scaled
    copy of the other's.
    """
    _, known = _known(text, truth, box.get("image"))
    width, height = float(known["width"]), float(known["height"])
    if "at" in box:
        left, top, wide, tall = box["at"]
        x, y, w, h = left * width, top * height, wide * width, tall * height
    elif "tip" in box:
        column, row = known["tips"][box["tip"]]
        size = float(box.get("size_mm", 40)) / float(known["pixel_mm"])
        x, y, w, h = column - size / 2, row - size / 2, size, size
    elif "heart" in box:
        x, y, w, h = known["boxes"].get("heart", known["heart"]["box"])
    elif "mirror" in box:
        x, y, w, h = known["boxes"][box["mirror"]]
        x = width - x - w
    else:
        x, y, w, h = known["boxes"][box["like"]]
    grow = float(box.get("grow", 0.0))
    across, down = box.get("shift", (0.0, 0.0))
    x, y = x + across * w - grow * w / 2, y + down * h - grow * h / 2
    w, h = w * (1 + grow), h * (1 + grow)
    out = box.get("sides", (0.0, 0.0, 0.0, 0.0))
    x, y = x - out[0] * w, y - out[1] * h
    w, h = w * (1 + out[0] + out[2]), h * (1 + out[1] + out[3])
    left, top = max(x, 0.0), max(y, 0.0)
    right, bottom = min(x + w, width), min(y + h, height)
    return [round(value, 1) for value in (left, top, right - left, bottom - top)]


def _answers(text: Row, truth: Truth, number: int) -> Iterator[Row]:
    for place, model in enumerate(MODELS):
        answer = text["answers"].get(model["id"])
        if answer is None:
            continue
        said = _filled(str(answer.get("text") or ""), text, truth)
        counted = max(1, round(len(said) / 4.2)) + int(answer.get("reasoning_tokens", 0))
        output = int(answer.get("output_tokens", counted))
        row: Row = {"case": text["id"], "model": model["id"], "text": said}
        row["finish_reason"] = answer.get("finish_reason", "stop")
        row["usage"] = {
            "input_tokens": 780 * len(text["images"]) + len(text["question"]) // 4 + 210,
            "output_tokens": output,
            "max_output_tokens": model["max_output_tokens"],
        }
        if model["draws_boxes"]:
            row["boxes"] = [_drawn(box, text, truth) for box in answer.get("boxes", [])]
        if text["question_type"] == "choice":
            row |= {"choice": answer.get("choice"), "explanation": answer.get("explanation")}
        if answer.get("picture"):
            row["images"] = [returned_name(text["id"], model["id"])]
        row["latency_s"] = round(1.1 + output / (62 if place == 0 else 95) + 0.07 * (number % 5), 2)
        created = _START + dt.timedelta(minutes=3 * number, seconds=20 * place)
        row["created"] = created.isoformat()
        yield row | {"prompt_id": "demo-1", "run_id": "demo-1"}


def returned_name(case: str, model: str) -> str:
    """Return the path of a picture that a model returned, inside the images folder."""
    return f"returned/{case}-{model}.jpg"


def _drawn(box: Row, text: Row, truth: Truth) -> Row:
    image, _ = _known(text, truth, box.get("image"))
    row = {"image": image.get("id", image["shot"]), "label": box["label"]}
    row["box"] = place_box(box, text, truth)
    return row | ({"score": box["score"]} if "score" in box else {})


def _scores(text: Row, number: int) -> Iterator[Row]:
    for model, by_reader in text.get("scores", {}).items():
        for reader, by_dimension in by_reader.items():
            late = _sitting(reader, number)
            for dimension, given in by_dimension.items():
                pictured = dimension.startswith("image") and text["answers"][model].get("picture")
                score, comment = given if isinstance(given, list) else (given, "")
                yield {
                    "case": text["id"],
                    "model": model,
                    "reader": reader,
                    "dimension": dimension,
                    "score": score,
                    "image": 0 if pictured else "",
                    "comment": comment,
                    "created": (_START + late).isoformat(),
                }


def _sitting(reader: str, number: int) -> dt.timedelta:
    """Return how long after the start a reader scored a case: five cases a week, on one evening."""
    week, place = divmod(number, 5)
    return dt.timedelta(
        days=(2 if reader == "reader_a" else 7) + 7 * week, hours=9, minutes=11 * place
    )


def _choices(text: Row, number: int) -> Iterator[Row]:
    for reader, given in text.get("readers", {}).items():
        yield {
            "case": text["id"],
            "reader": reader,
            "choice": given["choice"],
            "option": text["options"][given["choice"]],
            "seconds": given["seconds"],
            "created": (_START + _sitting(reader, number)).isoformat(),
        }


def _edits(text: Row, truth: Truth, number: int) -> Iterator[Row]:
    for model, by_reader in text.get("edits", {}).items():
        said = _filled(text["answers"][model]["text"], text, truth)
        for reader in by_reader:
            created = _START + _sitting(reader, number)
            yield from edit_rows(text, model, said, reader, created)


def _preferences(text: Row, number: int) -> Iterator[Row]:
    models = [model["id"] for model in MODELS]
    for place, reader in enumerate(text.get("preferences", {})):
        turned = (number + place) % 2 == 1
        created = _START + _sitting(reader, number) + dt.timedelta(days=21)
        yield preference_row(text, models, turned, reader, created)


def _flags(text: Row, number: int) -> Iterator[Row]:
    late = 65 if text["id"].startswith("c") else 95
    for flag in text.get("flags", []):
        created = _START + dt.timedelta(days=late, minutes=9 * number)
        yield {
            "case": text["id"],
            "model": flag["model"],
            "reader": flag.get("reader", "reader_a"),
            "failure": flag["failure"],
            "verdict": flag.get("verdict", "confirmed"),
            "comment": flag.get("comment", ""),
            "created": created.isoformat(),
        }

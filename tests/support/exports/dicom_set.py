"""A review set with films of every kind that an export as DICOM meets, and what it wrote."""

import re
import shutil
import subprocess

import cv2
import numpy as np
import pydicom

from rexview.export.dicom_sr import write
from rexview.export.export_job import ExportProgress
from support.exports.dicom_files import write_dicom
from support.exports.exported_set import exported
from support.review_folder import named, write_review_set

UIDS = {"film": "1.2.3.10", "prior": "1.2.3.20"}
"""UIDs of instances that files have; that of the study is one part shorter."""
BOXES = {
    ("mixed", "film"): [(10.25, 20.5, 30, 20), (40, 5, 60, 20), (0, 0, 80, 60)],
    ("mixed", "lateral"): [(3.5, 2, 21.75, 33)],
    ("mixed", "prior"): [(7, 8, 9, 10)],
    ("deep", "sixteen"): [(1, 2, 3, 4)],
    ("deep", "colour"): [(11, 12, 13, 14)],
    ("nameless", "film"): [(2, 3, 40, 30)],
}
"""Boxes of model m, by case and image; the second sticks out of its image to the right."""
LONG_ID = "odd\\id " + "x" * 90
MODEL = "Modèle ^=\\ 模型 " + "模" * 30
"""A name with what means something in DICOM, and longer in bytes than in letters."""


def films():
    """Return pixels of 12 and 16 bits, of 8 bits with odd sides, and in colour."""
    y, x = np.mgrid[0:60, 0:80]
    twelve = (900 + 20 * x + 15 * y + (x * y) % 97).astype(np.uint16)
    return {
        "twelve": twelve,
        "sixteen": twelve * 23,
        "odd": ((x * 3 + y) % 251).astype(np.uint8)[:41, :37],
        "colour": np.dstack([x * 3, y * 4, x + y]).astype(np.uint8),
    }


def write_dicom_set(folder):
    """Write the set: originals with UIDs and without, PNGs, one that is broken, odd texts."""
    views = {"view": "PA"}
    cases = {
        "mixed": [
            {"id": "film", "path": "film.dcm", **views},
            {"id": "lateral", "path": "odd.png", "view": "LATERAL"},
            {"id": "prior", "path": "prior.dcm", "prior": True, **views},
        ],
        "deep": [
            {"id": "sixteen", "path": "sixteen.png", **views},
            {"id": "colour", "path": "colour.png", **views},
        ],
        "nameless": [{"id": "film", "path": "nameless.dcm", **views}],
        LONG_ID: [{"id": "film", "path": "broken.png", **views}],
    }
    answers = [
        {
            "case": case,
            "model": "m",
            "text": f"Tab\there, bell\x07, line\u2028break, \\ backslash, {'long ' * 3000}end",
            "finish_reason": "stop",
            "boxes": [
                {"image": image, "label": "Right pleural effusion", "box": list(box)}
                for (of, image), boxes in BOXES.items()
                for box in boxes
                if of == case
            ],
        }
        for case in cases
    ]
    answers[0]["images"] = ["colour.png"]
    answers[-1]["boxes"] = [{"image": "film", "label": "Mass", "box": [1, 2, 3, 4]}]
    write_review_set(
        folder,
        info={"name": "Films", "notice": "Made for a test.", "models": named(m=MODEL)},
        cases=[
            {"id": name, "question": "What is there?", "question_type": "open", "images": images}
            for name, images in cases.items()
        ],
        answers=answers,
    )
    _write_films(folder / "images")
    return folder


def _write_films(folder):
    pixels = films()
    window = {"WindowCenter": "2000", "WindowWidth": "2500"}
    header = {"PatientID": "MRN-4711", "PatientBirthDate": "19520304", "BitsStored": 12, **window}
    for name, more in {
        "film": {"RescaleSlope": "2", "RescaleIntercept": "-1024", "RescaleType": "US"},
        "prior": {"PhotometricInterpretation": "MONOCHROME1"},
    }.items():
        instance = UIDS[name]
        uids = {
            "StudyInstanceUID": instance[:-1].rstrip("."),
            "SeriesInstanceUID": f"{instance}.1",
            "SOPInstanceUID": instance,
        }
        write_dicom(folder, pixels["twelve"], name=f"{name}.dcm", **header, **uids, **more)
    write_dicom(folder, pixels["twelve"], name="nameless.dcm", **header)
    for name in ("odd", "sixteen", "colour"):
        stored = pixels[name][..., ::-1] if name == "colour" else pixels[name]
        cv2.imwrite(str(folder / f"{name}.png"), stored)
    (folder / "broken.png").write_bytes(b"\x89PNG\r\n\x1a\n broken")


def write_as_dicom(folder, out, wanted=None, **how):
    """Export a set; return what was noted, and the files by name of their folder and their own."""
    content, _ = exported(folder, wanted, **how)
    progress = ExportProgress()
    out.mkdir()
    write(content, out, progress)
    return progress.notes, read_files(out)


def read_files(out):
    """Return the files of an export: by folder (without its number) and name, as datasets."""
    return {part_of(path): pydicom.dcmread(path) for path in out.glob("*.dcm")}


def part_of(path):
    """Return the case that a file is of, and the rest of its name."""
    case, name = re.fullmatch(
        r"\d{4}-(.*)_((?:report|boxes|image|selection).*)", path.stem
    ).groups()
    return case, name


def content_items(dataset):
    """Yield every content item of a report or a list, from the top down."""
    for item in dataset.get("ContentSequence", ()):
        yield item
        yield from content_items(item)


def errors_of(command, path):
    """Return the lines in which a validator complains about a file; it is installed."""
    done = subprocess.run(
        [shutil.which(command[0]), *command[1:], str(path)],
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    lines = (done.stdout + done.stderr).splitlines()
    found = [line for line in lines if line.startswith(("Error", "E: ", "F: "))]
    return found or ([f"exit {done.returncode}"] if done.returncode else [])

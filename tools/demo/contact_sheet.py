"""Draw all radiographs of the demonstration set on one page, with reference and model boxes.

``python -m tools.demo.contact_sheet assets/demo docs/demo-contact-sheet.jpg``
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pydicom
from PIL import Image

_TILE, _BAND, _COLUMNS = 300, 22, 6
_REFERENCE, _MODEL, _INK = (90, 220, 120), (255, 150, 40), (225, 225, 225)


def read_grey(path: Path) -> np.ndarray:
    """Read a picture of the set as displayed, uint8 (rows, columns)."""
    if path.suffix != ".dcm":
        return np.asarray(Image.open(path).convert("L"))
    ds = pydicom.dcmread(path)
    grey = (ds.pixel_array >> 4).astype(np.uint8)
    return 255 - grey if ds.PhotometricInterpretation == "MONOCHROME1" else grey


def sheet(folder: Path) -> np.ndarray:
    """Draw the page, uint8 RGB (rows, columns, 3)."""
    cases = _lines(folder / "cases.jsonl")
    answers = _lines(folder / "answers.jsonl")
    tiles = []
    for case in cases:
        for image in case["images"]:
            drawn = [
                (box, _MODEL)
                for answer in answers
                if answer["case"] == case["id"]
                for box in answer.get("boxes") or []
                if box["image"] == image["id"]
            ]
            drawn += [
                (box, _REFERENCE) for box in case["reference_boxes"] if box["image"] == image["id"]
            ]
            name = f"{case['id']} {image['view']}{' prior' if image.get('prior') else ''}"
            tiles.append(_tile(read_grey(folder / "images" / image["path"]), drawn, name))
    while len(tiles) % _COLUMNS:
        tiles.append(np.zeros_like(tiles[0]))
    rows = [np.hstack(tiles[i : i + _COLUMNS]) for i in range(0, len(tiles), _COLUMNS)]
    return np.vstack(rows)


def _lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def _tile(
    grey: np.ndarray, boxes: list[tuple[dict[str, Any], tuple[int, int, int]]], name: str
) -> np.ndarray:
    scale = _TILE / max(grey.shape)
    small = cv2.resize(grey, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
    tile = np.zeros((_TILE + _BAND, _TILE, 3), np.uint8)
    picture = cv2.cvtColor(small, cv2.COLOR_GRAY2RGB)
    for box, colour in boxes:
        x, y, w, h = (round(value * scale) for value in box["box"])
        cv2.rectangle(picture, (x, y), (x + w, y + h), colour, 1)
    left = (_TILE - picture.shape[1]) // 2
    tile[_BAND : _BAND + picture.shape[0], left : left + picture.shape[1]] = picture
    cv2.putText(tile, name, (4, 16), cv2.FONT_HERSHEY_SIMPLEX, 0.45, _INK, 1, cv2.LINE_AA)
    return tile


def main() -> None:
    """Run the command line: folder of the set, file to write."""
    folder, target = Path(sys.argv[1]), Path(sys.argv[2])
    target.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(sheet(folder)).save(target, quality=80, optimize=True)


if __name__ == "__main__":
    main()

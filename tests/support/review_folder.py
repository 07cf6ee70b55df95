"""Review sets written as files: what they are made of, and nothing that a test does not name."""

import json

import cv2
import numpy as np
import yaml

RAMP = np.tile(np.linspace(0, 255, 100, dtype=np.uint8), (120, 1))
"""A picture of 100 x 120 pixels, dark at the left."""


def write_review_set(folder, *, pictures=(), **parts):
    """Write a review set and return its folder.

    ``info`` is what ``reviewset.yaml`` says besides its format. Every other part is a table: its
    rows, or the text of a CSV file. ``pictures`` gives pixels by the name of their file.
    """
    (folder / "images").mkdir(parents=True)
    for name, pixels in dict(pictures).items():
        _, content = cv2.imencode(".png", pixels)
        (folder / "images" / name).write_bytes(content.tobytes())
    info = {"format": 1, **parts.pop("info")}
    text = yaml.safe_dump(info, allow_unicode=True, sort_keys=False)
    (folder / "reviewset.yaml").write_text(text, encoding="utf-8")
    for table, rows in parts.items():
        if isinstance(rows, str):
            (folder / f"{table}.csv").write_text(rows, encoding="utf-8")
        else:
            lines = "\n".join(json.dumps(row) for row in rows)
            (folder / f"{table}.jsonl").write_text(lines, encoding="utf-8")
    return folder


def named(**names):
    """Return models or readers for ``info``: ``id="Name"``."""
    return [{"id": key, "name": name} for key, name in names.items()]


def score_rows(*rows):
    """Return rows of scores: case, model, reader, dimension, score, perhaps a comment."""
    keys = ("case", "model", "reader", "dimension", "score", "comment")
    return [dict(zip(keys, row, strict=False)) for row in rows]

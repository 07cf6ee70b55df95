"""Shapes of input: small files as real tools write them, and what an import makes of each.

All data are invented.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

QUESTION = "Is there a pleural effusion?"


@dataclass(frozen=True)
class Shape:
    """One shape of input, and what ``auto`` has to make of it.

    ``write`` puts its files into a folder, whose entries are then the sources. ``read_as`` are the
    formats that its files are recognised as. ``unused`` is the number of rows that nothing is made
    of, ``kept`` are columns that become extra fields, ``columns_unused`` those that nothing is
    taken from, ``unread`` the files; ``texts`` have to be in the
    set, and ``box`` is the first that a model drew, in pixels. ``refused`` is part of what
    is said where nothing can be imported.
    """

    write: Callable[[Path], None]
    read_as: set[str] = field(default_factory=set)
    cases: int = 0
    models: Mapping[str, int] = field(default_factory=dict)
    scores: int = 0
    edits: int = 0
    metrics: int = 0
    model_boxes: int = 0
    reference_boxes: int = 0
    images_found: int = 0
    rows_in: int = 0
    unused: int = 0
    not_run: Mapping[str, int] = field(default_factory=dict)
    kept: set[str] = field(default_factory=set)
    columns_unused: set[str] = field(default_factory=set)
    identity: set[str] = field(default_factory=set)
    unread: set[str] = field(default_factory=set)
    texts: Sequence[str] = ()
    box: tuple[float, ...] = ()
    refused: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)


SHAPES: dict[str, Shape] = {}
"""All shapes by id, which is that of their row in docs/importing.md."""


def shape(id: str, *read_as: str, **expected: Any) -> Callable[[Callable[[Path], None]], None]:
    """Declare the shape that the decorated function writes."""

    def declare(write: Callable[[Path], None]) -> None:
        assert id not in SHAPES, id
        SHAPES[id] = Shape(write, set(read_as), **expected)

    return declare


def put(path: Path, content: str | bytes) -> None:
    """Write a file, with its folder."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)


def put_json(path: Path, content: Any) -> None:
    put(path, json.dumps(content, ensure_ascii=False, indent=1))


def put_lines(path: Path, rows: Iterable[Any]) -> None:
    put(path, "".join(json.dumps(row) + "\n" for row in rows))


def csv_text(columns: Sequence[str], rows: Iterable[Sequence[Any]], **style: Any) -> str:
    text = io.StringIO(newline="")
    writer = csv.writer(text, **{"lineterminator": "\n", **style})
    writer.writerow(columns)
    writer.writerows(rows)
    return text.getvalue()


def put_csv(path: Path, columns: str, *rows: Sequence[Any], **style: Any) -> None:
    """Write a CSV; ``columns`` are their names, apart by ``|``."""
    put(path, csv_text(columns.split("|"), rows, **style))


def picture(width: int = 60, height: int = 80) -> Image.Image:
    grey = np.add.outer(np.arange(height) * 2, np.arange(width)).astype(np.uint8)
    return Image.fromarray(grey)


def put_picture(path: Path, width: int = 60, height: int = 80, **how: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    picture(width, height).save(path, **how)


def picture_bytes(width: int = 60, height: int = 80) -> bytes:
    content = io.BytesIO()
    picture(width, height).save(content, "PNG")
    return content.getvalue()


def answer(case: object, model: str) -> str:
    return f"There is a small left effusion, and the heart is normal in size ({model}, {case})."

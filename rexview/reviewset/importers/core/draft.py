"""A review set in the making: records collected by an importer, then tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

import polars as pl

from rexview import frames
from rexview.reviewset.json_text import dump
from rexview.schema import (
    Answer,
    Case,
    Model,
    Reader,
    ReaderFlag,
    ReviewSet,
    Score,
    SetInfo,
    StudyImage,
)

REPORT_QUESTION: Final = "Write the findings and the impression of this study."
"""The task of a report case (ReXrank)."""
OPEN_QUESTION: Final = "What abnormalities does this study show, and where?"
"""The task of a case for which the source gives none."""


_MAX_DEPTH: Final = 20
_INT64_MAX: Final = 2**63 - 1


@dataclass
class Draft:
    """What an importer has read so far.

    ``images_base`` is the folder that image paths are relative to, None when it is not known.
    ``copy_names`` gives images another name when they are copied (relative path to new one).
    """

    name: str
    description: str = ""
    images_base: Path | None = None
    cases: dict[str, Case] = field(default_factory=dict)
    answers: list[Answer] = field(default_factory=list)
    scores: list[Score] = field(default_factory=list)
    flags: list[ReaderFlag] = field(default_factory=list)
    models: dict[str, Model] = field(default_factory=dict)
    readers: dict[str, Reader] = field(default_factory=dict)
    copy_names: dict[str, str] = field(default_factory=dict)

    def images(self) -> Iterator[StudyImage]:
        """Yield every image of every case."""
        for case in self.cases.values():
            yield from case.images

    def replace_images(self, placed: Mapping[str, StudyImage]) -> None:
        """Put the placed record of an image, by its path, in its stead.

        Its id, its marks, and a view that the source gave stay.
        """
        for case_id, case in self.cases.items():
            images = tuple(
                _merged(image, placed[image.path]) if image.path in placed else image
                for image in case.images
            )
            self.cases[case_id] = replace(case, images=images)

    def to_review_set(self, folder: Path, images: str) -> ReviewSet:
        """Make the tables. ``images`` is the base folder as ``reviewset.yaml`` will say it."""
        info = SetInfo(
            name=_writable(self.name),
            description=_writable(self.description),
            images=images,
            models=tuple(self.models.values()),
            readers=tuple(self.readers.values()),
        )
        newest = {(answer.case, answer.model): row for row, answer in enumerate(self.answers)}
        rows: dict[str, Iterable[dict[str, Any]]] = {
            "cases": map(_case_row, self.cases.values()),
            "answers": (
                vars(answer) | {"_newest": newest[answer.case, answer.model] == row}
                for row, answer in enumerate(self.answers)
            ),
            "scores": map(vars, self.scores),
            "flags": map(vars, self.flags),
        }
        tables: dict[str, Any] = {
            name: _table(rows.get(name, ()), schema) for name, schema in frames.TABLES.items()
        }
        return ReviewSet(folder, info, **tables)


def _merged(image: StudyImage, placed: StudyImage) -> StudyImage:
    known = image.view != "UNKNOWN"
    return replace(
        placed,
        id=image.id,
        view=image.view if known else placed.view,
        view_raw=image.view_raw if known else placed.view_raw or image.view_raw,
        key=image.key,
        prior=image.prior,
    )


def _case_row(case: Case) -> dict[str, Any]:
    tags = [{"name": name, "values": values} for name, values in case.tags.items()]
    return vars(case) | {"tags": tags}


def _table(rows: Iterable[dict[str, Any]], schema: pl.Schema) -> pl.DataFrame:
    numbered = []
    for number, row in enumerate(rows, start=1):
        given = {column: _plain(row.get(column)) for column in schema}
        given |= {"extra": dump(given["extra"]) if given["extra"] else None, "_row": number}
        numbered.append(given | ({"_origin": row["origin"]} if "_origin" in schema else {}))
    return pl.DataFrame(numbered, schema=schema, strict=True)


def _plain(value: Any, depth: int = 0) -> Any:
    """Make lists and objects of tuples and records, and strings writable, all the way down.

    What is nested deeper than 20 levels is cut off; numbers beyond 64 bits become text.
    """
    if isinstance(value, str):
        return _writable(value)
    if isinstance(value, int) and abs(value) > _INT64_MAX:
        return str(value)
    if hasattr(value, "__dataclass_fields__"):
        value = vars(value)
    if not isinstance(value, Mapping | list | tuple):
        return value
    if depth >= _MAX_DEPTH:
        return None
    if isinstance(value, Mapping):
        return {_writable(str(key)): _plain(one, depth + 1) for key, one in value.items()}
    return [_plain(one, depth + 1) for one in value]


def _writable(text: str) -> str:
    """Return the text without what UTF-8 cannot hold (lone surrogates) and without NUL."""
    if text.isascii():
        return text.replace("\x00", "") if "\x00" in text else text
    return text.encode("utf-8", "replace").decode("utf-8").replace("\x00", "")

"""A review set in the making: records collected by an importer, then tables."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

import polars as pl

from rexview import frames
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
_MAX_EXTRA_DEPTH: Final = 20
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
            name=clean_text(self.name),
            description=clean_text(self.description),
            images=images,
            models=tuple(self.models.values()),
            readers=tuple(self.readers.values()),
        )
        newest = {(answer.case, answer.model): row for row, answer in enumerate(self.answers)}
        answers = (
            _answer_row(answer, newest[answer.case, answer.model] == row)
            for row, answer in enumerate(self.answers)
        )
        return ReviewSet(
            folder=folder,
            info=info,
            cases=_table(map(_case_row, self.cases.values()), frames.CASES),
            answers=_table(answers, frames.ANSWERS),
            scores=_table(map(_with_origin, self.scores), frames.SCORES),
            flags=_table(map(_with_origin, self.flags), frames.FLAGS),
            metrics=_table((), frames.METRICS),
            edits=_table((), frames.EDITS),
        )


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


def _table(rows: Iterable[dict[str, Any]], schema: pl.Schema) -> pl.DataFrame:
    numbered = [
        {column: _clean(row.get(column)) for column in schema} | {"_row": number}
        for number, row in enumerate(rows, start=1)
    ]
    return pl.DataFrame(numbered, schema=schema, strict=True)


def _with_origin(row: Score | ReaderFlag) -> dict[str, Any]:
    return vars(row) | {"_origin": row.origin}


def _case_row(case: Case) -> dict[str, Any]:
    return vars(case) | {
        "tags": [{"name": name, "values": values} for name, values in case.tags.items()],
        "context": vars(case.context),
        "report": vars(case.report),
        "images": list(map(vars, case.images)),
        "reference_boxes": list(map(vars, case.reference_boxes)),
        "extra": extra_json(case.extra),
    }


def _answer_row(answer: Answer, newest: bool) -> dict[str, Any]:
    boxes = list(map(vars, answer.boxes))
    return vars(answer) | {"boxes": boxes, "extra": extra_json(answer.extra), "_newest": newest}


def _clean(value: Any) -> Any:
    """Make strings writable as UTF-8, all the way down; tuples become lists."""
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, dict):
        return {key: _clean(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_clean(one) for one in value]
    return value


def clean_text(text: str) -> str:
    """Return the text without what UTF-8 cannot hold (lone surrogates) and without NUL."""
    if text.isascii():
        return text.replace("\x00", "") if "\x00" in text else text
    return text.encode("utf-8", "replace").decode("utf-8").replace("\x00", "")


def extra_json(extra: Mapping[str, Any]) -> str | None:
    """Return unknown fields as one JSON object, or None when there are none.

    NaN and infinite numbers become null; what is nested deeper than 20 levels is cut off.
    """
    if not extra:
        return None
    plain = _jsonable(dict(extra), 0)
    return json.dumps(plain, ensure_ascii=False, allow_nan=False)


def _jsonable(value: Any, depth: int) -> Any:
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, int):
        return value if abs(value) <= _INT64_MAX else str(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, str):
        return clean_text(value)
    if depth >= _MAX_EXTRA_DEPTH:
        return None
    if isinstance(value, Mapping):
        return {clean_text(str(key)): _jsonable(one, depth + 1) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_jsonable(one, depth + 1) for one in value]
    return clean_text(str(value))

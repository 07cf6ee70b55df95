"""Export CSV with one row an answer; a case without answers has one row.

The file is UTF-8 with a byte order mark, for spreadsheets; lines end with CR LF. Text that a
spreadsheet would read as a formula gets a leading apostrophe; numbers stay numbers.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from rexview.analysis.download_files import escape_formula
from rexview.export.export_job import ExportProgress
from rexview.export.export_records import (
    ExportAnswer,
    ExportBox,
    ExportCase,
    ExportContent,
    ExportScore,
)
from rexview.export.tables import (
    Row,
    answer_row,
    box_row,
    case_row,
    decision_line,
    flag_line,
    mark_line,
)
from rexview.vocab import DIMENSIONS

_BOX_FIELDS: Final = ("image", "label", "x", "y", "width", "height", "side", "score", "unsure")


def write(content: ExportContent, out: Path, progress: ExportProgress) -> None:
    """Write one row an answer.

    Final scores have a column each, and so have those of every reader: ``process (reader_a)``.
    Boxes are JSON; lists have one line for each item.
    """
    with out.open("w", encoding="utf-8-sig", newline="") as file:
        writer = csv.writer(file)
        names: list[str] | None = None
        for case in progress.over(content):
            for row in _rows(content, case):
                if names is None:
                    names = list(row)
                    writer.writerow(escape_formula(name) for name in names)
                writer.writerow(map(_cell, row.values()))


def _rows(content: ExportContent, case: ExportCase) -> Iterator[Row]:
    for answer in case.answers or (None,):
        yield _row(content, case, answer)


def _row(content: ExportContent, case: ExportCase, answer: ExportAnswer | None) -> Row:
    """Return a row; all rows of an export have the same columns."""
    model = answer.model if answer else None
    scores = [score for score in case.scores if score.model == model]
    flags = [flag for flag in case.flags if flag.model == model]
    said = [one for one in case.comments if one.model in (None, model)]
    decided = [one for one in case.decisions if one.model in (None, model)]
    return {
        **case_row(case),
        **answer_row(content, case, answer),
        "reference_boxes": _boxes(case, case.reference_boxes),
        "boxes": _boxes(case, answer.boxes if answer else ()),
        **_by_reader(content, scores),
        "score_comments": [
            f"{one.reader}, {one.dimension}: {one.comment}" for one in scores if one.comment
        ],
        "failures": [flag_line(flag) for flag in flags if not flag.hint],
        "possible_failures": [flag_line(flag) for flag in flags if flag.hint],
        "failures_in_own_words": [mark_line(one) for one in case.marks if one.model == model],
        "comments": [f"{one.person}, on {one.on}: {one.text}" for one in said],
        "decisions": [decision_line(one) for one in decided],
        "meeting": content.meeting.name if content.meeting else None,
        "notice": content.notice or None,
        "privacy": list(content.notes),
    }


def _by_reader(content: ExportContent, scores: Iterable[ExportScore]) -> Row:
    """Return each reader's score of each dimension: with several pictures, the mean."""
    given: dict[tuple[str, str], list[int]] = {}
    for one in scores:
        given.setdefault((one.dimension, one.reader), []).append(one.score)
    return {
        f"{dimension} ({reader})": _mean(given.get((dimension, reader)))
        for reader in content.readers
        for dimension in DIMENSIONS
    }


def _mean(values: list[int] | None) -> float | int | None:
    if not values:
        return None
    return values[0] if len(values) == 1 else sum(values) / len(values)


def _boxes(case: ExportCase, boxes: Iterable[ExportBox]) -> str | None:
    rows = [{name: box_row(case, box)[name] for name in _BOX_FIELDS} for box in boxes]
    return json.dumps(rows, ensure_ascii=False) if rows else None


def _cell(value: Any) -> Any:
    if isinstance(value, list):
        return escape_formula("\n".join(value))
    if isinstance(value, str):
        return escape_formula(value)
    if isinstance(value, datetime):
        return value.isoformat()
    return str(value).lower() if isinstance(value, bool) else value

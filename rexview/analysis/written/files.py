"""What people wrote of failures in words as files: all versions, what was read, what was marked."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from rexview.analysis.written.failures import KIND as WORDS
from rexview.analysis.written.failures import Words, words_of_row
from rexview.analysis.written.marks import KIND as MARKS
from rexview.analysis.written.validation import KIND as VALIDATIONS
from rexview.store import Reviews, Stored

_WORDS = ("failure", "version", "name", "counts", "does_not_count", "examples", "counterexamples")
_BY = ("by", "at")
_MARKED = ("case", "model", "failure", "version", "comment", *_BY, "answer_digest")
_READ = ("case", "model", "failure", "version", "judge", "said", *_BY, "answer_digest")


def write_files(reviews: Reviews, out: Path) -> tuple[int, int, int]:
    """Write the tables into a folder where there is anything; return how many rows each has."""
    versions = [
        words for row in reversed(reviews.history(kind=WORDS)) if (words := words_of_row(row))
    ]
    _write(out / "written_failures.csv", (*_WORDS, *_BY), map(_version, versions))
    read = [_about_answer(row) for row in reviews.current(VALIDATIONS) if row.value is not None]
    _write(out / "written_validations.csv", _READ, read)
    marks = [
        {"failure": row.subject, **_about_answer(row)}
        for row in reviews.current(MARKS)
        if row.value is not None
    ]
    _write(out / "written_marks.csv", _MARKED, marks)
    return len(versions), len(read), len(marks)


def _about_answer(row: Stored) -> dict[str, Any]:
    return {
        **(row.value or {}),
        "case": row.case,
        "model": row.model,
        "by": row.person,
        "at": row.at.isoformat(),
        "answer_digest": row.answer_digest,
    }


def _version(words: Words) -> dict[str, Any]:
    value = words.value or {}
    lists = {part: "\n".join(value.get(part) or ()) for part in ("examples", "counterexamples")}
    at = words.at.isoformat() if words.at else ""
    more = {"failure": words.failure, "version": words.prompt.hash, "by": words.by, "at": at}
    return {**value, **lists, **more}


def _write(path: Path, columns: Sequence[str], rows: Iterable[dict[str, Any]]) -> None:
    listed = list(rows)
    if not listed:
        return
    with path.open("w", encoding="utf-8", newline="") as out:
        writer = csv.DictWriter(out, columns)
        writer.writeheader()
        writer.writerows({name: row.get(name) for name in columns} for row in listed)

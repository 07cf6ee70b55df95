"""What people wrote of failures in words as files: all versions of the words, what was read."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from rexview.analysis.written.failures import KIND as WORDS
from rexview.analysis.written.failures import Words, words_of_row
from rexview.analysis.written.validation import KIND as VALIDATIONS
from rexview.store import Reviews

_WORDS = ("failure", "version", "name", "counts", "does_not_count", "examples", "counterexamples")
_BY = ("by", "at")
_READ = ("case", "model", "failure", "version", "judge", "said", *_BY, "answer_digest")


def write_files(reviews: Reviews, out: Path) -> tuple[int, int]:
    """Write both tables into a folder where there is anything; return how many rows each has."""
    versions = [
        words for row in reversed(reviews.history(kind=WORDS)) if (words := words_of_row(row))
    ]
    read = [row for row in reviews.current(VALIDATIONS) if row.value is not None]
    _write(out / "written_failures.csv", (*_WORDS, *_BY), map(_version, versions))
    said = (
        {
            **(row.value or {}),
            "case": row.case,
            "model": row.model,
            "by": row.person,
            "at": row.at.isoformat(),
            "answer_digest": row.answer_digest,
        }
        for row in read
    )
    _write(out / "written_validations.csv", _READ, said)
    return len(versions), len(read)


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

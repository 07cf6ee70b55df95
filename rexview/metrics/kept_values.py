"""Keep computed values and corrections as parts of a set's tables, next to the given files."""

from __future__ import annotations

import csv
import hashlib
import json
import os
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import polars as pl

from rexview.answer_digest import digests_of
from rexview.errors import FileRefused, MetricsError
from rexview.metrics.identity import MetricId
from rexview.models.running.run_folder import write_text_atomically
from rexview.schema import ReviewSet
from rexview.untrusted_input import read_file

_MOST_BYTES: Final = 1_000_000_000
_LONGEST_NAME: Final = 80
_COLUMNS: Final = (
    *(
        "case",
        "model",
        "metric",
        "value",
        "implementation",
        "version",
        "scope",
        "n",
        "answer_digest",
    ),
)
Row = Mapping[str, Any]


@dataclass(frozen=True)
class MetricValues:
    """The values of one metric: case, model and value; ``n`` if they depend on each other.

    ``without`` is the number of comparable reports without a value.
    """

    identity: MetricId
    values: tuple[tuple[str, str, float], ...]
    n: int | None = None
    without: int = 0

    @property
    def rows(self) -> list[Row]:
        """The rows of ``metrics``."""
        known = {name: part for name, part in self.identity._asdict().items() if part is not None}
        together = {} if self.n is None else {"n": self.n}
        return [
            {"case": case, "model": model, **known, "value": value, **together}
            for case, model, value in self.values
        ]


def part_file(folder: Path, table: str, words: Sequence[str | None]) -> Path:
    """Return the file of a part of a table, which is determined by the words."""
    joined = "-".join(word or "" for word in words)
    plain = re.sub(r"[^a-z0-9._]+", "-", joined.lower()).strip("-._")[:_LONGEST_NAME]
    digest = hashlib.sha256(json.dumps(list(words)).encode()).hexdigest()[:8]
    return folder / table / f"computed-{plain}-{digest}.jsonl"


def write_values(
    review_set: ReviewSet, identity: MetricId, rows: Sequence[Row], models: Collection[str]
) -> tuple[Path, int]:
    """Keep the values of one metric in the set's folder ``metrics``.

    The part replaces the one of the same identity, except the rows of models not in ``models``.
    Values in the set's other files are not changed.

    Returns
    -------
    tuple of Path and int
        The part, and the number of values left out because the set contains them already.

    Raises
    ------
    MetricsError
        If the part cannot be written; nothing has changed then.
    """
    path = part_file(review_set.folder, "metrics", identity)
    rows = with_digests(review_set, rows)
    # including those of earlier answers: a key occurs once in all files
    known = pl.concat([review_set.metrics, review_set.stale_metrics]).filter(
        pl.col(name).eq_missing(pl.lit(part, pl.String))
        for name, part in identity._asdict().items()
    )
    return path, _replace(path, known, rows, models)


def with_digests(review_set: ReviewSet, rows: Sequence[Row]) -> list[Row]:
    """Add to rows of ``metrics`` the digest of the answer's text that they belong to."""
    digests = digests_of(review_set).of_all({(row["case"], row["model"]) for row in rows})
    return [{**row, "answer_digest": digests.get((row["case"], row["model"]))} for row in rows]


def write_edits(
    review_set: ReviewSet, reader: str, rows: Sequence[Row], models: Collection[str]
) -> tuple[Path, int]:
    """Keep the corrections of one judge in the set's folder ``edits``, as :func:`write_values`."""
    path = part_file(review_set.folder, "edits", [reader])
    return path, _replace(path, review_set.edits.filter(pl.col("reader") == reader), rows, models)


def _replace(path: Path, known: pl.DataFrame, rows: Sequence[Row], models: Collection[str]) -> int:
    """Rewrite a part: its rows of other models, then the new ones that no other file contains.

    A part without rows is removed. ``known`` are the rows of the open set, in all its files.
    Returns the number of rows left out.

    Raises
    ------
    MetricsError
        If it cannot be written; it is unchanged then.
    """
    before = _rows_of(path)
    own = {(row["case"], row["model"]) for row in before}
    given = set(known.select("case", "model").iter_rows()) - own
    new = [row for row in rows if (row["case"], row["model"]) not in given]
    lines = [row for row in before if row["model"] not in models] + new
    try:
        if lines:
            path.parent.mkdir(exist_ok=True)
            write_text_atomically(path, "".join(f"{json.dumps(row)}\n" for row in lines))
        else:
            path.unlink(missing_ok=True)
    except OSError as error:
        raise _unwritable(path.parent, error.strerror or type(error).__name__) from None
    return len(rows) - len(new)


def _unwritable(folder: Path, reason: str) -> MetricsError:
    return MetricsError(
        f"{folder.name}/ of the review set cannot be written ({reason}): mend that, or write the "
        "values elsewhere with --out FILE."
    )


def check_values_can_be_kept(set_folder: Path) -> None:
    """Check that values can be kept in a set, before anything is computed for it.

    Raises
    ------
    MetricsError
        If they cannot.
    """
    folder = set_folder / "metrics"
    if folder.exists() and not folder.is_dir():
        raise _unwritable(folder, "it is no folder")
    if not os.access(folder if folder.exists() else set_folder, os.W_OK):
        raise _unwritable(folder, "that is not permitted")


def _rows_of(path: Path) -> list[Row]:
    """Read a part that was written here.

    Raises
    ------
    MetricsError
        If it is damaged, because its values of other models would be lost.
    """
    try:
        text = read_file(path, _MOST_BYTES).decode("utf-8")
        rows = [json.loads(line) for line in text.splitlines() if line]
        if not all(isinstance(row, dict) and {"case", "model"} <= row.keys() for row in rows):
            raise ValueError("a line is no row")
    except (FileNotFoundError, NotADirectoryError):
        return []
    except (OSError, ValueError, RecursionError, FileRefused) as error:
        place = f"{path.parent.name}/{path.name}"
        reason = error.strerror if isinstance(error, OSError) else error
        raise MetricsError(
            f"{place} cannot be read ({reason}): mend it, or take it away."
        ) from None
    return rows


def check_file(path: Path) -> None:
    """Check that :func:`write_file` can write a file, before anything is computed for it.

    Raises
    ------
    MetricsError
        If the file exists already, or has another ending.
    """
    if path.suffix.lower() not in (".csv", ".jsonl"):
        raise MetricsError(f"--out: {path.name} ends neither in .csv nor in .jsonl.")
    if path.exists():
        raise MetricsError(f"--out: there is a file {path.name} already.")
    if not path.parent.is_dir():
        raise MetricsError(f"--out: {path.name} cannot be written (there is no such folder).")


def write_file(path: Path, rows: Sequence[Row]) -> None:
    """Write rows of ``metrics`` to a separate file, as CSV or JSON Lines by its ending.

    Raises
    ------
    MetricsError
        If the file exists already, has another ending, or cannot be written.
    """
    check_file(path)
    try:
        if path.suffix.lower() == ".jsonl":
            with path.open("x", encoding="utf-8", newline="\n") as file:
                file.writelines(f"{json.dumps(row)}\n" for row in rows)
        else:
            with path.open("x", encoding="utf-8", newline="") as file:
                writer = csv.DictWriter(file, _COLUMNS, extrasaction="ignore")
                writer.writeheader()
                writer.writerows(rows)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise MetricsError(f"--out: {path.name} cannot be written ({reason}).") from None

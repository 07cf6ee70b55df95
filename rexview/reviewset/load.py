"""Open a review set: read its tables, check them, normalise the words."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import polars as pl
import yaml

from rexview import frames
from rexview.errors import ReviewSetError
from rexview.schema import Model, Problem, Reader, ReviewSet, SetInfo
from rexview.vocab import normalise_finish_reason, normalise_view


def fingerprint(folder: Path) -> str:
    """Name the state of all files of the set, from their sizes and times only."""
    digest = hashlib.sha256()
    for path in sorted(Path(folder).glob("*")):
        if path.is_file():
            stat = path.stat()
            digest.update(f"{path.name}:{stat.st_size}:{stat.st_mtime_ns};".encode())
    return digest.hexdigest()[:16]


def load(folder: Path) -> ReviewSet:
    """Open the review set in ``folder``.

    Raises
    ------
    ReviewSetError
        With every problem found, when any of them is an error.
    """
    folder = Path(folder)
    if not (folder / "reviewset.yaml").is_file():
        problem = Problem(
            "error", "reviewset.yaml", None, None, "There is no such file.", "Add it."
        )
        raise ReviewSetError("This folder is not a review set.", [problem])
    told = yaml.safe_load((folder / "reviewset.yaml").read_text(encoding="utf-8-sig"))
    info = SetInfo(
        name=told["name"],
        description=told.get("description", ""),
        notice=told.get("notice", ""),
        images=told.get("images", "images/"),
        models=tuple(
            Model(**{"name": entry["id"], **{k: v for k, v in entry.items()}})
            for entry in told.get("models", ())
        ),
        readers=tuple(Reader(**{"name": entry["id"], **entry}) for entry in told.get("readers", ())),
        rubric=told.get("rubric", "rexecution"),
    )
    tables = {name: _table(folder, name, schema) for name, schema in frames.TABLES.items()}
    return ReviewSet(folder=folder, info=info, fingerprint=fingerprint(folder), **tables)


def _table(folder: Path, name: str, schema: pl.Schema) -> pl.DataFrame:
    path = folder / f"{name}.jsonl"
    rows: list[dict[str, Any]] = []
    if path.is_file():
        for number, line in enumerate(path.read_text(encoding="utf-8-sig").splitlines(), start=1):
            if line.strip():
                rows.append(_row(json.loads(line), name, schema, number))
    frame = pl.DataFrame(rows, schema=schema, strict=False)
    if name == "answers":
        order = ["created", "_row"]
        newest = frame.sort(order, nulls_last=False).group_by("case", "model").last()["_row"]
        frame = frame.with_columns(pl.col("_row").is_in(newest.implode()).alias("_newest"))
    return frame


def _row(raw: dict[str, Any], name: str, schema: pl.Schema, number: int) -> dict[str, Any]:
    row = dict(raw)
    if name == "cases":
        tags = row.get("tags") or {}
        row["tags"] = [{"name": key, "values": values} for key, values in tags.items()]
        row["question_type"] = row.get("question_type") or "open"
        for image in row.get("images") or ():
            image["view_raw"] = image.get("view")
            image["view"] = normalise_view(image.get("view"))
    if name == "answers":
        row |= row.pop("usage", None) or {}
        row["finish_reason_raw"] = row.get("finish_reason")
        row["finish_reason"] = normalise_finish_reason(row.get("finish_reason")) or "unknown"
    if row.get("created"):
        from datetime import UTC, datetime

        when = datetime.fromisoformat(row["created"])
        row["created"] = when if when.tzinfo else when.replace(tzinfo=UTC)
    extra = {key: value for key, value in row.items() if key not in schema}
    row["extra"] = json.dumps(extra, ensure_ascii=False) if extra else None
    row["_row"] = number
    return {key: row.get(key) for key in schema}

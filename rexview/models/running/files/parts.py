"""Parts of a set's tables that are made of runs, beside the given files."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rexview.errors import RunError
from rexview.models.running.folder import write_whole


def write_part(folder: Path, name: str, rows: Sequence[Mapping[str, Any]]) -> Path | None:
    """Write a part where it is another than before; one without rows is taken away.

    Raises
    ------
    RunError
        It cannot be written; it is as it was.
    """
    path = folder / f"{name}.jsonl"
    text = "".join(f"{json.dumps(_without_none(row))}\n" for row in rows)
    try:
        before = path.read_text(encoding="utf-8") if path.is_file() else ""
        if text == before:
            return None
        folder.mkdir(exist_ok=True)
        if text:
            write_whole(path, text)
        else:
            path.unlink(missing_ok=True)
    except (OSError, UnicodeDecodeError) as error:
        reason = (error.strerror if isinstance(error, OSError) else None) or type(error).__name__
        raise RunError(
            f"{folder.name}/ of the review set cannot be written ({reason}): mend that and give "
            "the same command again; what was answered is kept and not asked again."
        ) from None
    return path


def _without_none(row: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in row.items() if value is not None}

"""Where the files of a run lie in its review set, and which runs a set has.

Answers go to ``answers/RUN.jsonl``, everything else to ``runs/RUN/``.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from rexview.bounded import read_file
from rexview.errors import FileRefused, RunError

RUNS: Final = "runs"
ANSWERS: Final = "answers"
_ID: Final = re.compile(r"\d{8}-\d{6}-[a-z0-9][a-z0-9._-]{0,59}")
_LONGEST_MODEL: Final = 40
MOST_BYTES: Final = 64_000_000
"""Of ``run.json``, which names every case of the run, and of the smaller files."""


@dataclass(frozen=True)
class RunFolder:
    """The files of one run; none of them need be there."""

    set_folder: Path
    id: str

    @property
    def path(self) -> Path:
        """The run's own folder."""
        return self.set_folder / RUNS / self.id

    @property
    def spec(self) -> Path:
        """What was asked for."""
        return self.path / "run.json"

    @property
    def log(self) -> Path:
        """Everything that was sent and came, a line each; only added to."""
        return self.path / "log.jsonl"

    @property
    def progress(self) -> Path:
        """How far it is."""
        return self.path / "progress.json"

    @property
    def control(self) -> Path:
        """What a page or another shell wants of it."""
        return self.path / "control.json"

    @property
    def lock(self) -> Path:
        """Who works on it; held as long as that process lives."""
        return self.path / "lock"

    @property
    def rows(self) -> Path:
        """Its rows of the table of answers."""
        return self.set_folder / ANSWERS / f"{self.id}.jsonl"


def new_run_id(model: str, now: datetime) -> str:
    """Return a name for a run: when, of which model, and four digits by chance."""
    plain = re.sub(r"[^a-z0-9._]+", "-", model.lower()).strip("-._")[:_LONGEST_MODEL].strip("-._")
    return f"{now:%Y%m%d-%H%M%S}-{plain or 'model'}-{secrets.token_hex(2)}"


def run_folder(set_folder: Path, run_id: str) -> RunFolder:
    """Return the folder of a run that is there.

    Raises
    ------
    RunError
        No run can have that name, or there is none.
    """
    found = RunFolder(set_folder, run_id)
    if not _ID.fullmatch(run_id) or found.path.is_symlink() or not found.spec.is_file():
        raise RunError(f"There is no run {run_id[:80]} in this review set.")
    return found


def runs_of(set_folder: Path) -> list[RunFolder]:
    """Return the runs of a set, newest first."""
    try:
        names = sorted((path.name for path in (set_folder / RUNS).iterdir()), reverse=True)
    except OSError:
        return []
    found = []
    for name in names:
        with suppress(RunError):
            found.append(run_folder(set_folder, name))
    return found


def write_json(path: Path, value: Mapping[str, Any]) -> None:
    """Write a file as a whole: whoever reads it sees what was there before, or all of the new.

    Raises
    ------
    OSError
        It cannot be written; what was there is as it was.
    """
    descriptor, part = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}-")
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            json.dump(value, file, ensure_ascii=True, indent=1)
            file.write("\n")
        Path(part).chmod(0o644)  # as the log: the app may belong to another user
        Path(part).replace(path)
    except BaseException:
        Path(part).unlink(missing_ok=True)
        raise


def read_json(path: Path) -> dict[str, Any] | None:
    """Read such a file; None when it is not there, or holds no JSON object."""
    try:
        value = json.loads(read_file(path, MOST_BYTES))
    except (OSError, ValueError, RecursionError, FileRefused):
        return None
    return value if isinstance(value, dict) else None

"""Where the files of a run lie in its review set, and which runs a set has.

Answers go to ``answers/RUN.jsonl``, everything else to ``runs/RUN/``. Where a model is asked about
something else than cases, as a judge of reports is, all of it lies in a folder of its own kind.
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
JUDGING: Final = "judging"
CURATING: Final = "curating"
"""Folders of runs: of those that answer cases, of those in which a model judges reports or answers,
and of those in which one proposes questions, scores, tags or checks them."""
ANSWERS: Final = "answers"
_ID: Final = re.compile(r"\d{8}-\d{6}-[a-z0-9][a-z0-9._-]{0,59}")
_LONGEST_MODEL: Final = 40
MOST_BYTES: Final = 64_000_000
"""Of ``run.json``, which names every case of the run, and of the smaller files."""


@dataclass(frozen=True)
class RunFolder:
    """The files of one run; none of them need be there.

    ``under`` is the folder of its kind: what is not in :data:`RUNS` answers no case, and its rows
    are no part of the table of answers.
    """

    set_folder: Path
    id: str
    under: str = RUNS

    @property
    def path(self) -> Path:
        """The run's own folder."""
        return self.set_folder / self.under / self.id

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
        """What came, a row each: those of the table of answers, for a run that answers cases."""
        if self.under != RUNS:
            return self.path / "rows.jsonl"
        return self.set_folder / ANSWERS / f"{self.id}.jsonl"


def new_run_id(model: str, now: datetime) -> str:
    """Return a name for a run: when, to the millisecond, of which model, and digits by chance.

    Names are in the order in which runs began, also those of one command.
    """
    plain = re.sub(r"[^a-z0-9._]+", "-", model.lower()).strip("-._")[:_LONGEST_MODEL].strip("-._")
    moment = f"{now:%Y%m%d-%H%M%S}-{now.microsecond // 1000:03}"
    return f"{moment}-{plain or 'model'}-{secrets.token_hex(2)}"


def run_folder(set_folder: Path, run_id: str, under: str = RUNS) -> RunFolder:
    """Return the folder of a run that is there.

    Raises
    ------
    RunError
        No run can have that name, or there is none.
    """
    found = RunFolder(set_folder, run_id, under)
    if not _ID.fullmatch(run_id) or found.path.is_symlink() or not found.spec.is_file():
        raise RunError(f"There is no run {run_id[:80]} in this review set.")
    return found


def runs_of(set_folder: Path, under: str = RUNS) -> list[RunFolder]:
    """Return the runs of a set in the folder of a kind, newest first."""
    try:
        names = sorted((path.name for path in (set_folder / under).iterdir()), reverse=True)
    except OSError:
        return []
    found = []
    for name in names:
        with suppress(RunError):
            found.append(run_folder(set_folder, name, under))
    return found


def write_json(path: Path, value: Mapping[str, Any]) -> None:
    """Write a file as a whole: whoever reads it sees what was there before, or all of the new.

    Raises
    ------
    OSError
        It cannot be written; what was there is as it was.
    """
    write_whole(path, json.dumps(value, ensure_ascii=True, indent=1) + "\n")


def write_whole(path: Path, text: str) -> None:
    """Write a text as :func:`write_json` does an object.

    Raises
    ------
    OSError
        It cannot be written; what was there is as it was.
    """
    descriptor, part = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}-")
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
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

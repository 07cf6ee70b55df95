"""Find the files of a run in its review set, and list a set's runs.

Answers are stored in ``answers/RUN.jsonl``, everything else in ``runs/RUN/``. Runs that are not
about cases, such as those of a judge of reports, are stored in a folder for their kind.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import socket
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from rexview.errors import FileRefused, RunError, RunRefused
from rexview.untrusted_input import read_file

RUNS_FOLDER: Final = "runs"
JUDGING_FOLDER: Final = "judging"
CURATING_FOLDER: Final = "curating"
"""Folders of runs: of runs that answer cases, of runs in which a model judges reports or answers,
and of runs in which it proposes, scores, tags or checks questions."""
ANSWERS_FOLDER: Final = "answers"
_ID: Final = re.compile(r"\d{8}-\d{6}-[a-z0-9][a-z0-9._-]{0,59}")
_LONGEST_MODEL: Final = 40
MAX_RUN_FILE_BYTES: Final = 64_000_000
"""Limit for ``run.json``, which names every case of the run, and for the smaller files."""


@dataclass(frozen=True)
class RunFolder:
    """The files of one run; none of them must exist.

    ``under`` is the folder for the run's kind. Runs outside :data:`RUNS_FOLDER` answer no cases,
    and their rows are not in the table of answers.
    """

    set_folder: Path
    id: str
    under: str = RUNS_FOLDER

    @property
    def path(self) -> Path:
        """The run's own folder."""
        return self.set_folder / self.under / self.id

    @property
    def spec(self) -> Path:
        """The file of what was asked for."""
        return self.path / "run.json"

    @property
    def log(self) -> Path:
        """The log of everything sent and received, one line each; append-only."""
        return self.path / "log.jsonl"

    @property
    def progress(self) -> Path:
        """The file of the run's progress."""
        return self.path / "progress.json"

    @property
    def control(self) -> Path:
        """The file through which a page or another shell controls the run."""
        return self.path / "control.json"

    @property
    def lock(self) -> Path:
        """The file that names the process at work; locked while that process lives."""
        return self.path / "lock"

    @property
    def rows(self) -> Path:
        """The file of result rows; in the format of ``answers`` for a run that answers cases."""
        if self.under != RUNS_FOLDER:
            return self.path / "rows.jsonl"
        return self.set_folder / ANSWERS_FOLDER / f"{self.id}.jsonl"


def new_run_id(model: str, now: datetime) -> str:
    """Return a new run id: time to the millisecond, model, and random digits.

    Ids sort by the start of the runs, also within one command.
    """
    plain = re.sub(r"[^a-z0-9._]+", "-", model.lower()).strip("-._")[:_LONGEST_MODEL].strip("-._")
    moment = f"{now:%Y%m%d-%H%M%S}-{now.microsecond // 1000:03}"
    return f"{moment}-{plain or 'model'}-{secrets.token_hex(2)}"


def find_run_folder(set_folder: Path, run_id: str, under: str = RUNS_FOLDER) -> RunFolder:
    """Return the folder of an existing run.

    Raises
    ------
    RunError
        The id is not valid, or the run does not exist.
    """
    found = RunFolder(set_folder, run_id, under)
    if not _ID.fullmatch(run_id) or found.path.is_symlink() or not found.spec.is_file():
        raise RunError(f"There is no run {run_id[:80]} in this review set.")
    return found


def list_runs(set_folder: Path, under: str = RUNS_FOLDER) -> list[RunFolder]:
    """Return the runs of a set in the folder for a kind, newest first."""
    try:
        names = sorted((path.name for path in (set_folder / under).iterdir()), reverse=True)
    except OSError:
        return []
    found = []
    for name in names:
        with suppress(RunError):
            found.append(find_run_folder(set_folder, name, under))
    return found


def write_json_atomically(path: Path, value: Mapping[str, Any]) -> None:
    """Write a file atomically: readers see the old content or the new, never a part.

    Raises
    ------
    OSError
        The file cannot be written; it is unchanged.
    """
    write_text_atomically(path, json.dumps(value, ensure_ascii=True, indent=1) + "\n")


def write_text_atomically(path: Path, text: str) -> None:
    """Write a text atomically, as :func:`write_json_atomically` does for an object.

    Raises
    ------
    OSError
        The file cannot be written; it is unchanged.
    """
    descriptor, part = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}-")
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
        Path(part).chmod(0o644)  # like the log: the app may run as another user
        Path(part).replace(path)
    except BaseException:
        Path(part).unlink(missing_ok=True)
        raise


def read_json(path: Path) -> dict[str, Any] | None:
    """Read a JSON file; None if it is missing or holds no object."""
    try:
        value = json.loads(read_file(path, MAX_RUN_FILE_BYTES))
    except (OSError, ValueError, RecursionError, FileRefused):
        return None
    return value if isinstance(value, dict) else None


# A lock lets one process at a time work on a run; the system releases it when the process dies.

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

_TRIES: Final = 20
_PAUSE_S: Final = 0.05
"""Pause between tries. A check whether a run is alive takes its lock for a moment: a second
suffices."""
_WINDOWS_LOCK_BYTE: Final = 1 << 20
"""Windows locks bytes: this one is never written, so that the text can be read."""


@dataclass(frozen=True)
class LockHolder:
    """The process that works on a run, as it recorded itself; ``started`` is ISO 8601."""

    host: str
    pid: int
    started: str


class RunLock:
    """The lock of a run, held until :meth:`release`, or until the process dies.

    ``left_behind`` is an earlier process that died without releasing the lock, None if none did.

    Raises
    ------
    RunRefused
        Another process holds it, or a process on another machine never released it.
    """

    def __init__(self, run: RunFolder) -> None:
        self._path = run.lock
        self.left_behind: LockHolder | None = None
        self._file = os.open(run.lock, os.O_RDWR | os.O_CREAT, 0o644)
        try:
            self._take(run.id)
        except BaseException:
            os.close(self._file)
            raise

    def _take(self, run_id: str) -> None:
        for _ in range(_TRIES):
            if _take_lock(self._file):
                break
            time.sleep(_PAUSE_S)
        else:
            holder = read_lock_holder(self._path) or LockHolder("this machine", 0, "")
            raise RunRefused(
                f"Process {holder.pid} on {holder.host} works on the run {run_id}: "
                "wait for it, or cancel it first."
            )
        before = read_lock_holder(self._path)
        if before is not None and before.host != socket.gethostname():
            raise RunRefused(
                f"Process {before.pid} on {before.host} works on the run {run_id}, or died there. "
                f"If it no longer runs, remove {self._path.name} from the run's folder."
            )
        self.left_behind = before
        now = datetime.now(UTC).isoformat(timespec="seconds")
        self._write(json.dumps(asdict(LockHolder(socket.gethostname(), os.getpid(), now))))

    def _write(self, words: str) -> None:
        os.ftruncate(self._file, 0)
        os.lseek(self._file, 0, os.SEEK_SET)
        os.write(self._file, words.encode())

    @property
    def file(self) -> int:
        """The open file; a child process that inherits it holds the lock until it ends."""
        return self._file

    def release(self) -> None:
        """Release the lock."""
        with suppress(OSError):
            self._write("")
        os.close(self._file)


def read_lock_holder(path: Path) -> LockHolder | None:
    """Return the process recorded in a lock; it may have died."""
    words = read_json(path)
    try:
        return LockHolder(str(words["host"]), int(words["pid"]), str(words["started"]))  # type: ignore[index]
    except (KeyError, TypeError, ValueError):
        return None


def is_active_run(run: RunFolder) -> bool:
    """Whether a process works on a run now, as far as this machine can tell."""
    try:
        file = _open_lock_file(run.lock)
    except OSError:
        return False
    try:
        if not _take_lock(file):
            return True
        holder = read_lock_holder(run.lock)
        return holder is not None and holder.host != socket.gethostname()
    finally:
        os.close(file)


def _open_lock_file(path: Path) -> int:
    try:
        return os.open(path, os.O_RDWR)  # some file systems need write access for a lock
    except PermissionError:  # another user's run
        return os.open(path, os.O_RDONLY)


def _take_lock(file: int) -> bool:
    """Take the system's lock on an open file; False if another process has it."""
    try:
        if sys.platform == "win32":
            os.lseek(file, _WINDOWS_LOCK_BYTE, os.SEEK_SET)
            msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
        else:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


# Parts of a set's tables that come from runs, next to the given files.


def write_part(folder: Path, name: str, rows: Sequence[Mapping[str, Any]]) -> Path | None:
    """Write a part if it has changed; delete one without rows.

    Raises
    ------
    RunError
        It cannot be written; it is unchanged.
    """
    path = folder / f"{name}.jsonl"
    text = "".join(f"{json.dumps(_without_none(row))}\n" for row in rows)
    try:
        before = path.read_text(encoding="utf-8") if path.is_file() else ""
        if text == before:
            return None
        folder.mkdir(exist_ok=True)
        if text:
            write_text_atomically(path, text)
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

"""One process at a time works on a run: a lock that the system gives back when its holder dies."""

from __future__ import annotations

import json
import os
import socket
import sys
import time
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from rexview.errors import RunRefused
from rexview.models.running.folder import RunFolder, read_json

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

_TRIES: Final = 20
_PAUSE_S: Final = 0.05
"""Whoever looks whether a run lives holds its lock for a moment: a second is enough to wait."""
_BEYOND: Final = 1 << 20
"""Windows locks bytes: one that is never written, so that the words can be read."""


@dataclass(frozen=True)
class Holder:
    """The process that works on a run, as it wrote itself down; ``started`` is ISO 8601."""

    host: str
    pid: int
    started: str


class RunLock:
    """The lock of a run, held from its making until :meth:`release`, or until the process dies.

    ``left_behind`` is the process that died without giving it back, if one did.

    Raises
    ------
    RunRefused
        Another process holds it, or one on another machine that did not give it back.
    """

    def __init__(self, run: RunFolder) -> None:
        self._path = run.lock
        self.left_behind: Holder | None = None
        self._file = os.open(run.lock, os.O_RDWR | os.O_CREAT, 0o644)
        try:
            self._take(run.id)
        except BaseException:
            os.close(self._file)
            raise

    def _take(self, run_id: str) -> None:
        for _ in range(_TRIES):
            if _hold(self._file):
                break
            time.sleep(_PAUSE_S)
        else:
            holder = holder_of(self._path) or Holder("this machine", 0, "")
            raise RunRefused(
                f"Process {holder.pid} on {holder.host} works on the run {run_id}: "
                "wait for it, or cancel it first."
            )
        before = holder_of(self._path)
        if before is not None and before.host != socket.gethostname():
            raise RunRefused(
                f"Process {before.pid} on {before.host} works on the run {run_id}, or died there. "
                f"If it no longer runs, remove {self._path.name} from the run's folder."
            )
        self.left_behind = before
        now = datetime.now(UTC).isoformat(timespec="seconds")
        self._write(json.dumps(asdict(Holder(socket.gethostname(), os.getpid(), now))))

    def _write(self, words: str) -> None:
        os.ftruncate(self._file, 0)
        os.lseek(self._file, 0, os.SEEK_SET)
        os.write(self._file, words.encode())

    @property
    def file(self) -> int:
        """The open file: a process of ours that is given it holds the lock, too, until it ends."""
        return self._file

    def release(self) -> None:
        """Give it back."""
        with suppress(OSError):
            self._write("")
        os.close(self._file)


def holder_of(path: Path) -> Holder | None:
    """Return who wrote itself into a lock; it need not live any more."""
    words = read_json(path)
    try:
        return Holder(str(words["host"]), int(words["pid"]), str(words["started"]))  # type: ignore[index]
    except (KeyError, TypeError, ValueError):
        return None


def is_worked_on(run: RunFolder) -> bool:
    """Whether a process works on a run now, as far as this machine can know."""
    try:
        file = _opened(run.lock)
    except OSError:
        return False
    try:
        if not _hold(file):
            return True
        holder = holder_of(run.lock)
        return holder is not None and holder.host != socket.gethostname()
    finally:
        os.close(file)


def _opened(path: Path) -> int:
    try:
        return os.open(path, os.O_RDWR)  # which some file systems want for a lock
    except PermissionError:  # another user's run
        return os.open(path, os.O_RDONLY)


def _hold(file: int) -> bool:
    """Take the system's lock on an open file; False when another has it."""
    try:
        if sys.platform == "win32":
            os.lseek(file, _BEYOND, os.SEEK_SET)
            msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
        else:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True

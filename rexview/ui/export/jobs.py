"""Exports that are made beside the pages: at most two at once, their files kept for an hour."""

from __future__ import annotations

import atexit
import logging
import shutil
import tempfile
import time
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from threading import Event, Lock, Semaphore, Thread, Timer
from typing import Final, Literal

from rexview.errors import ExportCancelled, ExportRefused, RexviewError
from rexview.export.formats import Format
from rexview.export.job import Progress, write_export
from rexview.export.privacy import Pseudonyms
from rexview.export.records import Content
from rexview.ui.server import server_state
from rexview.untrusted_input import file_name
from rexview.words import tr

State = Literal["waiting", "working", "done", "failed", "cancelled"]
Make = Callable[[Callable[[], None]], tuple[Content, Pseudonyms | None]]
_LOG: Final = logging.getLogger(__name__)
_AT_ONCE: Final = 2
_MOST_JOBS: Final = 16
"""Exports that are waiting or under way, of all people of a server."""
_KEPT_S: Final = 3600.0
_MOST_BYTES: Final = 4_000_000_000
"""Of finished files; beyond that the oldest go before their hour is over."""
_LEFT_S: Final = 24 * 3600.0
"""After so long without a new export a folder is no server's any more."""


@dataclass(eq=False)
class ExportJob:
    """One export: what was asked for, how far it is, and its file when it is done.

    ``key`` says what its pseudonyms stand for. ``said`` is why it failed.
    """

    title: str
    form: Format
    folder: Path
    state: State = "waiting"
    done: int = 0
    total: int = 0
    notes: tuple[str, ...] = ()
    said: str = ""
    file: Path | None = None
    key: str | None = None
    ended: float = 0.0
    cancelled: Event = field(default_factory=Event)

    @property
    def is_live(self) -> bool:
        """Whether it is waiting or under way."""
        return self.state in ("waiting", "working")

    @property
    def size(self) -> int:
        """Bytes of its file."""
        try:
            return self.file.stat().st_size if self.file else 0
        except OSError:
            return 0


class ExportJobs:
    """All exports of this server; their files lie in a folder of its own in ``home``."""

    def __init__(self, home: Path) -> None:
        self._lock = Lock()
        self._turns = Semaphore(_AT_ONCE)
        self._jobs: list[ExportJob] = []
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
        for left in home.iterdir():  # by a server that was killed
            if time.time() - left.stat().st_mtime > _LEFT_S:
                shutil.rmtree(left, ignore_errors=True)
        self._home = Path(tempfile.mkdtemp(dir=home))
        atexit.register(shutil.rmtree, self._home, ignore_errors=True)

    def begin(
        self, title: str, form: Format, make: Make, check: Callable[[], None] = lambda: None
    ) -> ExportJob:
        """Begin an export; ``make`` is called beside the page, with what stops it if cancelled.

        ``check`` is called now and then while it is made; what it raises (a RexviewError) ends it.

        Raises
        ------
        ExportRefused
            The server has enough to do.
        """
        self._forget_old()
        with self._lock:
            if sum(job.is_live for job in self._jobs) >= _MOST_JOBS:
                raise ExportRefused(
                    tr("The server makes too many exports already. Try again later.")
                )
            try:
                self._home.mkdir(mode=0o700, parents=True, exist_ok=True)  # another server tidies
                folder = Path(tempfile.mkdtemp(dir=self._home))
            except OSError as error:
                reason = error.strerror or type(error).__name__
                raise ExportRefused(
                    tr("The server has no room for the export: {reason}.").format(reason=reason)
                ) from error
            job = ExportJob(title, form, folder)
            self._jobs.append(job)
        Thread(target=self._work, args=(job, make, check), name="export", daemon=True).start()
        return job

    def drop(self, job: ExportJob) -> None:
        """Cancel an export, or take its file away."""
        job.cancelled.set()
        if not job.is_live:
            self._remove(job)

    def _work(self, job: ExportJob, make: Make, check: Callable[[], None]) -> None:
        state: State = "done"
        try:
            with self._turns:
                job.state = "working"
                self._make(job, make, check)
        except ExportCancelled:
            state = "cancelled"
        except RexviewError as error:
            job.said, state = str(error), "failed"
        except Exception:  # whatever it is, who waits is told and the log has it
            _LOG.exception("An export failed.")
            job.said, state = tr("The export failed; the server's log says why."), "failed"
        is_kept = state == "done" and not job.cancelled.is_set()
        if not is_kept:
            self._remove(job)
        job.ended = time.monotonic()  # before it counts as ended
        job.state = state
        if not is_kept:
            return
        later = Timer(_KEPT_S, self._forget_old)
        later.daemon = True
        later.start()

    @staticmethod
    def _make(job: ExportJob, make: Make, check: Callable[[], None]) -> None:
        def is_cancelled() -> bool:
            check()
            return job.cancelled.is_set()

        def show(done: int, total: int) -> None:
            job.done, job.total = done, total

        progress = Progress(show, is_cancelled)
        progress.check()
        content, hidden = make(progress.check)
        name = "cases" if hidden else content.title
        out = job.folder / file_name(f"{name}{job.form.ending}")
        write_export(content, job.form, out, progress)
        if job.form.is_folder:
            out = _zipped(out, progress)
        progress.check()
        job.notes = (*content.notes, *progress.notes)
        job.key = hidden.key_file() if hidden else None
        job.file = out

    def _forget_old(self) -> None:
        with self._lock:
            finished = [job for job in self._jobs if not job.is_live]
        finished.sort(key=lambda job: -job.ended)
        room = _MOST_BYTES
        for job in finished:
            room -= job.size
            if room < 0 or time.monotonic() - job.ended > _KEPT_S:
                self._remove(job)

    def _remove(self, job: ExportJob) -> None:
        job.file = None
        shutil.rmtree(job.folder, ignore_errors=True)
        with self._lock:
            if job in self._jobs:
                self._jobs.remove(job)


def _zipped(folder: Path, progress: Progress) -> Path:
    """Pack a folder into one file for the download; the folder goes."""
    packed = folder.with_name(f"{folder.name}.zip")
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for file in sorted(folder.rglob("*")):
            progress.check()
            archive.write(file, file.relative_to(folder.parent))
    shutil.rmtree(folder)
    return packed


@cache
def jobs() -> ExportJobs:
    """Return the exports of this server."""
    return ExportJobs(server_state.settings().cache_folder / "exports")

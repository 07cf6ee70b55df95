"""A real server that can be killed, stopped, restarted and limited in disk space."""

from __future__ import annotations

import shutil
import signal
import subprocess
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from bench.serving import ROOT, free_port, start
from rexview import reviewset
from rexview.people import Person
from rexview.schema import ReviewSet
from rexview.settings import DEMO_FOLDER, Settings
from rexview.store import StoredEntry, open_reviews
from rexview.store.database.connection import close_databases
from rexview.ui.web.saving.outbox import KIND
from rexview.ui.web.server import review_sets
from rexview.ui.web.server.sealed_tokens import Grant, LinkSigner

SECRET: Final = "of this benchmark only"  # noqa: S105


class ScoreServer:
    """``streamlit run app.py`` on a review set in its own folder, always on the same port.

    Parameters
    ----------
    folder : Path
        Folder for all files of the server.
    review_set : Path, optional
        By default a copy of the demo.
    database_url : str, optional
        By default a SQLite file next to the set.
    own_secret : bool
        Whether each start makes its own secret, as without the setting ``secret``; then only a page
        can give tickets.
    environment, options : mapping, optional
        As for :func:`bench.serving.start`.
    port : int, optional
        By default a free one.
    cwd : Path
        As for :func:`bench.serving.start`.
    """

    def __init__(
        self,
        folder: Path,
        *,
        review_set: Path | None = None,
        database_url: str | None = None,
        own_secret: bool = False,
        environment: Mapping[str, str] | None = None,
        options: Mapping[str, str] | None = None,
        port: int | None = None,
        cwd: Path = ROOT,
    ) -> None:
        self.folder: Final = folder
        if review_set is None:
            review_set = folder / "set"
            shutil.copytree(DEMO_FOLDER, review_set)
        self.review_set: Final[ReviewSet] = reviewset.load_review_set(review_set)
        self.settings: Final = Settings(review_set=review_set, database_url=database_url)
        self.log: Final = folder / "log.txt"
        self.port: Final = port or free_port()
        self.url: Final = f"http://localhost:{self.port}"
        self.starts = 0
        self._cwd = cwd
        self._environment = {
            "REXVIEW_CACHE": str(folder / "cache"),
            "XDG_DATA_HOME": str(folder / "data"),
            "PYTHONPATH": str(ROOT),
            **({} if own_secret else {"REXVIEW_SECRET": SECRET}),
            **({"REXVIEW_DATABASE_URL": database_url} if database_url else {}),
            **(environment or {}),
        }
        self._options = {"server.fileWatcherType": "none", **(options or {})}
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.kill()
        close_databases()

    @property
    def process(self) -> int:
        """The process id."""
        if self._process is None:
            raise RuntimeError("the server does not run")
        return self._process.pid

    @property
    def runs(self) -> bool:
        """Whether the process is running."""
        return self._process is not None and self._process.poll() is None

    def start(self) -> None:
        """Start the server and wait until it answers.

        Raises
        ------
        BenchUnavailable
            It does not answer in time.
        """
        self._process, _ = start(
            ROOT / "app.py",
            self.review_set.folder,
            options=self._options,
            environment=self._environment,
            log=self.log,
            port=self.port,
            cwd=self._cwd,
        )
        self.starts += 1

    def kill(self) -> None:
        """End the process at once (SIGKILL), without any cleanup."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def hold(self) -> None:
        """Stop the process (SIGSTOP): connections stay open without an answer."""
        if self._process is not None:
            self._process.send_signal(signal.SIGSTOP)

    def let_go(self) -> None:
        """Continue the process after :meth:`hold`."""
        if self._process is not None:
            self._process.send_signal(signal.SIGCONT)

    def limit_files(self, most: int | None) -> None:
        """Limit the size of the server's files, None for no limit; Linux only."""
        from resource import RLIMIT_FSIZE, prlimit

        _, hard = prlimit(self.process, RLIMIT_FSIZE)
        prlimit(self.process, RLIMIT_FSIZE, (hard if most is None else most, hard))

    def ticket(self, person: Person) -> str:
        """Return a reader's ticket for writing, as from the page."""
        name = review_sets.set_id(self.review_set.folder)
        who = [person.id, person.name, person.role]
        return LinkSigner(SECRET).sign(Grant(KIND, name, "", detail=who))

    def scores(self) -> tuple[StoredEntry, ...]:
        """Return the scores in the history, oldest first, read by this process."""
        reviews = open_reviews(self.review_set, self.settings)
        rows = reviews.history(kind="score")[::-1]
        close_databases()
        return rows

    def entries(self) -> tuple[StoredEntry, ...]:
        """Return all entries, oldest first, read by this process."""
        reviews = open_reviews(self.review_set, self.settings)
        rows = reviews.history()[::-1]
        close_databases()
        return rows

    @property
    def database(self) -> Path:
        """The SQLite file."""
        return self.review_set.folder / "reviews.sqlite"

"""Worker code for a cluster, sent there as source: it imports nothing of rexview itself.

So it can report that rexview is missing there, or has another version. It never raises and prints
nothing: errors and package output may contain a patient's data, and a cluster stores its output.
"""

from __future__ import annotations

import importlib.util
import logging
import os
import pickle
import signal
import socket
import sys
from collections.abc import Callable
from typing import Any, Literal, NamedTuple

WorkerState = Literal["ready", "missing", "other", "failed"]


class WorkerArguments(NamedTuple):
    """Arguments for starting a worker.

    ``root`` is the folder of rexview on the asking machine, ``expected`` the pickled version of the
    job. ``work`` is the job's ``begin`` and first request, pickled.
    """

    root: str
    version: str
    expected: bytes
    work: bytes
    seconds: int
    nice: int


class WorkerReport(NamedTuple):
    """A worker's report: its state, an answer, and log messages since the last report.

    ``machine`` is Ray's id of its machine. ``answer`` is pickled; None after a failure, when
    ``words`` names the kind of error.
    """

    state: WorkerState
    host: str
    machine: str
    pid: int
    words: str = ""
    answer: bytes | None = None
    logged: tuple[tuple[str, int, str], ...] = ()


class RemoteWorker:
    """Answers requests on a machine of a cluster."""

    def __init__(self, package: bytes) -> None:
        os.environ["POLARS_MAX_THREADS"] = "1"
        self._seconds = 0
        self._answer: Callable[[Any], Any] | None = None
        self._state: WorkerState = "failed"
        self._words = ""
        self._machine = _machine_id()
        self._logged: list[tuple[str, int, str]] = []
        _discard_output()
        try:
            self._begin(pickle.loads(package))  # noqa: S301 - from our own program
        except Exception as error:
            self._words = type(error).__name__

    def _begin(self, given: tuple[Any, ...]) -> None:
        root, version, expected, work, self._seconds, nice = given
        if importlib.util.find_spec("rexview") is None:
            sys.path.insert(0, root)
            importlib.invalidate_caches()
            if importlib.util.find_spec("rexview") is None:
                self._state = "missing"
                return
        import rexview

        if rexview.__version__ != version:
            self._state, self._words = "other", rexview.__version__
            return
        try:
            begin, first = pickle.loads(work)  # noqa: S301
            runs, answer = begin(first)
        except ModuleNotFoundError as error:
            self._state, self._words = "missing", str(error.name)
            return
        except AttributeError as error:  # a name that this version lacks
            self._state, self._words = "other", f"{version}, without {error.name}"
            return
        if runs != pickle.loads(expected):  # noqa: S301
            self._state, self._words = "other", f"{version}, {runs}"
            return
        os.nice(nice)
        logger = logging.getLogger("rexview")
        logger.addHandler(_LogCollector(self._logged))
        logger.propagate = False
        self._answer, self._state = answer, "ready"

    def begun(self) -> tuple[Any, ...]:
        """Return whether this worker can answer, as :class:`WorkerReport`."""
        return self._said()

    def ask(self, request: bytes) -> tuple[Any, ...]:
        """Return the answer to a request, as :class:`WorkerReport`."""
        if self._answer is None:
            return self._said()
        try:
            _limit_processor_time(self._seconds)
            try:
                return self._said(
                    answer=pickle.dumps(
                        self._answer(pickle.loads(request)),  # noqa: S301
                        protocol=pickle.HIGHEST_PROTOCOL,
                    )
                )
            finally:
                _limit_processor_time(0)
        except Exception as error:
            return self._said(type(error).__name__)

    def _said(self, words: str | None = None, answer: bytes | None = None) -> tuple[Any, ...]:
        logged = tuple(self._logged)
        self._logged.clear()
        words = self._words if words is None else words
        where = (socket.gethostname(), self._machine, os.getpid())
        return tuple(WorkerReport(self._state, *where, words, answer, logged))


class _LogCollector(logging.Handler):
    """Collects rexview's log messages for the asking process; they name no patient."""

    def __init__(self, logged: list[tuple[str, int, str]]) -> None:
        super().__init__(logging.WARNING)
        self._logged = logged

    def emit(self, record: logging.LogRecord) -> None:
        self._logged.append((record.name, record.levelno, record.getMessage()))


def _machine_id() -> str:
    import ray

    return str(ray.get_runtime_context().get_node_id())


def _discard_output() -> None:
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (1, 2):
        os.dup2(nowhere, stream)
    os.close(nowhere)


def _limit_processor_time(seconds: int) -> None:
    """Let the system end this process after this many seconds of CPU time; 0 for never."""
    if hasattr(signal, "setitimer"):  # not on Windows
        signal.setitimer(signal.ITIMER_PROF, seconds)

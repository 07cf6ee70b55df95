"""Child processes that answer requests over pipes."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO, Final, Literal

from rexview.errors import RexviewError

ProcessPriority = Literal["first", "behind", "idle"]
"""Scheduling priority. ``first``: somebody is waiting. ``behind``: after others. ``idle``: only
spare processor time."""
_NICE: Final[dict[ProcessPriority, int]] = {"first": 0, "behind": 10, "idle": 19}
_REQUEST_ERRORS: Final = (OSError, EOFError, ValueError, pickle.UnpicklingError)
"""Errors of a request to a process that is gone, or was cut off."""
_MAX_STARTS: Final = 3


def kill_process(process: subprocess.Popen[bytes]) -> None:
    """Kill a process now and close its pipes."""
    process.kill()
    process.wait()
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            with suppress(OSError, ValueError):  # unsent bytes to a process that is gone
                pipe.close()


class ProcessDied(RexviewError):
    """A process ended during a request."""


class ProcessUnusable(RexviewError):
    """A process cannot be started, or runs another program than this one."""


class RequestProcess:
    """A child process that answers requests, one at a time; started at the first request.

    For one thread, except :meth:`kill`.

    Parameters
    ----------
    program : Path
        A program that calls :func:`serve_requests`.
    arguments : sequence of str
        For the program.
    first : object
        The first request.
    expected : callable
        Returns the required first answer: a version.
    purpose : str
        What the process does, for messages: ``looks for failures``.
    """

    def __init__(
        self,
        program: Path,
        arguments: Sequence[str],
        first: Any,
        expected: Callable[[], Any],
        purpose: str,
    ) -> None:
        self._command = [sys.executable, "-P", str(program), *arguments]
        self._first = first
        self._expected = expected
        self._purpose = purpose
        self._process: subprocess.Popen[bytes] | None = None
        self._ended = False

    @property
    def pid(self) -> int | None:
        """Id of the process, None if there is none."""
        return self._process.pid if self._process else None

    def begin(self) -> None:
        """Start the process, so that the first request need not wait.

        Raises
        ------
        ProcessDied, ProcessUnusable
        """
        if self._process is None:
            self._begin()

    def ask(self, request: Any) -> Any:
        """Return the answer to a request.

        Raises
        ------
        ProcessDied
            The next request is answered by a new process.
        ProcessUnusable
        """
        process = self._process or self._begin()
        try:
            return _exchange(process, request)
        except _REQUEST_ERRORS:
            self.close()
            raise ProcessDied("A process ended while it looked at answers.") from None

    def _begin(self) -> subprocess.Popen[bytes]:
        version = None
        for _ in range(_MAX_STARTS):  # a process killed while it starts does not count as broken
            if self._ended:
                raise ProcessDied("The process was ended.")
            with suppress(*_REQUEST_ERRORS):
                self._process = subprocess.Popen(  # noqa: S603 - our own program
                    self._command,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    env={**os.environ, "POLARS_MAX_THREADS": "1"},
                )
                version = _exchange(self._process, self._first)
            if self._process is not None and version == self._expected():
                return self._process
            self.close()
        if version is None:
            raise ProcessUnusable(f"No process can be started that {self._purpose}.")
        raise ProcessUnusable("The program was changed meanwhile; start it again.")

    def kill(self) -> None:
        """Kill the process now, for good; any thread may call this."""
        self._ended = True
        process = self._process
        if process is not None:
            process.kill()

    def close(self) -> None:
        """End the process; the next request starts a new one."""
        process, self._process = self._process, None
        if process is not None:
            kill_process(process)


def _exchange(process: subprocess.Popen[bytes], request: Any) -> Any:
    """Send a request to a process and return its answer, both as pickles."""
    assert process.stdin is not None
    assert process.stdout is not None
    pickle.dump(request, process.stdin, protocol=pickle.HIGHEST_PROTOCOL)
    process.stdin.flush()
    return pickle.load(process.stdout)  # noqa: S301 - of our own program


def serve_requests(
    begin: Callable[[Any], tuple[Any, Callable[[Any], Any]]], seconds: int, rank: ProcessPriority
) -> None:
    """Answer the requests of :class:`RequestProcess` on standard input, until it closes.

    Parameters
    ----------
    begin : callable
        Called with the first request; returns its answer, and the function for all other requests.
    seconds : int
        Limit of processor time for a request; the system kills this process after more. This is for
        work that cannot be interrupted, such as a search by pattern.
    rank : ProcessPriority
        Scheduling priority of the process.
    """
    _lower_priority(rank)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends this process
    requests, answers = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # output printed by a library is no answer
    with suppress(BrokenPipeError, EOFError):
        first, answer = begin(pickle.load(requests))  # noqa: S301 - of who began this process
        _send(answers, first)
        while True:
            request = pickle.load(requests)  # noqa: S301
            _limit_processor_time(seconds)
            content = answer(request)
            _limit_processor_time(0)
            _send(answers, content)


def _send(answers: BinaryIO, content: Any) -> None:
    pickle.dump(content, answers, protocol=pickle.HIGHEST_PROTOCOL)
    answers.flush()


def _lower_priority(rank: ProcessPriority) -> None:
    """Lower the scheduling priority; steps unknown to the system are skipped."""
    with suppress(AttributeError, OSError):
        os.nice(_NICE[rank])
    if rank == "idle":
        with suppress(AttributeError, OSError):  # Linux: not even a small share while others work
            os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))


def _limit_processor_time(seconds: int) -> None:
    """Have the system kill this process after this processor time; 0 means never."""
    if hasattr(signal, "setitimer"):  # not on Windows
        signal.setitimer(signal.ITIMER_PROF, seconds)

"""Processes of our own beside this one, which it speaks with over pipes."""

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

Rank = Literal["first", "behind", "idle"]
"""First: somebody waits for it. Behind others. Idle: it has only time that nobody else wants."""
_NICE: Final[dict[Rank, int]] = {"first": 0, "behind": 10, "idle": 19}
_UNANSWERED: Final = (OSError, EOFError, ValueError, pickle.UnpicklingError)
"""What asking raises where the process is gone, or was cut off."""
_STARTS: Final = 3


def end(process: subprocess.Popen[bytes]) -> None:
    """End a process now, whatever it does, and close its pipes."""
    process.kill()
    process.wait()
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            with suppress(OSError, ValueError):  # unsent bytes to a process that is gone
                pipe.close()


class ProcessDied(RexviewError):
    """A process ended while it was asked something."""


class ProcessUnusable(RexviewError):
    """A process cannot be started, or runs another program than this one."""


class AskedProcess:
    """A process of our own that answers requests, one at a time; begun when it is first asked.

    For one thread, but for :meth:`kill`.

    Parameters
    ----------
    program : Path
        Calls :func:`serve`.
    arguments : sequence of str
        For the program.
    first : object
        The first request.
    expected : callable
        Returns what the first answer has to be: a version.
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
        """Id of the process, None when there is none."""
        return self._process.pid if self._process else None

    def begin(self) -> None:
        """Begin the process, so that the first request need not wait for that.

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
        except _UNANSWERED:
            self.close()
            raise ProcessDied("A process ended while it looked at answers.") from None

    def _begin(self) -> subprocess.Popen[bytes]:
        version = None
        for _ in range(_STARTS):  # one that is killed while it starts was nobody's fault
            if self._ended:
                raise ProcessDied("The process was ended.")
            with suppress(*_UNANSWERED):
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
        """End the process now, whatever it does, for good; any thread may call this."""
        self._ended = True
        process = self._process
        if process is not None:
            process.kill()

    def close(self) -> None:
        """End the process and forget it."""
        process, self._process = self._process, None
        if process is not None:
            end(process)


def _exchange(process: subprocess.Popen[bytes], request: Any) -> Any:
    """Send a request to a process and return its answer, both as pickles."""
    assert process.stdin is not None
    assert process.stdout is not None
    pickle.dump(request, process.stdin, protocol=pickle.HIGHEST_PROTOCOL)
    process.stdin.flush()
    return pickle.load(process.stdout)  # noqa: S301 - of our own program


def serve(
    begin: Callable[[Any], tuple[Any, Callable[[Any], Any]]], seconds: int, rank: Rank
) -> None:
    """Answer what :class:`AskedProcess` sends on standard input, until there is no more.

    Parameters
    ----------
    begin : callable
        Is given the first request; returns its answer, and what answers all others.
    seconds : int
        Of the processor; the system ends this process over a request that takes more. That is for
        what cannot be interrupted, such as a search by pattern.
    rank : Rank
        How far it steps back.
    """
    _step_back(rank)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # who asks ends this process
    requests, answers = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints is no answer
    with suppress(BrokenPipeError, EOFError):
        first, answer = begin(pickle.load(requests))  # noqa: S301 - of who began this process
        _send(answers, first)
        while True:
            request = pickle.load(requests)  # noqa: S301
            _limit(seconds)
            content = answer(request)
            _limit(0)
            _send(answers, content)


def _send(answers: BinaryIO, content: Any) -> None:
    pickle.dump(content, answers, protocol=pickle.HIGHEST_PROTOCOL)
    answers.flush()


def _step_back(rank: Rank) -> None:
    """Let others have the processors first; what a system does not know is left out."""
    with suppress(AttributeError, OSError):
        os.nice(_NICE[rank])
    if rank == "idle":
        with suppress(AttributeError, OSError):  # Linux: not even a small share while others work
            os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))


def _limit(seconds: int) -> None:
    """Let the system end this process after so long; 0 for never. A busy machine counts not."""
    if hasattr(signal, "setitimer"):  # not on Windows
        signal.setitimer(signal.ITIMER_PROF, seconds)

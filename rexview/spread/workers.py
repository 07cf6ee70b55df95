"""Workers that answer requests, one at a time each, and where they are: one way to ask for both.

A worker may die over a request. Who asks hears of it (:class:`ProcessDied`) and tries the request
again in parts, until what does it is known. What is lost with its machine, a worker of a cluster
asks of another one by itself.
"""

from __future__ import annotations

import inspect
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue
from typing import Any, Final, Protocol

from rexview.child_process import AskedProcess, ProcessDied, ProcessUnusable, Rank

__all__ = [
    "Job",
    "ProcessDied",
    "ProcessUnusable",
    "Refused",
    "Spread",
    "ThisMachine",
    "ThisProcess",
    "Worker",
]

Begin = Callable[[Any], tuple[Any, Callable[[Any], Any]]]
"""Is given the first request; returns what version it runs, and what answers all others."""


@dataclass(frozen=True)
class Job:
    """What workers are begun for.

    Attributes
    ----------
    begin : callable
        Of a module that :func:`rexview.child_process.serve` runs where it is started as a program.
    first : object
        The first request.
    expected : callable
        Returns the version that a worker has to run.
    purpose : str
        What it does, for messages: ``looks for failures``.
    seconds : int
        Of the processor for a request; a worker ends over one that takes more. 0 for any time.
    rank : Rank
        How far it steps back for others.
    holds_model : bool
        Whether it has weights in memory: one for a graphics card or a machine, not one for a core.
    """

    begin: Begin
    first: Any
    expected: Callable[[], Any]
    purpose: str
    seconds: int = 0
    rank: Rank = "behind"
    holds_model: bool = False

    @property
    def program(self) -> Path:
        """The file that a process runs."""
        return Path(inspect.getfile(self.begin))


@dataclass(frozen=True)
class Refused:
    """An answer that says why there is none and never will be, in a sentence."""

    message: str


class Worker(Protocol):
    """Answers requests; begun when it is first asked. For one thread, but for :meth:`kill`."""

    @property
    def pid(self) -> int | None:
        """Id of its process, on whatever machine; None when there is none."""
        ...

    def begin(self) -> None:
        """Begin, so that the first request need not wait for that.

        Raises
        ------
        ProcessDied, ProcessUnusable
        """
        ...

    def ask(self, request: Any) -> Any:
        """Return the answer to a request.

        Raises
        ------
        ProcessDied
            The next request is answered by a new process.
        ProcessUnusable
            No worker can do this, or none runs the program that this one is.
        """
        ...

    def kill(self) -> None:
        """End it now, whatever it does, for good; any thread may call this."""
        ...

    def close(self) -> None:
        """End it and forget it."""
        ...


class Spread(Protocol):
    """Where workers are."""

    def count(self, job: Job) -> int:
        """Return how many workers a job has at once, 1 or more."""
        ...

    def worker(self, job: Job) -> Worker:
        """Return a worker that was not begun."""
        ...


class ThisProcess:
    """A worker in this process, for work that takes less than beginning another one."""

    def count(self, job: Job) -> int:
        """Return 1: the interpreter does one thing at a time."""
        return 1

    def worker(self, job: Job) -> _InThisProcess:
        """Return a worker that was not begun."""
        return _InThisProcess(job)


class _InThisProcess:
    """Answers requests where it is asked. Nothing can end it over one."""

    pid: Final = None

    def __init__(self, job: Job) -> None:
        self._job = job
        self._answer: Callable[[Any], Any] | None = None

    def begin(self) -> None:
        """Prepare for the first request."""
        if self._answer is None:
            _, self._answer = self._job.begin(self._job.first)

    def ask(self, request: Any) -> Any:
        """Return the answer to a request."""
        self.begin()
        assert self._answer is not None
        return self._answer(request)

    def kill(self) -> None:
        """Do nothing: a request that was begun is answered."""

    def close(self) -> None:
        """Forget what was prepared."""
        self._answer = None


class ThisMachine:
    """Processes beside this one."""

    def __init__(self, workers: int) -> None:
        self._workers: Final = max(1, workers)

    def count(self, job: Job) -> int:
        """Return how many processes there are."""
        return 1 if job.holds_model else self._workers

    def worker(self, job: Job) -> AskedProcess:
        """Return a process that was not begun."""
        arguments = (str(job.seconds), job.rank)
        return AskedProcess(job.program, arguments, job.first, job.expected, job.purpose)


# Batches for all workers of a job, and their answers in the order of the batches.

Batch = Sequence[Any]
Answers = list[Any]
_AHEAD: Final = 2
"""Batches that wait for each worker, so that none is idle; no more are in memory."""


class Workers:
    """All workers of a job; any thread may ask, and waits until one is free."""

    def __init__(self, spread: Spread, job: Job) -> None:
        self.count: Final = spread.count(job)
        self._all: Final = [spread.worker(job) for _ in range(self.count)]
        self._idle: Final[SimpleQueue[Worker]] = SimpleQueue()
        for worker in self._all:
            self._idle.put(worker)

    def ask(self, request: Any) -> Any:
        """Return the answer of the first worker that is free.

        Raises
        ------
        ProcessDied, ProcessUnusable
        """
        worker = self._idle.get()
        try:
            return worker.ask(request)
        finally:
            self._idle.put(worker)

    def ask_each(self, request: Any) -> Answers:
        """Return the answer of every worker; while none is asked anything else.

        Raises
        ------
        ProcessDied, ProcessUnusable
        """
        with ThreadPoolExecutor(self.count) as threads:
            return list(threads.map(lambda worker: worker.ask(request), self._all))

    def kill(self) -> None:
        """End all of them now."""
        for worker in self._all:
            worker.kill()

    def close(self) -> None:
        """End all of them."""
        for worker in self._all:
            worker.close()


@contextmanager
def workers_of(spread: Spread, job: Job) -> Iterator[Workers]:
    """Return the workers of a job, which end when they are left."""
    workers = Workers(spread, job)
    try:
        yield workers
    finally:
        workers.kill()
        workers.close()


def answered(
    workers: Workers,
    batches: Iterable[Batch],
    died: Callable[[], None] = lambda: None,
    *,
    may_part: bool = True,
) -> Iterator[Answers | Refused]:
    """Have each batch answered with a list, one answer for each of its parts.

    A batch over which its workers die is asked for part by part. A part over which they die again
    is answered with None, and ``died`` is called. With ``may_part`` False, where the answers
    of a batch depend on all of it, nothing is asked for part by part. No more batches are taken
    than are worked on and soon will be.

    Raises
    ------
    ProcessUnusable
        Also where a worker died over a batch that may not be parted.
    """
    stopped = threading.Event()

    def ask(batch: Batch) -> Answers | Refused:
        if stopped.is_set():
            return []
        try:
            found: Answers | Refused = workers.ask(batch)
        except ProcessDied:
            if stopped.is_set():  # it was ended
                return []
            if may_part:
                return alone(batch)
            words = f"A worker died over what has to be worked out together ({len(batch):,})."
            raise ProcessUnusable(f"{words} It may need more memory.") from None
        return found

    def alone(batch: Batch) -> Answers | Refused:
        if len(batch) == 1:
            died()
            return [None]
        answers: Answers = []
        for part in batch:
            found = ask([part])
            if isinstance(found, Refused):
                return found
            answers += found
        return answers

    left = iter(batches)
    waiting: deque[Future[Answers | Refused]] = deque()
    with ThreadPoolExecutor(workers.count, thread_name_prefix="spread") as threads:
        try:
            while True:
                while len(waiting) < _AHEAD * workers.count:
                    batch = next(left, None)
                    if batch is None:
                        break
                    waiting.append(threads.submit(ask, batch))
                if not waiting:
                    return
                yield waiting.popleft().result()
        finally:
            stopped.set()
            if waiting:  # nobody wants them any more: nothing is waited for
                workers.kill()

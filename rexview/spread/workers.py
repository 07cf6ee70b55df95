"""Define workers, which answer one request at a time, and where they run.

A worker may die over a request. The caller then gets :class:`ProcessDied` and tries the request
again in parts, until it has found the cause. If a whole machine is lost, a cluster's worker passes
the request to another one by itself.
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

from rexview.child_process import ProcessDied, ProcessPriority, ProcessUnusable, RequestProcess

__all__ = [
    "InlineWorkers",
    "LocalProcesses",
    "ProcessDied",
    "ProcessUnusable",
    "RefusedAnswer",
    "Worker",
    "WorkerJob",
    "WorkerProvider",
]

StartWorker = Callable[[Any], tuple[Any, Callable[[Any], Any]]]
"""Takes the first request; returns the version it runs, and a function that answers requests."""


@dataclass(frozen=True)
class WorkerJob:
    """A kind of work for workers.

    Attributes
    ----------
    begin : callable
        A function of a module that calls :func:`.serve_requests` when run as a program.
    first : object
        The first request.
    expected : callable
        Returns the version that a worker must run.
    purpose : str
        What it does, for messages: ``looks for failures``.
    seconds : int
        CPU time for a request; a worker ends over a request that takes more. 0 for no limit.
    rank : ProcessPriority
        Its priority relative to other work.
    holds_model : bool
        Whether it loads weights: then one worker for a graphics card or a machine, not for a core.
    """

    begin: StartWorker
    first: Any
    expected: Callable[[], Any]
    purpose: str
    seconds: int = 0
    rank: ProcessPriority = "behind"
    holds_model: bool = False

    @property
    def program(self) -> Path:
        """The file that a process runs."""
        return Path(inspect.getfile(self.begin))


@dataclass(frozen=True)
class RefusedAnswer:
    """An answer that explains, in a sentence, why there is none and never will be."""

    message: str


class Worker(Protocol):
    """Answers requests; starts at the first one. For one thread, except :meth:`kill`."""

    @property
    def pid(self) -> int | None:
        """Id of its process, on any machine; None without one."""
        ...

    def begin(self) -> None:
        """Start now, so that the first request need not wait.

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
            No worker can do this job, or only workers with another version.
        """
        ...

    def kill(self) -> None:
        """End it now and for good, even at work; any thread may call this."""
        ...

    def close(self) -> None:
        """End it."""
        ...


class WorkerProvider(Protocol):
    """A place where workers run."""

    def count(self, job: WorkerJob) -> int:
        """Return how many workers a job has at once, 1 or more."""
        ...

    def worker(self, job: WorkerJob) -> Worker:
        """Return a worker that is not started yet."""
        ...


class InlineWorkers:
    """A worker in this process, for work that is shorter than starting another process."""

    def count(self, job: WorkerJob) -> int:
        """Return 1: the interpreter does one thing at a time."""
        return 1

    def worker(self, job: WorkerJob) -> _InlineWorker:
        """Return a worker that is not started yet."""
        return _InlineWorker(job)


class _InlineWorker:
    """Answers requests in the calling process; nothing can end it at work."""

    pid: Final = None

    def __init__(self, job: WorkerJob) -> None:
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
        """Do nothing: a started request is always answered."""

    def close(self) -> None:
        """Free what was prepared."""
        self._answer = None


class LocalProcesses:
    """Processes on this machine."""

    def __init__(self, workers: int) -> None:
        self._workers: Final = max(1, workers)

    def count(self, job: WorkerJob) -> int:
        """Return the number of processes."""
        return 1 if job.holds_model else self._workers

    def worker(self, job: WorkerJob) -> RequestProcess:
        """Return a process that is not started yet."""
        arguments = (str(job.seconds), job.rank)
        return RequestProcess(job.program, arguments, job.first, job.expected, job.purpose)


# Pass batches to all workers of a job; return the answers in the order of the batches.

Batch = Sequence[Any]
Answers = list[Any]
_QUEUED_BATCHES: Final = 2
"""Batches waiting for each worker, so that none is idle; only these are in memory."""


class WorkerPool:
    """All workers of a job; any thread may ask, and waits until one is free."""

    def __init__(self, spread: WorkerProvider, job: WorkerJob) -> None:
        self.count: Final = spread.count(job)
        self._all: Final = [spread.worker(job) for _ in range(self.count)]
        self._idle: Final[SimpleQueue[Worker]] = SimpleQueue()
        for worker in self._all:
            self._idle.put(worker)

    def ask(self, request: Any) -> Any:
        """Return the answer of the first free worker.

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
        """Return the answer of every worker; other requests wait meanwhile.

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
def open_worker_pool(spread: WorkerProvider, job: WorkerJob) -> Iterator[WorkerPool]:
    """Yield the workers of a job; they end with the block."""
    workers = WorkerPool(spread, job)
    try:
        yield workers
    finally:
        workers.kill()
        workers.close()


def answer_batches(
    workers: WorkerPool,
    batches: Iterable[Batch],
    died: Callable[[], None] = lambda: None,
    *,
    may_part: bool = True,
) -> Iterator[Answers | RefusedAnswer]:
    """Yield for each batch the list of answers to its parts.

    If workers die over a batch, its parts are asked one by one. A part over which they die again is
    answered with None, and ``died`` is called. With ``may_part`` False, where answers depend on the
    whole batch, no batch is split. Batches are taken only as workers need them.

    Raises
    ------
    ProcessUnusable
        Also if a worker died over a batch that may not be split.
    """
    stopped = threading.Event()

    def ask(batch: Batch) -> Answers | RefusedAnswer:
        if stopped.is_set():
            return []
        try:
            found: Answers | RefusedAnswer = workers.ask(batch)
        except ProcessDied:
            if stopped.is_set():  # it was ended
                return []
            if may_part:
                return alone(batch)
            words = f"A worker died over what has to be worked out together ({len(batch):,})."
            raise ProcessUnusable(f"{words} It may need more memory.") from None
        return found

    def alone(batch: Batch) -> Answers | RefusedAnswer:
        if len(batch) == 1:
            died()
            return [None]
        answers: Answers = []
        for part in batch:
            found = ask([part])
            if isinstance(found, RefusedAnswer):
                return found
            answers += found
        return answers

    left = iter(batches)
    waiting: deque[Future[Answers | RefusedAnswer]] = deque()
    with ThreadPoolExecutor(workers.count, thread_name_prefix="spread") as threads:
        try:
            while True:
                while len(waiting) < _QUEUED_BATCHES * workers.count:
                    batch = next(left, None)
                    if batch is None:
                        break
                    waiting.append(threads.submit(ask, batch))
                if not waiting:
                    return
                yield waiting.popleft().result()
        finally:
            stopped.set()
            if waiting:  # their answers are no longer wanted
                workers.kill()

"""Batches for all workers of a job, and their answers in the order of the batches."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from queue import SimpleQueue
from typing import Any, Final

from rexview.spread.workers import Job, ProcessDied, ProcessUnusable, Refused, Spread, Worker

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

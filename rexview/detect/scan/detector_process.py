"""Worker processes that run detectors, on this machine or elsewhere; one answer may kill one."""

from __future__ import annotations

import logging
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from rexview.child_process import ProcessPriority
from rexview.detect.detector import Detector
from rexview.detect.scan import worker
from rexview.detect.scan.batch import (
    NOT_JUDGED,
    SCANNED,
    Batch,
    BatchResult,
    answers_of_cases,
    join_results,
    load_batch,
    unjudged_result,
)
from rexview.detect.scan.rule_version import rule_version
from rexview.schema import ReviewSet
from rexview.spread.workers import (
    LocalProcesses,
    ProcessDied,
    ProcessUnusable,
    Worker,
    WorkerJob,
    WorkerProvider,
)

__all__ = ["DetectorProcess", "ProcessDied", "ProcessUnusable"]


def detector_job(
    detectors: Sequence[Detector], *, rank: ProcessPriority = "behind", seconds: int = 120
) -> WorkerJob:
    """Return the job of workers that run detectors on batches."""
    purpose = "looks for failures"
    return WorkerJob(worker.begin, tuple(detectors), rule_version, purpose, seconds, rank)


class DetectorProcess:
    """A worker that runs detectors on batches.

    ``rank`` is its scheduling priority. A batch that takes more than ``seconds`` of processor time
    ends it. Without ``spread`` it is a process on this machine.
    """

    def __init__(
        self,
        detectors: Sequence[Detector],
        *,
        rank: ProcessPriority = "behind",
        seconds: int = 120,
        spread: WorkerProvider | None = None,
    ) -> None:
        job = detector_job(detectors, rank=rank, seconds=seconds)
        self._worker: Worker = (spread or LocalProcesses(1)).worker(job)

    @property
    def pid(self) -> int | None:
        """Id of the process, None when there is none."""
        return self._worker.pid

    def begin(self) -> None:
        """Start the worker, so that the first batch does not wait for its start.

        Raises
        ------
        ProcessDied, ProcessUnusable
        """
        self._worker.begin()

    def look(self, batch: Batch) -> BatchResult:
        """Run the detectors on a batch.

        Raises
        ------
        ProcessDied
            If the batch killed the process; the next batch gets a new process.
        ProcessUnusable
        """
        found = self._worker.ask(batch)
        assert isinstance(found, BatchResult)
        return found

    def kill(self) -> None:
        """Kill the worker now and for good; any thread may call this."""
        self._worker.kill()

    def close(self) -> None:
        """Close the worker and forget it."""
        self._worker.close()


# Cases that are open but not yet scanned: a process of their own scans them.
#
# Not this process: a pattern search would block it and may never end. A caller waits a moment at
# most, and calls again.

_WAITS_S: Final = 0.3
_SECONDS: Final = 10
"""Most processor time for a case; a slower one waits for its turn in the background scan."""
_BEGINS_S: Final = 2.0
_STAYS_S: Final = 30.0
"""A process idle for this long is closed; the next case starts another."""
_ASKED: Final = 32
_KEPT: Final = 64
_ENDS_S: Final = 10.0
_NOT_BEGUN: Final = 0.0
"""Counts as busy for a long time, so that nobody waits for its start."""
_log: Final = logging.getLogger(__name__)


class _Question(NamedTuple):
    first: int
    stop: int
    in_parts: bool = False
    """Without the answers that killed their process in the background scan."""


class OnDemandScanner:
    """Scans requested cases, the latest request first. Safe for several threads.

    Parameters
    ----------
    review_set : ReviewSet
    detectors : sequence of Detector
    state : array of uint8, one an answer
        The live states of the background scan; see :mod:`rexview.detect.scan.batch`.
    gives_way : callable
        Returns for how many seconds the process should delay its start because somebody waits for a
        page; two seconds at most.
    """

    def __init__(
        self,
        review_set: ReviewSet,
        detectors: Sequence[Detector],
        state: npt.NDArray[np.uint8],
        gives_way: Callable[[], float],
    ) -> None:
        self._review_set = review_set
        self._state = state
        self._gives_way = gives_way
        self._changed = threading.Condition()
        self._asked: OrderedDict[_Question, None] = OrderedDict()
        self._found: OrderedDict[_Question, BatchResult] = OrderedDict()
        self._died: set[_Question] = set()
        self._thread: threading.Thread | None = None
        self._process = DetectorProcess(detectors, rank="first", seconds=_SECONDS)
        self._busy_since: float | None = _NOT_BEGUN
        self._broken = self._closed = False

    @property
    def pid(self) -> int | None:
        """Id of the process, None if there is none."""
        return self._process.pid

    def begin(self) -> None:
        """Start the process, so that it is ready for the first request; return immediately."""
        with self._changed:
            if self._thread is None and not (self._broken or self._closed):
                self._thread = threading.Thread(target=self._work, name="scan-asked", daemon=True)
                self._thread.start()

    def begin_again(self) -> None:
        """Start again after no process could be started."""
        with self._changed:
            thread = self._thread if self._busy_since == _NOT_BEGUN else None
        if thread is not None:
            thread.join(timeout=_ENDS_S)
        with self._changed:
            self._broken = False
        self.begin()

    def looked(self, first: int, stop: int) -> BatchResult | None:
        """Return the results of the cases in rows ``first`` to ``stop``.

        None while there are none. Waits a moment if the process is not busy with something long.
        """
        self.begin()
        whole = _Question(first, stop)
        with self._changed:
            found = self._answer(whole)
            if whole in self._died and self._state[self._numbers(whole)].all():
                return self._answer(_Question(first, stop, in_parts=True))
            return found

    def _answer(self, question: _Question) -> BatchResult | None:
        if question not in self._found:
            if question in self._died or self._broken or self._closed:
                return None
            self._asked[question] = None
            self._asked.move_to_end(question)
            while len(self._asked) > _ASKED:
                self._asked.popitem(last=False)
            self._changed.notify_all()
            since, now = self._busy_since, time.monotonic()
            if since is None or now - since < _WAITS_S:
                self._changed.wait_for(lambda: self._is_settled(question), _WAITS_S)
        if question in self._found:
            self._found.move_to_end(question)
        return self._found.get(question)

    def _is_settled(self, question: _Question) -> bool:
        known = question in self._found or question in self._died
        return known or self._broken or self._closed

    def close(self) -> None:
        """End the process now."""
        with self._changed:
            self._closed = True
            self._process.kill()
            self._changed.notify_all()
            thread = self._thread
        if thread is not None:
            thread.join(timeout=_ENDS_S)

    def _work(self) -> None:
        try:
            with self._changed:
                before = max(0.0, min(self._gives_way(), _BEGINS_S))
                self._changed.wait_for(lambda: self._closed, before)
            self._process.begin()
            while (question := self._next()) is not None:
                self._look(question)
        except Exception as error:
            if not self._closed:
                words = str(error) if isinstance(error, ProcessUnusable) else type(error).__name__
                _log.warning("Cases are not looked at when they are opened: %s", words)
        finally:
            self._process.close()
            with self._changed:
                self._thread, self._broken = None, True
                self._changed.notify_all()

    def _next(self) -> _Question | None:
        """Wait for the next request; None when the scanner was closed."""
        with self._changed:
            self._busy_since = None
            if not self._changed.wait_for(lambda: self._asked or self._closed, _STAYS_S):
                self._process.close()
                self._changed.wait_for(lambda: self._asked or self._closed)
            if self._closed:
                return None
            self._busy_since = time.monotonic()
            return self._asked.popitem()[0]

    def _numbers(self, question: _Question) -> npt.NDArray[np.int64]:
        return answers_of_cases(self._review_set.newest, np.arange(question.first, question.stop))

    def _look(self, question: _Question) -> None:
        rows, looked = np.arange(question.first, question.stop), None
        numbers = self._numbers(question).astype(np.uint32)
        state = self._state[numbers]
        wanted = numbers[state == SCANNED] if question.in_parts else None
        with suppress(ProcessDied):  # the next case starts another process
            looked = self._process.look(load_batch(self._review_set, rows, wanted))
            if question.in_parts:
                died = unjudged_result(
                    load_batch(self._review_set, rows, numbers[state == NOT_JUDGED])
                )
                looked = join_results([looked, died])
        with self._changed:
            if looked is None:
                self._died.add(question)
            else:
                self._found[question] = looked
                while len(self._found) > _KEPT:
                    self._found.popitem(last=False)
            self._changed.notify_all()

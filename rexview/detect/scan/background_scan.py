"""Scan a review set in the background: worker processes read the answers while people work.

Results arrive in batches. :attr:`BackgroundScan.scan` makes a snapshot on request, and so seldom
that snapshots take a small share of the time at any size.

A batch that kills its process is tried again case by case, then answer by answer, until the answer
at fault is found. That answer is marked as not judged; all others are judged.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

import numpy as np
import numpy.typing as npt
import polars as pl

from rexview.child_process import ProcessPriority
from rexview.detect.detector import Detector
from rexview.detect.registry import create_detectors
from rexview.detect.scan.batch import (
    NOT_JUDGED,
    Batch,
    BatchResult,
    Numbers,
    load_batch,
    run_detectors,
    unjudged_result,
)
from rexview.detect.scan.detector_process import (
    DetectorProcess,
    OnDemandScanner,
    ProcessDied,
    ProcessUnusable,
    detector_job,
)
from rexview.detect.scan.kept_scan import FOLDER, KeptScan, OrderedWriter
from rexview.detect.scan.scan import Scan, ScanAccumulator, create_empty_scan, replace_scores, scan
from rexview.disk_cache import FileCache, open_cache
from rexview.errors import RexviewError
from rexview.schema import ReviewSet
from rexview.settings import Settings
from rexview.spread.workers import LocalProcesses, WorkerProvider
from rexview.vocab import english_noun

# Progress and rate of the search for failures.

_RATE_OVER_S: Final = 30.0


@dataclass(frozen=True)
class BackgroundProgress:
    """State and progress of a scan.

    ``looked`` of the ``answers`` are scanned; ``failed`` of these could not be judged by every
    detector. ``per_second`` and ``seconds_left`` are None while unknown or while nothing runs.
    ``message`` is a sentence for the page if something is wrong, else empty.
    """

    answers: int
    looked: int
    failed: int
    per_second: float | None
    seconds_left: float | None
    state: Literal["running", "stopped", "finished", "broken"]
    message: str = ""


class ScanRate:
    """Number of answers scanned per second over the last 30 seconds."""

    def __init__(self) -> None:
        self._rates: deque[tuple[float, int]] = deque()

    def note(self, looked: int) -> None:
        """Record the total number of answers scanned until now."""
        now = time.monotonic()
        self._rates.append((now, looked))
        while len(self._rates) > 2 and now - self._rates[0][0] > _RATE_OVER_S:
            self._rates.popleft()

    def forget(self) -> None:
        """Discard the records and start over."""
        self._rates.clear()

    def per_second(self) -> float | None:
        """Return the rate; None while it is unknown."""
        if len(self._rates) < 2:
            return None
        (first, before), (last, now) = self._rates[0], self._rates[-1]
        return (now - before) / (last - first) if last > first and now > before else None


# Order of the scan: the most recently preferred cases first, then the others in file order.

Rows = npt.NDArray[np.int64]
_ANSWERS: Final = 128
"""Answers in a batch: some tenths of a second of work."""
_ANSWERS_SOON: Final = 16
"""Answers in a batch that somebody waits for."""
_WISHES: Final = 16
"""Number of :meth:`ScanAgenda.prefer` calls that are remembered."""
_SOON: Final = 512
"""Cases of a call that are scanned in such small batches, because they are seen first."""
_BLOCK: Final = 4096


@dataclass(frozen=True, eq=False)
class ScanTask:
    """Cases to scan; ``wanted`` restricts them to some of their answers, None for all.

    ``turn`` is the position of the task, and of its parts, among all tasks.
    """

    case_rows: Rows
    wanted: Numbers | None = None
    turn: int = -1

    def parts(self, numbers: Numbers) -> list[ScanTask]:
        """Split the task into its cases, or into its answers (``numbers``) if it has one case.

        One bad answer then kills three processes; halving would cost a process for each half.
        """
        rows = self.case_rows
        if len(rows) > 1:
            return [
                ScanTask(rows[place : place + 1], None, self.turn) for place in range(len(rows))
            ]
        return [
            ScanTask(rows, numbers[place : place + 1], self.turn) for place in range(len(numbers))
        ]


@dataclass(slots=True)
class _Wish:
    rows: Rows
    place: int = 0


class ScanAgenda:
    """Cases that remain to be scanned. Not safe for several threads at once.

    Parameters
    ----------
    left : array of bool, one a case
    starts : array of int64
        As in :class:`rexview.frames.AnswerRows`.
    """

    def __init__(self, left: npt.NDArray[np.bool_], starts: npt.NDArray[np.int64]) -> None:
        self._left = left
        self._starts = starts
        self._first = 0
        self._wishes: deque[_Wish] = deque(maxlen=_WISHES)
        self._again: deque[ScanTask] = deque()

    def prefer(self, case_rows: Iterable[int] | npt.NDArray[np.integer[Any]]) -> None:
        """Scan these cases next, before those that were preferred earlier."""
        rows = np.asarray(
            case_rows if isinstance(case_rows, np.ndarray) else list(case_rows), dtype=np.int64
        )
        rows = rows[(rows >= 0) & (rows < len(self._left))]
        self._wishes.append(_Wish(rows[self._left[rows]]))

    def done(self, case_row: int) -> None:
        """Remove a case from the agenda."""
        self._left[case_row] = False

    def any_left(self) -> bool:
        """True if any case remains."""
        return bool(self._left.any() or self._again)

    def take_wishes(self, other: ScanAgenda) -> None:
        """Adopt the preferences of another agenda."""
        self._wishes = other._wishes

    def again(self, task: ScanTask) -> None:
        """Put a task before all others."""
        self._again.append(task)

    def next(self) -> ScanTask | None:
        """Take the next task; None when nothing remains."""
        if self._again:
            return self._again.popleft()
        while self._wishes:
            wish = self._wishes[-1]
            block = wish.rows[wish.place : wish.place + _BLOCK]
            left = np.flatnonzero(self._left[block])
            if len(left):
                most = _ANSWERS_SOON if wish.place < _SOON else _ANSWERS
                rows = self._few(block[left], most)
                wish.place += int(left[len(rows) - 1]) + 1
                return ScanTask(rows)
            wish.place += _BLOCK
            if wish.place >= len(wish.rows):
                self._wishes.pop()
        while self._first < len(self._left):
            block = self._first + np.flatnonzero(self._left[self._first : self._first + _BLOCK])
            if len(block):
                self._first = int(block[0])
                return ScanTask(self._few(block, _ANSWERS))
            self._first += _BLOCK
        return None

    def _few(self, rows: Rows, answers: int) -> Rows:
        """Take the first cases with at most ``answers`` answers together; at least one case."""
        counts = self._starts[rows + 1] - self._starts[rows]
        sums = np.cumsum(np.maximum(counts, 1))
        few = rows[: max(1, int(np.searchsorted(sums, answers, side="right")))]
        self._left[few] = False
        return few


__all__ = ["BackgroundProgress", "BackgroundScan", "default_worker_count"]
_SHARE: Final = 20
"""A snapshot is made only after twenty times the time that the last one took."""
_ENDS_S: Final = 10.0
_DEATHS: Final = 60
"""After this many deaths in a row without any result, no single answer is at fault."""
_log: Final = logging.getLogger(__name__)


def default_worker_count() -> int:
    """Return the number of processes that leaves one core for everything else."""
    return max(1, (os.cpu_count() or 1) - 1)


class BackgroundScan:
    """Scan of a review set by detectors in separate worker processes.

    Parameters
    ----------
    review_set : ReviewSet
        Its tables are read from memory, so changing or removing the folder has no effect.
    detectors : sequence of Detector
    keep : FileCache, optional
        Where results are kept on disk. Results kept in the set's own folder are read as well.
    workers : int, optional
        Number of processes; by default one less than the number of cores.
    spread : WorkerProvider, optional
        Where the workers run, and how many; by default they are processes on this machine.
    before : Scan, optional
        A scan of the same files and detectors, whose results are taken over.
    gives_way : callable, optional
        Called before each batch. Returns for how many seconds no batch should start because
        somebody waits for something else. With it the processes use only idle time, and a process
        of its own scans cases that are opened before their turn.
    """

    def __init__(
        self,
        review_set: ReviewSet,
        detectors: Sequence[Detector],
        *,
        keep: FileCache | None = None,
        workers: int | None = None,
        spread: WorkerProvider | None = None,
        before: Scan | None = None,
        gives_way: Callable[[], float] | None = None,
    ) -> None:
        self.review_set: Final = review_set
        self.detectors: Final = tuple(detectors)
        self._spread: Final = spread or LocalProcesses(workers or default_worker_count())
        self._changed: Final = threading.Condition(threading.RLock())
        self._gatherer: Final = ScanAccumulator(len(review_set.newest), len(review_set.cases))
        self._asked: Final = (
            OnDemandScanner(review_set, self.detectors, self._gatherer.state, gives_way)
            if gives_way
            else None
        )
        self._base = replace(create_empty_scan(review_set, detectors), asked=self._asked)
        if before is not None and before.detectors == self.detectors:
            self._gatherer.take_over(before.found)
            self._base = replace(before, asked=self._asked)
        self._gives_way: Final = gives_way
        self._keep: Final = keep
        self._kept: KeptScan | None = None
        self._in_turn: Final = OrderedWriter(self._keep_on_disk)
        self._agenda = self._new_agenda()
        self._processes: list[DetectorProcess] = []
        self._threads: list[threading.Thread] = []
        self._running_tasks = 0
        self._deaths = 0
        self._stopped = self._closed = self._ending = self._finished = False
        self._kept_is_read = False
        self._broken = ""
        self._scan = self._base
        self._news = True
        self._snapshot_due = 0.0
        self._pace: Final = ScanRate()

    def start(self) -> None:
        """Start the scan, after reading kept results if there are any; return immediately."""
        with self._changed:
            if self._threads or self._closed:
                return
            first = threading.Thread(target=self._begin, name="scan", daemon=True)
            self._threads.append(first)
        first.start()

    def _new_agenda(self) -> ScanAgenda:
        starts = self.review_set.newest.starts
        return ScanAgenda(self._gatherer.cases_left(starts), starts)

    def _begin(self) -> None:
        """Read the kept results, then start the processes."""
        try:
            if self._keep is not None and self._kept is None:
                self._read_kept(KeptScan(self.review_set, self.detectors, self._keep))
            with self._changed:
                self._kept_is_read = True
                self._changed.notify_all()
                nothing_left = not self._agenda.any_left()
            if nothing_left:
                self._finish()
            workers = self._spread.count(detector_job(self.detectors))
            with self._changed:
                if self._closed or self._finished:
                    return
                threads = [
                    threading.Thread(target=self._work, name=f"scan-{n}", daemon=True)
                    for n in range(len(self._processes), workers)
                ]
                self._threads += threads
            if self._asked is not None:
                self._asked.begin()
            for thread in threads:
                thread.start()
        except (Exception, pl.exceptions.PanicException) as error:
            self._break(error)

    def _read_kept(self, kept: KeptScan) -> None:
        for piece in kept.read():
            with self._changed:
                if self._closed:
                    return
                self._gatherer.add(piece)
                self._news = True
        with self._changed:
            agenda = self._new_agenda()
            agenda.take_wishes(self._agenda)
            self._kept, self._agenda = kept, agenda

    def rescore(self, review_set: ReviewSet) -> None:
        """Use the scores of another state of the same files; no text is read for them."""
        with self._changed:
            self._base = replace_scores(self._base, review_set)
            self._news, self._snapshot_due = True, 0.0

    @property
    def scan(self) -> Scan:
        """The newest snapshot; the same object while nothing is new."""
        with self._changed:
            now = time.monotonic()
            if self._news and (now >= self._snapshot_due or self._is_done()):
                self._scan = replace(self._base, found=self._gatherer.found(self._kept))
                self._news = False
                took = time.monotonic() - now
                self._snapshot_due = now + took * (1 + _SHARE)
            return self._scan

    def _is_done(self) -> bool:
        return self._finished or bool(self._broken)

    @property
    def progress(self) -> BackgroundProgress:
        """The current progress."""
        with self._changed:
            looked, total = self._gatherer.looked, len(self._gatherer.state)
            state: Literal["running", "stopped", "finished", "broken"] = "running"
            if self._broken:
                state = "broken"
            elif self._finished:
                state = "finished"
            elif self._stopped or self._closed:
                state = "stopped"
            rate = self._pace.per_second() if state == "running" else None
            left = (total - looked) / rate if rate else None
            message = self._broken or self._not_kept()
            return BackgroundProgress(
                total, looked, self._gatherer.failed, rate, left, state, message
            )

    def _not_kept(self) -> str:
        """Explain why the next start will not find the results of this scan; empty if it will."""
        reason = self._kept.trouble if self._kept else None
        return f"What is found is not kept for the next start: {reason}." if reason else ""

    def prefer(self, case_rows: Iterable[int] | npt.NDArray[np.integer[Any]]) -> None:
        """Scan these cases next, before those of earlier calls."""
        with self._changed:
            self._agenda.prefer(case_rows)

    def look_at(self, case_row: int) -> None:
        """Scan a case now, in this thread; the next snapshot contains it."""
        with self._changed:
            numbers = self.review_set.newest.of_case(case_row)
            if self._gatherer.state[numbers.start : numbers.stop].all():
                return
            self._agenda.done(case_row)
        looked = run_detectors(load_batch(self.review_set, np.array([case_row])), self.detectors)
        with self._changed:
            new = self._take_in(looked)
            self._snapshot_due = 0.0
        self._keep_on_disk([new])

    def stop(self) -> None:
        """Start no more batches until :meth:`resume`."""
        with self._changed:
            self._stopped = True
            self._pace.forget()

    def resume(self) -> None:
        """Continue after :meth:`stop`."""
        with self._changed:
            self._stopped = False
            self._changed.notify_all()

    def begin_again(self) -> None:
        """Continue with the unscanned answers after the scan broke."""
        with self._changed:
            if self._closed or not self._broken:
                return
            for process in self._processes:
                process.kill()
            threads, self._threads = self._threads, []
        for thread in threads:
            thread.join(timeout=_ENDS_S)
        with self._changed:
            self._broken, self._deaths, self._ending = "", 0, False
            self._pace.forget()
        if self._asked is not None:
            self._asked.begin_again()
        self.start()

    def close(self) -> None:
        """End the processes now; results remain available."""
        if self._asked is not None:
            self._asked.close()
        with self._changed:
            self._closed = True
            self._changed.notify_all()
            for process in self._processes:
                process.kill()
            threads = [one for one in self._threads if one is not threading.current_thread()]
        for thread in threads:
            thread.join(timeout=_ENDS_S)
        self._flush()

    def wait(self, seconds: float | None = None) -> bool:
        """Wait until the scan is finished, broken or closed; return True if it is."""
        with self._changed:
            return self._changed.wait_for(lambda: self._is_done() or self._closed, seconds)

    def wait_for_kept(self, seconds: float) -> None:
        """Wait at most ``seconds`` until the results kept on disk are read."""
        with self._changed:
            self._changed.wait_for(
                lambda: self._kept_is_read or self._is_done() or self._closed, seconds
            )

    def _work(self) -> None:
        """Run a worker process through one task after another."""
        rank: ProcessPriority = "idle" if self._gives_way else "behind"
        process = DetectorProcess(self.detectors, rank=rank, spread=self._spread)
        with self._changed:
            self._processes.append(process)
        try:
            while (task := self._next()) is not None:
                self._do(task, process)
            if self._is_over():
                self._finish()
        except (Exception, pl.exceptions.PanicException) as error:
            self._break(error)
        finally:
            process.close()
            with self._changed:
                self._processes.remove(process)

    def _next(self) -> ScanTask | None:
        """Take a task, or wait for one; None when there are no more."""
        with self._changed:
            while not self._closed and not self._is_done():
                others = self._gives_way() if self._gives_way else 0.0
                if others <= 0 and not self._stopped:
                    task = self._agenda.next()
                    if task is not None:
                        self._running_tasks += 1
                        return replace(task, turn=self._in_turn.new()) if task.turn < 0 else task
                    if not self._running_tasks:
                        return None
                self._changed.wait(others if others > 0 else None)
            return None

    def _is_over(self) -> bool:
        """True if everything is scanned and no thread noted it yet; True for one thread only."""
        with self._changed:
            over = not (self._closed or self._is_done() or self._ending)
            self._ending |= over
            return over

    def _finish(self) -> None:
        """Write the remaining results, so that callers waiting for the end find them on disk."""
        self._flush()
        with self._changed:
            self._finished = True
            self._changed.notify_all()

    def _do(self, task: ScanTask, process: DetectorProcess) -> None:
        try:
            self._look(task, process)
        except BaseException:
            with self._changed:
                self._agenda.again(task)  # for a later begin_again
            raise
        finally:
            with self._changed:
                self._running_tasks -= 1
                self._changed.notify_all()

    def _look(self, task: ScanTask, process: DetectorProcess) -> None:
        batch = load_batch(self.review_set, task.case_rows, task.wanted)
        try:
            looked = process.look(batch)
        except ProcessDied:
            self._died(task, batch)
            return
        with self._changed:
            self._deaths = 0
            new = self._take_in(looked)
        self._in_turn.done(task.turn, new)

    def _died(self, task: ScanTask, batch: Batch) -> None:
        """Retry a batch in parts; mark an answer that was alone as not judged."""
        with self._changed:
            if self._closed or self._broken:
                self._agenda.again(task)
                return
            self._deaths += 1
            if self._deaths > _DEATHS:
                raise ProcessUnusable("The search for failures ends again and again.")
            if len(task.case_rows) == 1 and len(batch) <= 1:
                # not kept on disk: the next start tries it again
                _log.warning("A process died over answer number %s.", batch.numbers.tolist())
                self._take_in(unjudged_result(batch))
                self._in_turn.done(task.turn)
            else:
                parts = task.parts(batch.numbers)
                self._in_turn.parted(task.turn, len(parts))
                for part in parts:
                    self._agenda.again(part)

    def _keep_on_disk(self, new: Sequence[BatchResult]) -> None:
        if self._kept is not None:
            self._kept.add(*new)

    def _flush(self) -> None:
        self._in_turn.flush()
        if self._kept is not None:
            self._kept.flush()

    def _take_in(self, looked: BatchResult) -> BatchResult:
        new = self._gatherer.add(looked)
        self._news = True
        self._pace.note(self._gatherer.looked)
        return new

    def _break(self, error: BaseException) -> None:
        """Record that the scan cannot continue, and why."""
        known = isinstance(error, ProcessUnusable)
        if not known:
            _log.error("The search for failures ended: %s", type(error).__name__)
        with self._changed:
            if not self._closed and not self._broken:
                self._broken = str(error) if known else "The search for failures ended by a fault."
            self._changed.notify_all()


# The whole scan of a review set on all cores, for the command line, which waits for its end.

_FEW: Final = 200
"""Up to this many answers are scanned before a process could start."""
_SECONDS: Final = 0.1


class ScanError(RexviewError):
    """Raised when the search for failures cannot finish."""


def run_blocking_scan(
    review_set: ReviewSet,
    settings: Settings,
    told: Callable[[int, int], None] | None = None,
    *,
    keep_beside: bool = False,
    spread: WorkerProvider | None = None,
) -> tuple[Scan, str]:
    """Scan all answers without a kept result, and keep the new results.

    Parameters
    ----------
    review_set : ReviewSet
    settings : Settings
        The detectors' thresholds, and where and how much is kept.
    told : callable, optional
        Called with the number of scanned answers and the total.
    keep_beside : bool
        Keep the results in the set's own folder.
    spread : WorkerProvider, optional
        Where to scan; by default on all cores of this machine.

    Returns
    -------
    Scan, str
        The scan, and a sentence about what went wrong; empty if nothing did.

    Raises
    ------
    ScanError
        If the background scan breaks.
    """
    active = create_detectors(
        gap_threshold=settings.gap_threshold,
        disagreement_threshold=settings.disagreement_threshold,
        models=review_set.models,
    )
    if len(review_set.newest) <= _FEW and not (keep_beside or spread):
        found = scan(review_set, active)
        return found, _failed(int((found.state == NOT_JUDGED).sum()))
    keep = open_cache("scans", settings, review_set.folder / FOLDER if keep_beside else None)
    workers = os.cpu_count()
    background = BackgroundScan(review_set, active, keep=keep, workers=workers, spread=spread)
    background.start()
    try:
        while not background.wait(_SECONDS):
            if told:
                told(background.progress.looked, background.progress.answers)
    finally:
        background.close()
    progress = background.progress
    if told:
        told(progress.answers, progress.answers)
    if progress.state == "broken":
        raise ScanError(progress.message)
    return background.scan, " ".join(filter(None, (progress.message, _failed(progress.failed))))


def _failed(answers: int) -> str:
    """Return a sentence with the number of answers that were not fully judged."""
    if not answers:
        return ""
    return f"{answers:,} {english_noun(answers, 'answer')} could not be judged by every detector."

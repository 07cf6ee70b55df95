"""The scan in the background: processes look at the answers while people work.

What is found comes in batches. A snapshot of it (:attr:`BackgroundScan.scan`) is made when it is
asked for, and so seldom that making them takes a small share of the time at any size.

A batch over which its process dies is tried again case by case, and a case answer by answer, until
the answer is found that does it: that one is not judged, all others are.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any, Final, Literal

import numpy as np
import numpy.typing as npt
import polars as pl

from rexview.child_process import Rank
from rexview.detect.core.batch import Batch, batch_of
from rexview.detect.core.detector import Detector
from rexview.detect.core.gathered import Gatherer
from rexview.detect.core.looking import Looked, given_up, look
from rexview.detect.core.progress import Pace, Progress
from rexview.detect.core.scan import Scan, rescored, unscanned
from rexview.detect.kept.in_turn import InTurn
from rexview.detect.kept.kept_scan import KeptScan
from rexview.detect.processes.agenda import Agenda, Task
from rexview.detect.processes.asked_cases import AskedCases
from rexview.detect.processes.looking_process import (
    LookingProcess,
    ProcessDied,
    ProcessUnusable,
    looking_job,
)
from rexview.kept_files import KeptFiles
from rexview.schema import ReviewSet
from rexview.spread.workers import Spread, ThisMachine

__all__ = ["BackgroundScan", "Progress", "usual_workers"]
_SHARE: Final = 20
"""A snapshot is not made before twenty times the time has passed that the last one took."""
_ENDS_S: Final = 10.0
_DEATHS: Final = 60
"""So many processes in a row that die without having looked at anything are no answer's fault."""
_log: Final = logging.getLogger(__name__)


def usual_workers() -> int:
    """Return how many processes leave one core to everything else."""
    return max(1, (os.cpu_count() or 1) - 1)


class BackgroundScan:
    """Detectors go through a review set in processes beside this one.

    Parameters
    ----------
    review_set : ReviewSet
        Its tables are read from memory; a folder that changes or vanishes changes nothing here.
    detectors : sequence of Detector
    keep : KeptFiles, optional
        Where outcomes are kept on disk. Those beside the set are read as well.
    workers : int, optional
        How many processes; by default one less than there are cores.
    spread : Spread, optional
        Where the workers are, and how many; else they are processes of this machine.
    before : Scan, optional
        Of the same files and detectors: what it found is taken over.
    gives_way : callable, optional
        Is asked before each batch for how many seconds none should be begun, as somebody waits for
        something else. With it the processes have only time that nobody else wants, and cases that
        are opened before their turn are looked at in one of its own.
    """

    def __init__(
        self,
        review_set: ReviewSet,
        detectors: Sequence[Detector],
        *,
        keep: KeptFiles | None = None,
        workers: int | None = None,
        spread: Spread | None = None,
        before: Scan | None = None,
        gives_way: Callable[[], float] | None = None,
    ) -> None:
        self.review_set: Final = review_set
        self.detectors: Final = tuple(detectors)
        self._spread: Final = spread or ThisMachine(workers or usual_workers())
        self._changed: Final = threading.Condition(threading.RLock())
        self._gatherer: Final = Gatherer(len(review_set.newest), len(review_set.cases))
        self._asked: Final = (
            AskedCases(review_set, self.detectors, self._gatherer.state, gives_way)
            if gives_way
            else None
        )
        self._base = replace(unscanned(review_set, detectors), asked=self._asked)
        if before is not None and before.detectors == self.detectors:
            self._gatherer.take_over(before.found)
            self._base = replace(before, asked=self._asked)
        self._gives_way: Final = gives_way
        self._keep: Final = keep
        self._kept: KeptScan | None = None
        self._in_turn: Final = InTurn(self._keep_on_disk)
        self._agenda = self._new_agenda()
        self._processes: list[LookingProcess] = []
        self._threads: list[threading.Thread] = []
        self._running_tasks = 0
        self._deaths = 0
        self._stopped = self._closed = self._ending = self._finished = False
        self._kept_is_read = False
        self._broken = ""
        self._scan = self._base
        self._news = True
        self._snapshot_due = 0.0
        self._pace: Final = Pace()

    def start(self) -> None:
        """Begin, at once or after what is kept was read; returns immediately."""
        with self._changed:
            if self._threads or self._closed:
                return
            first = threading.Thread(target=self._begin, name="scan", daemon=True)
            self._threads.append(first)
        first.start()

    def _new_agenda(self) -> Agenda:
        starts = self.review_set.newest.starts
        return Agenda(self._gatherer.cases_left(starts), starts)

    def _begin(self) -> None:
        """Read what is kept, then let the processes begin."""
        try:
            if self._keep is not None and self._kept is None:
                self._read_kept(KeptScan(self.review_set, self.detectors, self._keep))
            with self._changed:
                self._kept_is_read = True
                self._changed.notify_all()
                nothing_left = not self._agenda.any_left()
            if nothing_left:
                self._finish()
            workers = self._spread.count(looking_job(self.detectors))
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
        """Take the scores of another state of the same files; no text is read for them."""
        with self._changed:
            self._base = rescored(self._base, review_set)
            self._news, self._snapshot_due = True, 0.0

    @property
    def scan(self) -> Scan:
        """The newest snapshot; the same object as long as there is nothing new."""
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
    def progress(self) -> Progress:
        """How far it is."""
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
            return Progress(total, looked, self._gatherer.failed, rate, left, state, message)

    def _not_kept(self) -> str:
        """Say why the next start will not find what is found now; empty where it will."""
        reason = self._kept.trouble if self._kept else None
        return f"What is found is not kept for the next start: {reason}." if reason else ""

    def prefer(self, case_rows: Iterable[int] | npt.NDArray[np.integer[Any]]) -> None:
        """Let these cases come next, before those of earlier calls."""
        with self._changed:
            self._agenda.prefer(case_rows)

    def look_at(self, case_row: int) -> None:
        """Look at a case now, in this thread; the next snapshot has it."""
        with self._changed:
            numbers = self.review_set.newest.of_case(case_row)
            if self._gatherer.state[numbers.start : numbers.stop].all():
                return
            self._agenda.done(case_row)
        looked = look(batch_of(self.review_set, np.array([case_row])), self.detectors)
        with self._changed:
            new = self._take_in(looked)
            self._snapshot_due = 0.0
        self._keep_on_disk([new])

    def stop(self) -> None:
        """Begin no more batches until :meth:`resume`."""
        with self._changed:
            self._stopped = True
            self._pace.forget()

    def resume(self) -> None:
        """Go on."""
        with self._changed:
            self._stopped = False
            self._changed.notify_all()

    def begin_again(self) -> None:
        """Go on after it broke, with what was not looked at."""
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
        """End the processes now; what was found stays."""
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
        """Wait until it is finished, broken or closed; say whether it is."""
        with self._changed:
            return self._changed.wait_for(lambda: self._is_done() or self._closed, seconds)

    def wait_for_kept(self, seconds: float) -> None:
        """Wait until what was kept on disk is there, so long at most."""
        with self._changed:
            self._changed.wait_for(
                lambda: self._kept_is_read or self._is_done() or self._closed, seconds
            )

    def _work(self) -> None:
        """Let a process do one task after the other."""
        rank: Rank = "idle" if self._gives_way else "behind"
        process = LookingProcess(self.detectors, rank=rank, spread=self._spread)
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

    def _next(self) -> Task | None:
        """Take a task, wait for one, or return None when there will be none."""
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
        """Whether everything was looked at, and nobody has noted it; for one thread only."""
        with self._changed:
            over = not (self._closed or self._is_done() or self._ending)
            self._ending |= over
            return over

    def _finish(self) -> None:
        """Write the rest; what waits for the end finds it on disk."""
        self._flush()
        with self._changed:
            self._finished = True
            self._changed.notify_all()

    def _do(self, task: Task, process: LookingProcess) -> None:
        try:
            self._look(task, process)
        except BaseException:
            with self._changed:
                self._agenda.again(task)  # for who begins again
            raise
        finally:
            with self._changed:
                self._running_tasks -= 1
                self._changed.notify_all()

    def _look(self, task: Task, process: LookingProcess) -> None:
        batch = batch_of(self.review_set, task.case_rows, task.wanted)
        try:
            looked = process.look(batch)
        except ProcessDied:
            self._died(task, batch)
            return
        with self._changed:
            self._deaths = 0
            new = self._take_in(looked)
        self._in_turn.done(task.turn, new)

    def _died(self, task: Task, batch: Batch) -> None:
        """Try a batch again in parts; give an answer up that was alone."""
        with self._changed:
            if self._closed or self._broken:
                self._agenda.again(task)
                return
            self._deaths += 1
            if self._deaths > _DEATHS:
                raise ProcessUnusable("The search for failures ends again and again.")
            if len(task.case_rows) == 1 and len(batch) <= 1:
                # not kept on disk: at the next start it is tried again
                _log.warning("A process died over answer number %s.", batch.numbers.tolist())
                self._take_in(given_up(batch))
                self._in_turn.done(task.turn)
            else:
                parts = task.parts(batch.numbers)
                self._in_turn.parted(task.turn, len(parts))
                for part in parts:
                    self._agenda.again(part)

    def _keep_on_disk(self, new: Sequence[Looked]) -> None:
        if self._kept is not None:
            self._kept.add(*new)

    def _flush(self) -> None:
        self._in_turn.flush()
        if self._kept is not None:
            self._kept.flush()

    def _take_in(self, looked: Looked) -> Looked:
        new = self._gatherer.add(looked)
        self._news = True
        self._pace.note(self._gatherer.looked)
        return new

    def _break(self, error: BaseException) -> None:
        """Note that it cannot go on, and why."""
        known = isinstance(error, ProcessUnusable)
        if not known:
            _log.error("The search for failures ended: %s", type(error).__name__)
        with self._changed:
            if not self._closed and not self._broken:
                self._broken = str(error) if known else "The search for failures ended by a fault."
            self._changed.notify_all()

"""A worker that looks at answers, beside this process or elsewhere, and may die over one."""

from __future__ import annotations

from collections.abc import Sequence

from rexview.child_process import Rank
from rexview.detect.core.batch import Batch
from rexview.detect.core.detector import Detector
from rexview.detect.core.looking import Looked
from rexview.detect.kept.rules import rule_version
from rexview.detect.processes import worker
from rexview.spread.workers import Job, ProcessDied, ProcessUnusable, Spread, ThisMachine, Worker

__all__ = ["LookingProcess", "ProcessDied", "ProcessUnusable"]


def looking_job(detectors: Sequence[Detector], *, rank: Rank = "behind", seconds: int = 120) -> Job:
    """Return what workers that look at batches are begun for."""
    purpose = "looks for failures"
    return Job(worker.begin, tuple(detectors), rule_version, purpose, seconds, rank)


class LookingProcess:
    """A worker that looks at batches.

    ``rank`` says how far it steps back for others. It ends over a batch that takes more than so
    many ``seconds`` of the processor. Without ``spread`` it is a process of this machine.
    """

    def __init__(
        self,
        detectors: Sequence[Detector],
        *,
        rank: Rank = "behind",
        seconds: int = 120,
        spread: Spread | None = None,
    ) -> None:
        job = looking_job(detectors, rank=rank, seconds=seconds)
        self._worker: Worker = (spread or ThisMachine(1)).worker(job)

    @property
    def pid(self) -> int | None:
        """Id of the process, None when there is none."""
        return self._worker.pid

    def begin(self) -> None:
        """Begin it, so that the first batch need not wait for that.

        Raises
        ------
        ProcessDied, ProcessUnusable
        """
        self._worker.begin()

    def look(self, batch: Batch) -> Looked:
        """Look at a batch.

        Raises
        ------
        ProcessDied
            The next batch is looked at in a new process.
        ProcessUnusable
        """
        found = self._worker.ask(batch)
        assert isinstance(found, Looked)
        return found

    def kill(self) -> None:
        """End it now, whatever it does, for good; any thread may call this."""
        self._worker.kill()

    def close(self) -> None:
        """End it and forget it."""
        self._worker.close()

"""A process beside this one that looks at answers, and may die over one."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from rexview.child_process import AskedProcess, ProcessDied, ProcessUnusable, Rank
from rexview.detect.core.batch import Batch
from rexview.detect.core.detector import Detector
from rexview.detect.core.looking import Looked
from rexview.detect.kept.rules import rule_version

__all__ = ["LookingProcess", "ProcessDied", "ProcessUnusable"]

_WORKER: Final = Path(__file__).with_name("worker.py")


class LookingProcess(AskedProcess):
    """A process that looks at batches.

    ``rank`` says how far it steps back for others. It ends over a batch that takes more than so
    many ``seconds`` of the processor.
    """

    def __init__(
        self, detectors: Sequence[Detector], *, rank: Rank = "behind", seconds: int = 120
    ) -> None:
        arguments = (str(seconds), rank)
        super().__init__(_WORKER, arguments, tuple(detectors), rule_version, "looks for failures")

    def look(self, batch: Batch) -> Looked:
        """Look at a batch.

        Raises
        ------
        ProcessDied
            The next batch is looked at in a new process.
        ProcessUnusable
        """
        found = self.ask(batch)
        assert isinstance(found, Looked)
        return found

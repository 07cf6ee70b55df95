"""A process beside this one that looks at answers, and may die over one."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from rexview.child_process import end
from rexview.detect.core.batch import Batch
from rexview.detect.core.detector import Detector
from rexview.detect.core.looking import Looked
from rexview.detect.kept.rules import rule_version
from rexview.detect.processes.worker import Rank
from rexview.errors import RexviewError

_WORKER: Final = Path(__file__).with_name("worker.py")
_STARTS: Final = 3


class ProcessDied(RexviewError):
    """A process ended while it looked at a batch."""


class ProcessUnusable(RexviewError):
    """A process cannot be started, or runs other rules than this one."""


class LookingProcess:
    """A process that looks at batches, one at a time; begun when it is first asked.

    For one thread, but for :meth:`kill`. ``rank`` says how far it steps back for others. It ends
    over a batch that takes more than so many ``seconds`` of the processor.
    """

    def __init__(
        self, detectors: Sequence[Detector], *, rank: Rank = "behind", seconds: int = 120
    ) -> None:
        self._detectors = tuple(detectors)
        self._arguments = [str(seconds), rank]
        self._process: subprocess.Popen[bytes] | None = None
        self._ended = False

    @property
    def pid(self) -> int | None:
        """Id of the process, None when there is none."""
        return self._process.pid if self._process else None

    def begin(self) -> None:
        """Begin the process, so that the first batch need not wait for that.

        Raises
        ------
        ProcessDied, ProcessUnusable
        """
        if self._process is None:
            self._begin()

    def look(self, batch: Batch) -> Looked:
        """Look at a batch.

        Raises
        ------
        ProcessDied
            The next batch is looked at in a new process.
        ProcessUnusable
        """
        process = self._process or self._begin()
        try:
            found = _exchange(process, batch)
        except (OSError, EOFError, ValueError, pickle.UnpicklingError):
            self.close()
            raise ProcessDied("A process ended while it looked at answers.") from None
        assert isinstance(found, Looked)
        return found

    def _begin(self) -> subprocess.Popen[bytes]:
        version = None
        for _ in range(_STARTS):  # one that is killed while it starts was nobody's fault
            if self._ended:
                raise ProcessDied("The process was ended.")
            with suppress(OSError, EOFError, ValueError, pickle.UnpicklingError):
                self._process = subprocess.Popen(  # noqa: S603 - our own program
                    [sys.executable, "-P", str(_WORKER), *self._arguments],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    env={**os.environ, "POLARS_MAX_THREADS": "1"},
                )
                version = _exchange(self._process, self._detectors)
            if self._process is not None and version == rule_version():
                return self._process
            self.close()
        if version is None:
            raise ProcessUnusable("No process can be started that looks for failures.")
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
    assert process.stdin is not None
    assert process.stdout is not None
    pickle.dump(request, process.stdin, protocol=pickle.HIGHEST_PROTOCOL)
    process.stdin.flush()
    return pickle.load(process.stdout)  # noqa: S301 - of our own program

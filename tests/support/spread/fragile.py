"""A detector that fails, dies or takes long over an answer that says so."""

from __future__ import annotations

import os
import re
import signal
import time
from dataclasses import dataclass
from pathlib import Path

from rexview.detect.detector import AnswerInCase
from rexview.schema import Flag

MACHINE = "REXVIEW_TEST_MACHINE"
"""In the environment of a machine of a cluster that is to be lost: a file that says it is there."""


@dataclass(frozen=True)
class Fragile:
    """Does what an answer says; a detector like any other elsewhere.

    Over ``once`` it kills its process unless there is a file ``marker``, which it makes first. Over
    ``lost`` it loses its machine if that is one of those in the folder ``machines``; elsewhere it
    waits until all of these are lost.
    """

    marker: str = ""
    machines: str = ""
    failure: str = "token_limit"

    def can_judge(self, one: AnswerInCase) -> bool:
        if "raise" in one.text:
            raise ValueError(one.text)
        if "die" in one.text:
            os.kill(os.getpid(), signal.SIGKILL)
        if "slow" in one.text:
            time.sleep(0.2)
        if "endless" in one.text:
            re.search(r"(a+)+$", "a" * 60 + "!")
        if "once" in one.text and self.marker and not Path(self.marker).exists():
            Path(self.marker).write_text(str(os.getpid()))
            os.kill(os.getpid(), signal.SIGKILL)
        if "lost" in one.text and self.machines:
            _lose_machine()
            while any(Path(self.machines).iterdir()):
                time.sleep(0.05)
        return True

    def find(self, one: AnswerInCase) -> list[Flag]:
        return []


def _lose_machine() -> None:
    """Kill Ray's own process on this machine, then this one, as where the power fails."""
    if MACHINE in os.environ:
        Path(os.environ[MACHINE]).unlink()
        os.kill(int(os.environ["RAY_RAYLET_PID"]), signal.SIGKILL)
        os.kill(os.getpid(), signal.SIGKILL)

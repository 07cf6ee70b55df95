"""A detector that kills the worker it runs in, once, over an answer that says so, or each time."""

from __future__ import annotations

import os
import signal
from dataclasses import dataclass
from pathlib import Path

from rexview.detect.core.detector import AnswerInCase
from rexview.schema import Flag


@dataclass(frozen=True)
class Fragile:
    """Raises on, or dies over, an answer that says so; ``marker`` is made at the one kill."""

    marker: str
    failure: str = "token_limit"
    reads_scores: bool = False

    def can_judge(self, one: AnswerInCase) -> bool:
        if "raise" in one.text:
            raise ValueError(one.text)
        if "die" in one.text:
            os.kill(os.getpid(), signal.SIGKILL)
        if "once" in one.text and not Path(self.marker).exists():
            Path(self.marker).write_text(str(os.getpid()))
            os.kill(os.getpid(), signal.SIGKILL)
        return True

    def find(self, one: AnswerInCase) -> list[Flag]:
        return []

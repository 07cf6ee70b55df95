"""The program of a process that looks at answers: batches in, what was found out, as pickles.

The first request is the tuple of detectors, answered with the version of the rules that this
process runs. It ends when nobody asks any more, and when a batch takes too long.
"""

from __future__ import annotations

import os
import pickle
import signal
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO, Final

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[3]))  # run by its path: find rexview

from rexview.detect.core.looking import look
from rexview.detect.kept.rules import rule_version

_NICE: Final = 10
_SECONDS: Final = 120
"""Longest time for a batch. The system sees to it: a search by pattern cannot be interrupted."""


def run(requests: BinaryIO, answers: BinaryIO) -> None:
    """Answer requests until there are no more."""
    detectors = pickle.load(requests)  # noqa: S301 - of the program that began this one
    _send(answers, rule_version())
    while True:
        try:
            batch = pickle.load(requests)  # noqa: S301
        except EOFError:
            return
        _limit(_SECONDS)
        looked = look(batch, detectors)
        _limit(0)
        _send(answers, looked)


def _send(answers: BinaryIO, content: Any) -> None:
    pickle.dump(content, answers, protocol=pickle.HIGHEST_PROTOCOL)
    answers.flush()


def _limit(seconds: int) -> None:
    if hasattr(signal, "alarm"):  # not on Windows
        signal.alarm(seconds)


def main() -> None:
    """Look at what comes on standard input, at low priority."""
    with suppress(AttributeError, OSError):
        os.nice(_NICE)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # who asks ends this process
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints is no answer
    with suppress(BrokenPipeError):
        run(sys.stdin.buffer, answers)


if __name__ == "__main__":
    main()

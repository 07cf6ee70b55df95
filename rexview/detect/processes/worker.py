"""The program of a process that looks at answers: batches in, what was found out, as pickles.

The first request is the tuple of detectors, answered with the version of the rules that this
process runs. It ends when nobody asks any more, and when a batch takes more seconds of the
processor than its first argument says. The system sees to that: a search by pattern cannot be
interrupted. The second argument says how far it steps back, see :data:`Rank`.
"""

from __future__ import annotations

import os
import pickle
import signal
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO, Final, Literal, cast

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[3]))  # run by its path: find rexview

from rexview.detect.core.looking import look
from rexview.detect.kept.rules import rule_version

Rank = Literal["first", "behind", "idle"]
"""First: somebody waits for it. Behind others. Idle: it has only time that nobody else wants."""
_NICE: Final[dict[Rank, int]] = {"first": 0, "behind": 10, "idle": 19}


def run(requests: BinaryIO, answers: BinaryIO, seconds: int) -> None:
    """Answer requests until there are no more."""
    detectors = pickle.load(requests)  # noqa: S301 - of the program that began this one
    _send(answers, rule_version())
    while True:
        try:
            batch = pickle.load(requests)  # noqa: S301
        except EOFError:
            return
        _limit(seconds)
        looked = look(batch, detectors)
        _limit(0)
        _send(answers, looked)


def _send(answers: BinaryIO, content: Any) -> None:
    pickle.dump(content, answers, protocol=pickle.HIGHEST_PROTOCOL)
    answers.flush()


def _limit(seconds: int) -> None:
    """Let the system end this process after so long; 0 for never. A busy machine counts not."""
    if hasattr(signal, "setitimer"):  # not on Windows
        signal.setitimer(signal.ITIMER_PROF, seconds)


def _step_back(rank: Rank) -> None:
    """Let others have the processors first; what a system does not know is left out."""
    with suppress(AttributeError, OSError):
        os.nice(_NICE[rank])
    if rank == "idle":
        with suppress(AttributeError, OSError):  # Linux: not even a small share while others work
            os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))


def main() -> None:
    """Look at what comes on standard input."""
    seconds, rank = sys.argv[1:]
    _step_back(cast("Rank", rank))
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # who asks ends this process
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints is no answer
    with suppress(BrokenPipeError):
        run(sys.stdin.buffer, answers, int(seconds))


if __name__ == "__main__":
    main()

"""A worker's program that dies over a batch with ``die`` in it; else it says how long that is."""

import os
import signal
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

from rexview.child_process import serve_requests


def begin(first):
    return first, answer


def answer(batch):
    if "die" in batch:
        os.kill(os.getpid(), signal.SIGKILL)
    return [len(batch)] * len(batch)


if __name__ == "__main__":
    serve_requests(begin, 0, "behind")

"""The program of a process that looks at answers: batches in, what was found out, as pickles.

The first request is the tuple of detectors, answered with the version of the rules that this
process runs. It ends when nobody asks any more, and when a batch takes more seconds of the
processor than its first argument says. The system sees to that: a search by pattern cannot be
interrupted. The second argument says how far it steps back, see :data:`rexview.child_process.Rank`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import cast

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[3]))  # run by its path: find rexview

from rexview.child_process import Rank, serve
from rexview.detect.detector import Detector
from rexview.detect.scan.batch import Batch, BatchResult, run_detectors
from rexview.detect.scan.rule_version import rule_version


def begin(detectors: Sequence[Detector]) -> tuple[str, Callable[[Batch], BatchResult]]:
    """Take the detectors; return the version of the rules, and what looks at batches."""
    return rule_version(), lambda batch: run_detectors(batch, detectors)


if __name__ == "__main__":
    seconds, rank = sys.argv[1:]
    serve(begin, int(seconds), cast("Rank", rank))

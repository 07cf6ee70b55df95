"""Program of a process that runs detectors: batches in, results out, as pickles.

The first request is the tuple of detectors; the reply is the process's rule version. The process
ends when its input ends, or when a batch takes more seconds of processor time than its first
argument allows. The operating system enforces that limit, because a pattern search cannot be
interrupted. The second argument is its scheduling rank, see :data:`.ProcessPriority`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import cast

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[3]))  # run by its path: find rexview

from rexview.child_process import ProcessPriority, serve_requests
from rexview.detect.detector import Detector
from rexview.detect.scan.batch import Batch, BatchResult, run_detectors
from rexview.detect.scan.rule_version import rule_version


def begin(detectors: Sequence[Detector]) -> tuple[str, Callable[[Batch], BatchResult]]:
    """Return the rule version, and the function that runs the detectors on a batch."""
    return rule_version(), lambda batch: run_detectors(batch, detectors)


if __name__ == "__main__":
    seconds, rank = sys.argv[1:]
    serve_requests(begin, int(seconds), cast("ProcessPriority", rank))

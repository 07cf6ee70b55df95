"""Program of a process that computes metrics of generated reports."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple, cast

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # run by its path: find rexview

from rexview.child_process import ProcessPriority, serve_requests
from rexview.detect.scan.rule_version import rule_version
from rexview.disk_cache import cache_code_version, code_files
from rexview.harm import HarmTable
from rexview.metrics.answer_metrics import IDENTITIES, compute_answer_values
from rexview.reviewset import report_text
from rexview.schema import Answer, Case

PROGRAM: Final = Path(__file__)


class Generated(NamedTuple):
    """A case with some generated reports for it."""

    case: Case
    answers: tuple[Answer, ...]


Values = list[tuple[float, ...]]
"""One tuple per report, in the order of :data:`IDENTITIES`; NaN if there is no value."""


@cache
def metrics_version() -> str:
    """Return a digest of the code and words that determine the values."""
    own = code_files([PROGRAM.parent, Path(report_text.__file__)])
    return cache_code_version(own, rule_version())


def compute(batch: Sequence[Generated], harm: HarmTable) -> Values:
    """Return the values of all reports of a batch, in its order."""
    return [
        tuple(found.get(identity, math.nan) for identity in IDENTITIES)
        for case, answers in batch
        for answer in answers
        for found in (compute_answer_values(case, answer, harm),)
    ]


def begin(harm: HarmTable) -> tuple[str, Callable[[Sequence[Generated]], Values]]:
    """Return the version of the code, and a function that computes the values of batches."""
    return metrics_version(), lambda batch: compute(batch, harm)


if __name__ == "__main__":
    seconds, rank = sys.argv[1:]
    serve_requests(begin, int(seconds), cast("ProcessPriority", rank))

"""The program of a worker that works out one metric of pairs of reports.

A batch of pairs in; out come the values, one list for each name of a metric, or why there are none.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # run by its path: find rexview

from rexview.child_process import serve
from rexview.errors import MetricsError
from rexview.harm import HarmTable
from rexview.metrics.external.calculators import CALCULATORS, loaded
from rexview.metrics.external.calls import Scorer
from rexview.metrics.of_answer import own_value
from rexview.metrics.pairs import ReportPair
from rexview.metrics.worker import metrics_version
from rexview.spread.workers import Refused

Row = tuple[float | None, ...]
"""The values of one pair, in the order of what the metric makes."""


class Wanted(NamedTuple):
    """What is worked out: a metric of ours, or what a calculator makes."""

    metric: str
    harm: HarmTable | None = None
    download: bool = False


def makes(metric: str) -> tuple[str, ...]:
    """Return the names of the metrics that come of it."""
    return CALCULATORS[metric].makes if metric in CALCULATORS else (metric,)


def version_of(metric: str) -> tuple[str, str | None]:
    """Name the code that works it out: ours, and that of the package."""
    package = CALCULATORS[metric].version if metric in CALCULATORS else None
    return metrics_version(), package


def begin(
    wanted: Wanted,
) -> tuple[tuple[str, str | None], Callable[[Sequence[ReportPair]], list[Row] | Refused]]:
    """Take what is wanted; return the version of the code, and what answers batches."""
    answer = _External(wanted) if wanted.metric in CALCULATORS else _own(wanted)
    return version_of(wanted.metric), answer


def _own(wanted: Wanted) -> Callable[[Sequence[ReportPair]], list[Row] | Refused]:
    harm = wanted.harm
    assert harm is not None
    return lambda pairs: [(own_value(wanted.metric, pair, harm),) for pair in pairs]


class _External:
    """Has a package's metric loaded from the first batch on."""

    def __init__(self, wanted: Wanted) -> None:
        self._wanted = wanted
        self._opened = ExitStack()
        self._scorer: Scorer | None = None

    def __call__(self, pairs: Sequence[ReportPair]) -> list[Row] | Refused:
        try:
            return self._scored(pairs)
        except MetricsError as refusal:
            self._scorer = None
            return Refused(str(refusal))

    def _scored(self, pairs: Sequence[ReportPair]) -> list[Row] | Refused:
        calculator = CALCULATORS[self._wanted.metric]
        if self._scorer is None:
            opening = loaded(calculator, download=self._wanted.download)
            self._scorer = self._opened.enter_context(opening)
        try:
            found = self._scorer(pairs)
        except Exception as error:
            # what was opened says in words what the package failed on
            self._opened.__exit__(type(error), error, error.__traceback__)
            raise
        if any(len(values) != len(pairs) for values in found.values()):
            raise MetricsError(
                f"{calculator.distribution} gave another number of values than there are reports: "
                "nothing is kept."
            )
        return list(zip(*(found[name] for name in calculator.makes), strict=True))


if __name__ == "__main__":
    seconds, _ = sys.argv[1:]
    serve(begin, int(seconds), "behind")

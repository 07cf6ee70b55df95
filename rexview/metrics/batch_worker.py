"""Program of a worker that computes one metric of pairs of reports.

The input is a batch of pairs. The output is the values, one list for each name of a metric, or the
reason why there are none.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # run by its path: find rexview

from rexview.child_process import serve_requests
from rexview.errors import MetricsError
from rexview.harm import HarmTable
from rexview.metrics.answer_metrics import compute_own_value
from rexview.metrics.external.calculators import CALCULATORS, load_scorer
from rexview.metrics.external.calls import Scorer
from rexview.metrics.reference_pairs import ReportPair
from rexview.metrics.worker import metrics_version
from rexview.spread.workers import RefusedAnswer

Row = tuple[float | None, ...]
"""The values of one pair, in the order of the metric's names."""


class Wanted(NamedTuple):
    """The metric to compute: one of ours, or that of a calculator."""

    metric: str
    harm: HarmTable | None = None
    download: bool = False


def makes(metric: str) -> tuple[str, ...]:
    """Return the names of the metrics that it yields."""
    return CALCULATORS[metric].makes if metric in CALCULATORS else (metric,)


def version_of(metric: str) -> tuple[str, str | None]:
    """Return the version of the code that computes it: ours, and the package's."""
    package = CALCULATORS[metric].version if metric in CALCULATORS else None
    return metrics_version(), package


def begin(
    wanted: Wanted,
) -> tuple[tuple[str, str | None], Callable[[Sequence[ReportPair]], list[Row] | RefusedAnswer]]:
    """Return the version of the code, and a function that computes the values of batches."""
    answer = _External(wanted) if wanted.metric in CALCULATORS else _own(wanted)
    return version_of(wanted.metric), answer


def _own(wanted: Wanted) -> Callable[[Sequence[ReportPair]], list[Row] | RefusedAnswer]:
    harm = wanted.harm
    assert harm is not None
    return lambda pairs: [(compute_own_value(wanted.metric, pair, harm),) for pair in pairs]


class _External:
    """Computes a package's metric, which is loaded with the first batch."""

    def __init__(self, wanted: Wanted) -> None:
        self._wanted = wanted
        self._opened = ExitStack()
        self._scorer: Scorer | None = None

    def __call__(self, pairs: Sequence[ReportPair]) -> list[Row] | RefusedAnswer:
        try:
            return self._scored(pairs)
        except MetricsError as refusal:
            self._scorer = None
            return RefusedAnswer(str(refusal))

    def _scored(self, pairs: Sequence[ReportPair]) -> list[Row] | RefusedAnswer:
        calculator = CALCULATORS[self._wanted.metric]
        if self._scorer is None:
            opening = load_scorer(calculator, download=self._wanted.download)
            self._scorer = self._opened.enter_context(opening)
        try:
            found = self._scorer(pairs)
        except Exception as error:
            # the context manager explains the package's failure
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
    serve_requests(begin, int(seconds), "behind")

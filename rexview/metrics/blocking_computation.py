"""Compute metrics of a set's generated reports while the caller waits."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Final

from rexview.child_process import ProcessUnusable
from rexview.errors import ClusterError, MetricsError, MetricsRefused
from rexview.harm import HarmTable
from rexview.metrics import answer_metrics, batch_worker, finding_agreement
from rexview.metrics.answer_metrics import IMPLEMENTATION, compute_own_value
from rexview.metrics.batch_worker import Wanted, makes, version_of
from rexview.metrics.external.calculators import (
    CALCULATORS,
    Calculator,
    compute_model_values,
    find_calculator,
    load_scorer,
)
from rexview.metrics.external.calls import Scorer
from rexview.metrics.fineradscore import METRIC as FINERADSCORE
from rexview.metrics.identity import COMPUTED_HERE, MetricId
from rexview.metrics.kept_values import MetricValues
from rexview.metrics.reference_pairs import ComparedPairs, ReportPair
from rexview.spread.workers import (
    RefusedAnswer,
    WorkerJob,
    WorkerProvider,
    answer_batches,
    open_worker_pool,
)

# Metrics computed by the workers of a cluster, with the same values as on this machine.

Show = Callable[[int, int], None]
SpreadScorer = Callable[[Sequence[ReportPair], Show | None], Mapping[str, Sequence[float | None]]]
_AT_A_TIME: Final = 50
_LOG: Final = logging.getLogger(__name__)


@contextmanager
def spread_scorer(
    spread: WorkerProvider, metric: str, harm: HarmTable | None = None, *, download: bool = False
) -> Iterator[SpreadScorer]:
    """Return a function that scores pairs on all workers, in batches.

    Pairs that must be scored together are in one batch. A report that kills two workers has no
    value; in a batch scored together, all or none have values.

    Raises
    ------
    MetricsError, ClusterError
        Also raised by the returned function.
    """
    external = metric in CALCULATORS
    together = external and CALCULATORS[metric].together
    job = WorkerJob(
        batch_worker.begin,
        Wanted(metric, harm, download),
        lambda: version_of(metric),
        "works out metrics of reports",
        holds_model=external,
    )
    with open_worker_pool(spread, job) as workers:

        def score(
            pairs: Sequence[ReportPair], show: Show | None = None
        ) -> Mapping[str, Sequence[float | None]]:
            size = max(1, len(pairs)) if together else _AT_A_TIME
            batches = (pairs[start : start + size] for start in range(0, len(pairs), size))
            names = makes(metric)
            found: dict[str, list[float | None]] = {name: [] for name in names}
            done = 0
            try:
                for rows in answer_batches(workers, batches, _tell_died, may_part=not together):
                    if isinstance(rows, RefusedAnswer):
                        raise MetricsError(rows.message)
                    for row in rows:
                        for place, name in enumerate(names):
                            found[name].append(None if row is None else row[place])
                    done += len(rows)
                    if show:
                        show(done, len(pairs))
            except ProcessUnusable as error:
                raise ClusterError(str(error)) from None
            return found

        yield score


def _tell_died() -> None:
    _LOG.warning("Two workers died over one report: it has no value.")


NAMES: Final = (*COMPUTED_HERE, *CALCULATORS, FINERADSCORE)
"""Names of all metrics that a user can request."""
_VERSIONS: Final = {
    "bleu_2": answer_metrics.VERSION,
    "finding_agreement": finding_agreement.VERSION,
}


def find_metric(name: str) -> str | Calculator:
    """Return one of our metrics, or the calculator of another package, by its name.

    Raises
    ------
    MetricsRefused
        If there is no metric with that name.
    """
    if name in COMPUTED_HERE or name == FINERADSCORE:
        return name
    calculator = find_calculator(name)
    if calculator is None:
        raise MetricsRefused(f"There is no metric {name[:60]}. There are {', '.join(NAMES)}.")
    return calculator


def compute_own_values(
    metric: str,
    compared: ComparedPairs,
    harm: HarmTable,
    scope: str,
    show: Show | None = None,
    spread: WorkerProvider | None = None,
) -> MetricValues:
    """Compute one of our metrics, here or on the workers of ``spread``.

    The values are kept under ``scope``.

    Raises
    ------
    ClusterError
    """
    pairs = list(compared)
    found: list[float | None] = []
    if spread is None:
        for done, pair in enumerate(pairs, 1):
            found.append(compute_own_value(metric, pair, harm))
            if show:
                show(done, len(pairs))
    else:
        with spread_scorer(spread, metric, harm) as score:
            found += score(pairs, show)[metric]
    values = tuple(
        (pair.case.id, pair.answer.model, value)
        for pair, value in zip(pairs, found, strict=True)
        if value is not None
    )
    identity = MetricId(metric, IMPLEMENTATION, _VERSIONS[metric], scope)
    return MetricValues(identity, values, None, len(pairs) - len(values))


def compute_external_values(
    calculator: Calculator,
    compared: Sequence[tuple[ComparedPairs, str]],
    *,
    download: bool,
    spread: WorkerProvider | None = None,
) -> list[MetricValues]:
    """Compute a package's metrics, model by model, here or on the workers of ``spread``.

    Parameters
    ----------
    compared
        Pairs, each with the scope under which the values are kept.

    Raises
    ------
    MetricsError
        If the package is not installed, or fails.
    ClusterError
    """
    with _scorer(calculator, download, spread) as scorer:
        return [
            found
            for one, scope in compared
            for pairs in one.pairs.values()
            if pairs
            for found in compute_model_values(calculator, scorer, pairs, scope)
        ]


@contextmanager
def _scorer(
    calculator: Calculator, download: bool, spread: WorkerProvider | None
) -> Iterator[Scorer]:
    if spread is None:
        with load_scorer(calculator, download=download) as scorer:
            yield scorer
    else:
        with spread_scorer(spread, calculator.name, download=download) as score:
            yield lambda pairs: score(pairs, None)

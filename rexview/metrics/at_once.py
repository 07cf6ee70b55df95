"""Metrics of the generated reports of a set, worked out while somebody waits for them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Final

from rexview.errors import MetricsRefused
from rexview.harm import HarmTable
from rexview.metrics import bleu
from rexview.metrics.external.calculators import (
    CALCULATORS,
    Calculator,
    calculator_of,
    loaded,
    values_of,
)
from rexview.metrics.external.calls import Scorer
from rexview.metrics.finding_agreement import agreement
from rexview.metrics.fineradscore.results import METRIC as FINERADSCORE
from rexview.metrics.identity import MetricId
from rexview.metrics.kept_values import Found
from rexview.metrics.known import COMPUTED_HERE
from rexview.metrics.of_answer import IMPLEMENTATION, own_value
from rexview.metrics.pairs import Compared
from rexview.metrics.spread_out import spread_scorer
from rexview.spread.workers import Spread

NAMES: Final = (*COMPUTED_HERE, *CALCULATORS, FINERADSCORE)
"""What can be asked for."""
_VERSIONS: Final = {"bleu_2": bleu.VERSION, "finding_agreement": agreement.VERSION}
Show = Callable[[int, int], None]


def named(name: str) -> str | Calculator:
    """Return what a name stands for: a metric of ours, or what another package computes.

    Raises
    ------
    MetricsRefused
        Nothing has that name.
    """
    if name in COMPUTED_HERE or name == FINERADSCORE:
        return name
    calculator = calculator_of(name)
    if calculator is None:
        raise MetricsRefused(f"There is no metric {name[:60]}. There are {', '.join(NAMES)}.")
    return calculator


def own_values(
    metric: str,
    compared: Compared,
    harm: HarmTable,
    scope: str,
    show: Show | None = None,
    spread: Spread | None = None,
) -> Found:
    """Work out a metric of ours, here or on the workers of ``spread``.

    ``scope`` is what the values are kept under.

    Raises
    ------
    ClusterError
    """
    pairs = list(compared)
    found: list[float | None] = []
    if spread is None:
        for done, pair in enumerate(pairs, 1):
            found.append(own_value(metric, pair, harm))
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
    return Found(identity, values, None, len(pairs) - len(values))


def external_values(
    calculator: Calculator,
    compared: Sequence[tuple[Compared, str]],
    *,
    download: bool,
    spread: Spread | None = None,
) -> list[Found]:
    """Let a package compute its metrics, model by model, here or on the workers of ``spread``.

    Parameters
    ----------
    compared
        What is compared, and the scope that the values are kept under.

    Raises
    ------
    MetricsError
        The package is not there, or fails.
    ClusterError
    """
    with _scorer(calculator, download, spread) as scorer:
        return [
            found
            for one, scope in compared
            for pairs in one.pairs.values()
            if pairs
            for found in values_of(calculator, scorer, pairs, scope)
        ]


@contextmanager
def _scorer(calculator: Calculator, download: bool, spread: Spread | None) -> Iterator[Scorer]:
    if spread is None:
        with loaded(calculator, download=download) as scorer:
            yield scorer
    else:
        with spread_scorer(spread, calculator.name, download=download) as score:
            yield lambda pairs: score(pairs, None)

"""Metrics of the generated reports of a set, worked out while somebody waits for them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
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
from rexview.metrics.finding_agreement import agreement
from rexview.metrics.fineradscore.results import METRIC as FINERADSCORE
from rexview.metrics.identity import MetricId
from rexview.metrics.kept_values import Found
from rexview.metrics.known import COMPUTED_HERE
from rexview.metrics.of_answer import IMPLEMENTATION, agreement_of, bleu_2_of
from rexview.metrics.pairs import Compared, ReportPair

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
    metric: str, compared: Compared, harm: HarmTable, scope: str, show: Show | None = None
) -> Found:
    """Work out a metric of ours; ``scope`` is what the values are kept under."""
    values, without = [], 0
    pairs = list(compared)
    for done, pair in enumerate(pairs, 1):
        value = _own(metric, pair, harm)
        if value is None:
            without += 1
        else:
            values.append((pair.case.id, pair.answer.model, value))
        if show:
            show(done, len(pairs))
    identity = MetricId(metric, IMPLEMENTATION, _VERSIONS[metric], scope)
    return Found(identity, tuple(values), None, without)


def _own(metric: str, pair: ReportPair, harm: HarmTable) -> float | None:
    if metric == "bleu_2":
        return bleu_2_of(pair.case, pair.answer, pair.scope)
    found = agreement_of(pair.case, pair.answer, harm, pair.scope)
    return found.score if found else None


def external_values(
    calculator: Calculator, compared: Sequence[tuple[Compared, str]], *, download: bool
) -> list[Found]:
    """Let a package compute its metrics, model by model.

    Parameters
    ----------
    compared
        What is compared, and the scope that the values are kept under.

    Raises
    ------
    MetricsError
        The package is not there, or fails.
    """
    with loaded(calculator, download=download) as scorer:
        return [
            found
            for one, scope in compared
            for pairs in one.pairs.values()
            if pairs
            for found in values_of(calculator, scorer, pairs, scope)
        ]

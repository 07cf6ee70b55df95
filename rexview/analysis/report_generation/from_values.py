"""What follows from the values of metrics that a filter leaves, wherever these were kept."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from rexview.analysis.report_generation.engine import MetricTally
from rexview.metrics.identity import MetricId
from rexview.metrics.known import known_metric
from rexview.stats.bootstrap import Floats
from rexview.stats.generated_reports.correlation import Correlation, correlations, places_apart
from rexview.stats.generated_reports.spread import Spread, spread
from rexview.stats.generated_reports.values import ReportValues


def metric_tally_of(values: ReportValues, metrics: Sequence[MetricId]) -> MetricTally:
    """Sum the values of some metrics by patient, for the models that have any of them."""
    met = {model for one in metrics for model in values.of(one).models_met()}
    models = tuple(model for model in values.models if model in met)
    return MetricTally(tuple(metrics), models, values.by_patient(metrics, models))


def spreads_of(
    values: ReportValues, metrics: Sequence[MetricId]
) -> dict[tuple[MetricId, str], Spread]:
    """Say how the values of some metrics spread, by metric and model that has any."""
    found = {}
    for one in metrics:
        for model in values.of(one).models_met():
            if summary := spread(values.of(one, model).value):
                found[one, model] = summary
    return found


def correlations_of(
    values: ReportValues, metrics: Sequence[MetricId], coefficient: str
) -> tuple[Correlation, ...]:
    """Correlate every two of some metrics over answers, higher being better in all."""
    given, _, patients = values.matrix(metrics)
    return correlations(given * _directions(metrics), patients, coefficient)


def furthest_apart(
    values: ReportValues, pair: tuple[MetricId, MetricId], most: int
) -> tuple[NDArray[np.int64], Floats]:
    """Find the answers that two metrics put furthest apart, the furthest first.

    Returns
    -------
    numbers : numpy.ndarray
        The answers' numbers, shape (n,), ``most`` at most.
    said : numpy.ndarray
        Shape (n, 4): both values, and both places from 0, the worst, to 1, the best.
    """
    given, numbers, _ = values.matrix(pair)
    places = places_apart(given * _directions(pair))
    apart = np.nan_to_num(np.abs(places[:, 2]), nan=-1.0)
    furthest = np.argsort(-apart, kind="stable")[:most]
    furthest = furthest[apart[furthest] > 0]
    return numbers[furthest], np.concatenate([given[furthest], places[furthest, :2]], axis=1)


def _directions(metrics: Sequence[MetricId]) -> Floats:
    """Return -1 for each metric of which lower is better, 1 for the others."""
    lower = [known_metric(one.metric).higher_is_better is False for one in metrics]
    return np.where(lower, -1.0, 1.0)

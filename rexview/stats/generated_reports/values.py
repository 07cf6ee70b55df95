"""The metric values of a set's newest answers, as arrays that are counted from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from rexview.schema import ReviewSet
from rexview.stats.bootstrap import Floats
from rexview.stats.failure_rates import clusters_of
from rexview.stats.generated_reports.metric_means import PatientSums, sum_by_patient

IDENTITY: Final = ("metric", "implementation", "version", "scope")
"""Columns of the metrics that together say what a value is of."""
Identity = tuple[str, str | None, str | None, str | None]
"""Metric, implementation, version and scope; the last three None where they are not said."""


@dataclass(frozen=True, eq=False)
class ReportValues:
    """Values of metrics, one each of shape (n,).

    Attributes
    ----------
    metrics : tuple of Identity
        All that have a value anywhere in the set, in the order of the file.
    models : tuple of str
        Ids of the set's models, in its order.
    number : numpy.ndarray
        Number of the answer (:class:`rexview.frames.AnswerRows`).
    metric, model : numpy.ndarray
        Places in ``metrics`` and ``models``.
    patient : numpy.ndarray
        Number of the patient, else the study, else the case.
    value : numpy.ndarray
        Finite, as given.
    together : numpy.ndarray
        On how many answers it was computed together, 0 where that is not said.
    """

    metrics: tuple[Identity, ...]
    models: tuple[str, ...]
    number: NDArray[np.int64]
    metric: NDArray[np.int64]
    model: NDArray[np.int64]
    patient: NDArray[np.int64]
    value: Floats
    together: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.value)

    def only(self, left: NDArray[np.bool_]) -> ReportValues:
        """Return the values chosen by a mask of shape (n,)."""
        if left.all():
            return self
        arrays = ("number", "metric", "model", "patient", "value", "together")
        return ReportValues(
            self.metrics, self.models, **{name: getattr(self, name)[left] for name in arrays}
        )

    def of_answers(self, answers: NDArray[np.bool_]) -> ReportValues:
        """Return the values of some answers, by a mask over their numbers."""
        return self.only(answers[self.number])

    def met(self) -> tuple[Identity, ...]:
        """Return the metrics of which there is a value."""
        counts = np.bincount(self.metric, minlength=len(self.metrics))
        return tuple(one for one, n in zip(self.metrics, counts, strict=True) if n)

    def models_met(self) -> tuple[str, ...]:
        """Return the models that have a value of any metric."""
        counts = np.bincount(self.model, minlength=len(self.models))
        return tuple(one for one, n in zip(self.models, counts, strict=True) if n)

    def by_patient(self, metrics: Sequence[Identity], models: Sequence[str]) -> PatientSums:
        """Sum the values by patient; column ``i * len(models) + j`` is metric i of model j."""
        places = np.full(len(self.metrics), -1)
        for place, one in enumerate(metrics):
            places[self.metrics.index(one)] = place
        of_model = np.full(len(self.models), -1)
        for place, name in enumerate(models):
            of_model[self.models.index(name)] = place
        metric, model = places[self.metric], of_model[self.model]
        left = (metric >= 0) & (model >= 0)
        columns = metric[left] * len(models) + model[left]
        size = len(metrics) * len(models)
        return sum_by_patient(self.value[left], columns, self.patient[left], size)

    def of(self, metric: Identity, model: str | None = None) -> ReportValues:
        """Return the values of one metric, perhaps of one model only."""
        left = self.metric == self.metrics.index(metric)
        if model is not None:
            left &= self.model == self.models.index(model)
        return self.only(left)

    def matrix(
        self, metrics: Sequence[Identity]
    ) -> tuple[Floats, NDArray[np.int64], NDArray[np.int64]]:
        """Lay the values out by answer.

        Returns
        -------
        values, numbers, patients : numpy.ndarray
            Shape (answers, metrics), nan where there is none; number and patient of each answer.
        """
        numbers, rows = np.unique(self.number, return_inverse=True)
        values = np.full((len(numbers), len(metrics)), np.nan)
        for column, one in enumerate(metrics):
            own = self.metric == self.metrics.index(one)
            values[rows[own], column] = self.value[own]
        patients = np.zeros(len(numbers), dtype=np.int64)
        patients[rows] = self.patient
        return values, numbers, patients


def report_values(review_set: ReviewSet, patients: NDArray[Any] | None = None) -> ReportValues:
    """Return the values of the newest answers of a set; those of other answers are left out.

    ``patients`` are the numbers of the patients by row of the cases, where they are known already.
    """
    given = review_set.metrics.filter(pl.col("value").is_finite())
    numbers = review_set.numbers_of(given.select("case", "model"))
    given, numbers = given.filter(pl.Series(numbers >= 0)), numbers[numbers >= 0]
    named = given.select(IDENTITY).unique(maintain_order=True).with_row_index("_metric")
    metric = given.join(named, on=IDENTITY, how="left", nulls_equal=True, maintain_order="left")[
        "_metric"
    ]
    if patients is None:
        patients = clusters_of(review_set.cases)["cluster"].to_numpy()
    newest = review_set.newest
    return ReportValues(
        metrics=tuple(named.select(IDENTITY).iter_rows()),
        models=tuple(model.id for model in review_set.models),
        number=numbers,
        metric=metric.cast(pl.Int64).to_numpy(),
        model=newest.model[numbers].astype(np.int64),
        patient=np.asarray(patients[newest.case[numbers]], dtype=np.int64),
        value=given["value"].to_numpy(),
        together=given["n"].fill_null(0).to_numpy(),
    )

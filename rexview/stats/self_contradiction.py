"""Self-contradictions of a model whose run asks the same question several times.

Definitions (docs: statistics):

- **side**: n is the number of newest answers whose run asked more than once. An answer contradicts
  itself if one repeat says right and another left of the same finding.
- **choice**: n is the number of answers with at least two repeats that chose an option. An answer
  contradicts itself if they chose different ones. A repeat without a usable choice contradicts
  nothing; answers with such a repeat are counted separately.
- The interval is that of every share here (:func:`rexview.stats.failure_rates.measure_rate`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt
import polars as pl

from rexview.schema import ReviewSet
from rexview.stats.bootstrap import RESAMPLES
from rexview.stats.failure_rates import PatientTally, find_clusters, measure_rate, tally_patients
from rexview.words import tr

NOTHING_REPEATED: Final = tr("Nothing was asked more than once.")
NO_CHOICES: Final = tr("No question has two answers with a usable choice.")


@dataclass(frozen=True, eq=False)
class RepeatTally:
    """The answers of one model that its run requested more than once, by patient.

    In ``side`` and ``choice`` a contradiction is a point; ``unusable`` answers have a repeat
    without a usable choice.
    """

    model: str
    side: PatientTally
    choice: PatientTally
    unusable: int


@dataclass(frozen=True)
class SelfContradiction:
    """The share of one model's answers that contradict themselves in ``what``: side or choice.

    ``interval`` is the method of ``low`` and ``high``, over ``patients`` patients (else studies,
    else cases). ``no_choice`` is None for sides.
    """

    model: str
    what: str
    n: int
    contradicting: int
    share: float | None
    low: float | None
    high: float | None
    interval: str | None
    patients: int
    no_choice: int | None
    why: str | None


def count_repeats(
    again: pl.DataFrame,
    models: npt.NDArray[np.integer],
    patients: npt.NDArray[np.int64],
    names: Sequence[str],
) -> tuple[RepeatTally, ...]:
    """Count the answers asked again, for each model that has any, in the order of ``names``.

    ``again`` has the columns ``side``, ``choice``, ``is_choice``, ``usable`` and ``times`` of
    :data:`.REPEAT_COLUMNS`. ``models`` (indices into ``names``) and
    ``patients`` (their numbers) have shape (n,), one for each row.
    """
    side, choice = again["side"].to_numpy(), again["choice"].to_numpy()
    chose = (again["usable"] > 1).to_numpy()
    unusable = (again["is_choice"] & (again["usable"] < again["times"])).to_numpy()
    found = []
    for place in np.unique(models).tolist():
        own = models == place
        found.append(
            RepeatTally(
                names[place],
                tally_patients(side[own].astype(np.int64), patients[own]),
                tally_patients(choice[own & chose].astype(np.int64), patients[own & chose]),
                int(unusable[own].sum()),
            )
        )
    return tuple(found)


def measure_contradictions(
    tallies: Iterable[RepeatTally], *, resamples: int = RESAMPLES
) -> tuple[SelfContradiction, ...]:
    """Return the shares: sides of every model, choices of models with choice questions."""
    rows = []
    for tally in tallies:
        kinds: list[tuple[str, PatientTally, int | None, str]]
        kinds = [("side", tally.side, None, NOTHING_REPEATED)]
        if tally.choice.n or tally.unusable:
            kinds.append(("choice", tally.choice, tally.unusable, NO_CHOICES))
        for what, counted, unusable, nothing in kinds:
            share = measure_rate(counted, resamples=resamples)
            rows.append(
                SelfContradiction(
                    tally.model,
                    what,
                    n=share.n,
                    contradicting=share.flagged,
                    share=share.share,
                    low=share.interval.low,
                    high=share.interval.high,
                    interval=share.method,
                    patients=share.clusters,
                    no_choice=unusable,
                    why=share.interval.why if share.n else nothing,
                )
            )
    return tuple(rows)


def measure_set_contradictions(
    review_set: ReviewSet, again: pl.DataFrame, *, resamples: int = RESAMPLES
) -> tuple[SelfContradiction, ...]:
    """Return the shares of a whole set; ``again`` has the detectors' comparison of repeats."""
    number, newest = again["number"].to_numpy(), review_set.newest
    patients = find_clusters(review_set.cases)["cluster"].to_numpy()[newest.case[number]]
    names = [model.id for model in review_set.models]
    tallies = count_repeats(again, newest.model[number], patients, names)
    return measure_contradictions(tallies, resamples=resamples)

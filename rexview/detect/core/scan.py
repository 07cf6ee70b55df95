"""The scan: what all detectors say of the newest answers of a review set, by number.

Every answer is looked at as though nobody had scored it, which depends on the files alone. What
scores add is worked out from columns (:mod:`rexview.detect.core.score_flags`), so that new scores
cost no reading of texts. Their messages and evidence are made of the cases that somebody asks for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Final, Protocol

import numpy as np
import numpy.typing as npt
import polars as pl

from rexview.detect.core.batch import Batch, Numbers, batch_of, batches
from rexview.detect.core.detector import Detector
from rexview.detect.core.finding_index import FindingIndex
from rexview.detect.core.gathered import Found, Gatherer, ToldInMemory
from rexview.detect.core.looking import (
    NOT_JUDGED,
    NOT_YET,
    TOLD_FLAGS,
    Looked,
    evidence_from,
    look,
)
from rexview.detect.core.score_flags import ScoreFlags, score_flags
from rexview.schema import Flag, ReviewSet

_CASES_KEPT: Final = 16


class Asked(Protocol):
    """Looks at cases that somebody has open, elsewhere."""

    def looked(self, first: int, stop: int) -> Looked | None:
        """Return what was found of the cases in some rows; None while that is not there."""
        ...


@dataclass(frozen=True, eq=False)
class Scan:
    """What detectors say of the answers of one state of a review set; readers are not asked.

    Everything is by the numbers of ``review_set.newest``.

    Attributes
    ----------
    detectors : tuple of Detector
    review_set : ReviewSet
    found : Found
        What they say without scores.
    asked : Asked or None
        Who looks at cases that nobody has looked at when somebody opens one; None for this process.
    """

    detectors: tuple[Detector, ...]
    review_set: ReviewSet
    found: Found
    asked: Asked | None = None

    @cached_property
    def by_scores(self) -> ScoreFlags:
        """What readers' scores add."""
        return score_flags(self.review_set, self.found, self.detectors)

    @property
    def index(self) -> FindingIndex:
        """Which findings the texts mention that were looked at."""
        return self.found.index

    @property
    def state(self) -> npt.NDArray[np.uint8]:
        """Of each answer: 0 not looked at yet, 1 looked at, 2 not judged."""
        return self.found.state

    @cached_property
    def judged(self) -> npt.NDArray[np.uint32]:
        """Of each answer, bit ``n`` where the detector at position ``n`` could judge it."""
        if not len(self.by_scores.numbers):
            return self.found.judged
        judged = self.found.judged.copy()
        judged[self.by_scores.numbers] |= self.by_scores.judged
        return judged

    @cached_property
    def flags(self) -> pl.DataFrame:
        """All flags: ``answer`` (UInt32), ``failure`` (Enum), ``kind``, ``finding``."""
        if self.by_scores.flags.is_empty():
            return self.found.flags
        return pl.concat([self.found.flags, self.by_scores.flags])

    @property
    def is_complete(self) -> bool:
        """Whether every answer was looked at, or could not be."""
        return bool(self.found.state.all())

    def flags_of_case(self, case_row: int) -> dict[int, list[Flag]]:
        """Return the flags on the answers to a case with their evidence, by number.

        In the order of the detectors. From the disk or memory where they are kept there, else the
        case is looked at now: one that nobody has looked at yet, too. Where others do that, it may
        not be there yet (:meth:`not_yet_of_case`).
        """
        return self.flags_of_cases(case_row, case_row + 1)

    def flags_of_cases(self, first: int, stop: int) -> dict[int, list[Flag]]:
        """Return the flags of the cases in some rows, from ``first`` to ``stop``."""
        rows = self.told(first, stop)
        if rows.is_empty():
            return {}
        newest, cases = self.review_set.newest, self.review_set.cases["id"]
        models = [model.id for model in self.review_set.models]
        places = {one.failure: place for place, one in enumerate(self.detectors)}
        place = rows["failure"].cast(pl.String).replace_strict(places, return_dtype=pl.Int64())
        flags: dict[int, list[Flag]] = {}
        for number, failure, kind, message, evidence in (
            rows.with_columns(_place=place)
            .sort("answer", "_place", maintain_order=True)
            .select("answer", "failure", "kind", "message", "evidence")
            .iter_rows()
        ):
            case, model = cases[int(newest.case[number])], models[newest.model[number]]
            flags.setdefault(number, []).append(
                Flag(case, model, failure, "detector", message, kind, evidence_from(evidence))
            )
        return flags

    def told(self, first: int, stop: int) -> pl.DataFrame:
        """Return the flags of the cases in some rows with what is told of them, ``TOLD_FLAGS``."""
        return pl.concat([self.told_without_scores(first, stop), self._told_by_scores(first, stop)])

    def told_without_scores(self, first: int, stop: int) -> pl.DataFrame:
        """Return those of :meth:`told` that the files alone give."""
        low, high = self._numbers(first, stop)
        if not self.found.state[low:high].all():
            looked = self._now(first, stop)
            return TOLD_FLAGS.to_frame() if looked is None else looked.flags
        flagged = self.found.flags.filter(pl.col("answer").is_between(low, high, closed="left"))
        if flagged.is_empty():
            return TOLD_FLAGS.to_frame()
        told = self.found.told.of(low, high) if self.found.told else None
        if told is None or len(told) != len(flagged):  # gone, or another process wrote there
            answers = flagged["answer"].unique().sort().to_numpy()
            told = look(self._batch_of(answers), self.detectors, index=False).flags
        return told

    def _numbers(self, first: int, stop: int) -> tuple[int, int]:
        """Return the first number of the answers to the cases in some rows, and that after them."""
        starts = self.review_set.newest.starts
        return int(starts[first]), int(starts[stop])

    def _told_by_scores(self, first: int, stop: int) -> pl.DataFrame:
        """Return those of :meth:`told` that readers' scores give."""
        low, high = self._numbers(first, stop)
        flags = self.by_scores.flags.filter(pl.col("answer").is_between(low, high, closed="left"))
        if flags.is_empty():
            return TOLD_FLAGS.to_frame()
        failures = set(flags["failure"].cast(pl.String))
        positions = [n for n, one in enumerate(self.detectors) if one.failure in failures]
        answers = flags["answer"].unique().sort().to_numpy()
        batch = self._batch_of(answers, with_scores=True)
        told = look(batch, self.detectors, positions, index=False).flags
        return told.join(flags, on=["answer", "failure", "kind"], how="semi", maintain_order="left")

    def _batch_of(self, answers: Numbers, *, with_scores: bool = False) -> Batch:
        """Gather the cases of some answers, which are to be looked at."""
        case_rows = np.unique(self.review_set.newest.case[answers]).astype(np.int64)
        return batch_of(self.review_set, case_rows, answers, with_scores=with_scores)

    def not_judged_of_case(self, case_row: int) -> frozenset[int]:
        """Return the numbers of the answers to a case that could not be judged."""
        return self._with_state(case_row, NOT_JUDGED)

    def not_yet_of_case(self, case_row: int) -> frozenset[int]:
        """Return the numbers of the answers to a case that are still to be looked at."""
        return self._with_state(case_row, NOT_YET)

    def _with_state(self, case_row: int, wanted: int) -> frozenset[int]:
        numbers = self.review_set.newest.of_case(case_row)
        state = self.state[numbers.start : numbers.stop].copy()
        if not state.all() and (looked := self._now(case_row, case_row + 1)) is not None:
            known = looked.numbers.astype(np.int64) - numbers.start
            state[known] = np.maximum(state[known], looked.state)
        return frozenset(np.array(numbers)[state == wanted].tolist())

    def _now(self, first: int, stop: int) -> Looked | None:
        """Look at all answers to some cases that nobody has looked at yet."""
        return self.asked.looked(first, stop) if self.asked else self._here(first, stop)

    @cached_property
    def _here(self) -> Callable[[int, int], Looked]:
        """Looks in this process; keeps the latest."""
        return lru_cache(maxsize=_CASES_KEPT)(
            lambda first, stop: look(
                batch_of(self.review_set, np.arange(first, stop)), self.detectors, index=False
            )
        )


def unscanned(review_set: ReviewSet, detectors: Sequence[Detector]) -> Scan:
    """Return the scan of a review set before anything was looked at."""
    none = Gatherer(len(review_set.newest), len(review_set.cases)).found()
    return Scan(tuple(detectors), review_set, none)


def scan(review_set: ReviewSet, detectors: Sequence[Detector], before: Scan | None = None) -> Scan:
    """Let all detectors go through all newest answers, now and in this process.

    ``before`` is the scan of the same files with other scores: what does not depend on scores is
    taken from it, and the outcome is the same.
    """
    detectors = tuple(detectors)
    if before is not None and before.detectors == detectors:
        return rescored(before, review_set)
    gatherer = Gatherer(len(review_set.newest), len(review_set.cases))
    told = [gatherer.add(look(batch, detectors)).flags for batch in batches(review_set)]
    return Scan(detectors, review_set, gatherer.found(ToldInMemory(told)))


def rescored(before: Scan, review_set: ReviewSet) -> Scan:
    """Return the scan of the same files with other scores; it may be incomplete."""
    return replace(before, review_set=review_set)

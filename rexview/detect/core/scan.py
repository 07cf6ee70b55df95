"""The scan: what all detectors say of the newest answers of a review set, by number.

First every answer is looked at as though nobody had scored it, which depends on the files alone.
Then the detectors that read scores look at the answers that were scored; their word replaces the
first. When only scores have changed, they look again at those answers and at no other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Final, Protocol

import numpy as np
import numpy.typing as npt
import polars as pl

from rexview.detect.core.batch import answers_of_cases, batch_of, batches
from rexview.detect.core.detector import Detector
from rexview.detect.core.finding_index import FindingIndex
from rexview.detect.core.gathered import Found, Gatherer, ToldInMemory
from rexview.detect.core.looking import (
    FLAGS,
    NOT_JUDGED,
    NOT_YET,
    Looked,
    evidence_from,
    in_order,
    left_out,
    look,
)
from rexview.schema import Flag, ReviewSet

_SCORE: Final = ("case", "model", "reader", "dimension", "image", "score", "comment")
_CASES_AT_A_TIME: Final = 1_000
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
    scored : Looked
        What those that read scores say of scored answers, in order.
    asked : Asked or None
        Who looks at cases that nobody has looked at when somebody opens one; None for this process.
    """

    detectors: tuple[Detector, ...]
    review_set: ReviewSet
    found: Found
    scored: Looked
    asked: Asked | None = None

    @property
    def scores(self) -> pl.DataFrame:
        """The scores of that state."""
        return self.review_set.scores

    @property
    def index(self) -> FindingIndex:
        """Which findings the texts mention that were looked at."""
        return self.found.index

    @cached_property
    def state(self) -> npt.NDArray[np.uint8]:
        """Of each answer: 0 not looked at yet, 1 looked at, 2 not judged."""
        failed = self.scored.numbers[self.scored.state == NOT_JUDGED]
        if not len(failed):
            return self.found.state
        state = self.found.state.copy()
        state[failed] = NOT_JUDGED
        return state

    @cached_property
    def judged(self) -> npt.NDArray[np.uint32]:
        """Of each answer, bit ``n`` where the detector at position ``n`` could judge it."""
        if not len(self.scored.numbers):
            return self.found.judged
        others = sum(1 << n for n, one in enumerate(self.detectors) if not one.reads_scores)
        judged = self.found.judged.copy()
        kept = judged[self.scored.numbers] & np.uint32(others)
        judged[self.scored.numbers] = kept | self.scored.judged
        return judged

    @cached_property
    def flags(self) -> pl.DataFrame:
        """All flags: ``answer`` (UInt32), ``failure`` (Enum), ``kind``, ``finding``."""
        if not len(self.scored.numbers):
            return self.found.flags
        return pl.concat(
            [self._not_replaced(self.found.flags), self.scored.flags.select(FLAGS.names())]
        )

    @property
    def is_complete(self) -> bool:
        """Whether every answer was looked at, or could not be."""
        return bool(self.found.state.all())

    def _not_replaced(self, flags: pl.DataFrame) -> pl.DataFrame:
        """Leave out what is said anew of scored answers."""
        if not len(self.scored.numbers) or flags.is_empty():
            return flags
        scored = np.zeros(len(self.found.state), dtype=np.bool_)
        scored[self.scored.numbers] = True
        reading = [one.failure for one in self.detectors if one.reads_scores]
        again = pl.Series(scored[flags["answer"].to_numpy()]) & flags["failure"].is_in(reading)
        return flags.filter(~again)

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
        starts = self.review_set.newest.starts
        low, high = int(starts[first]), int(starts[stop])
        inside = pl.col("answer").is_between(low, high, closed="left")
        scored = self.scored.flags.filter(inside)
        if not self.found.state[low:high].all():
            looked = self._now(first, stop)
            if looked is None:
                return scored
            return pl.concat([self._not_replaced(looked.flags), scored])
        flagged = self.found.flags.filter(inside)
        known = self._not_replaced(flagged)
        if known.is_empty():
            return scored
        told = self.found.told.of(low, high) if self.found.told else None
        if told is None or len(told) != len(flagged):  # gone, or another process wrote there
            told = self._look_again(
                np.arange(first, stop, dtype=np.int64), known["answer"].unique()
            )
        return pl.concat([self._not_replaced(told), scored])

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

    def _look_again(self, case_rows: npt.NDArray[np.int64], answers: pl.Series) -> pl.DataFrame:
        """Look at answers that have flags, which no process died over."""
        batch = batch_of(self.review_set, case_rows, answers.to_numpy())
        return look(batch, self.detectors, index=False).flags


def unscanned(review_set: ReviewSet, detectors: Sequence[Detector]) -> Scan:
    """Return the scan of a review set before anything was looked at, scored answers included."""
    unscored = replace(review_set, scores=review_set.scores.clear())
    none = Gatherer(len(review_set.newest), len(review_set.cases)).found()
    return Scan(tuple(detectors), unscored, none, in_order(()))


def scan(review_set: ReviewSet, detectors: Sequence[Detector], before: Scan | None = None) -> Scan:
    """Let all detectors go through all newest answers, now and in this process.

    ``before`` is the scan of the same files with other scores: what does not depend on scores is
    taken from it, and the outcome is the same.
    """
    detectors = tuple(detectors)
    if before is None or before.detectors != detectors:
        before = unscanned(review_set, detectors)
        gatherer = Gatherer(len(review_set.newest), len(review_set.cases))
        told = [gatherer.add(look(batch, detectors)).flags for batch in batches(review_set)]
        before = replace(before, found=gatherer.found(ToldInMemory(told)))
    return rescored(before, review_set)


def rescored(before: Scan, review_set: ReviewSet) -> Scan:
    """Return the scan of the same files with other scores; it may be incomplete."""
    changed = _changed(before.scores, review_set.scores)
    named = np.unique(review_set.numbers_of(changed))
    numbers = named[named >= 0].astype(np.uint32)
    if not len(numbers):
        return replace(before, review_set=review_set)
    again = [place for place, one in enumerate(before.detectors) if one.reads_scores]
    rows = np.unique(review_set.newest.case[numbers])
    looked = [left_out(before.scored, numbers)]
    for start in range(0, len(rows), _CASES_AT_A_TIME):
        some = rows[start : start + _CASES_AT_A_TIME].astype(np.int64)
        wanted = np.intersect1d(answers_of_cases(review_set.newest, some), numbers)
        batch = batch_of(review_set, some, wanted.astype(np.uint32), with_scores=True)
        looked.append(look(batch, before.detectors, again, index=False))
    return replace(before, review_set=review_set, scored=in_order(looked))


def _changed(before: pl.DataFrame, now: pl.DataFrame) -> pl.DataFrame:
    """Return the answers with a score that was not there before, or is there no longer."""
    pairs = ["case", "model"]
    if before is now:
        return now.select(pairs).clear()
    both = [(before, now), (now, before)]
    return (
        pl.concat(
            one.select(_SCORE).join(other.select(_SCORE), on=_SCORE, how="anti", nulls_equal=True)
            for one, other in both
        )
        .select(pairs)
        .unique()
    )

"""Outcomes of choice questions by case: each rater's result, and the result of all.

Only questions with a known right option have outcomes, so that a model's right, wrong and failed
ones always add up to its n.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
import numpy.typing as npt
import polars as pl

from rexview.analysis.query.filter.conditions import CASE_OUTCOMES, ChoiceOutcome
from rexview.analysis.query.memory.set_columns import Mask
from rexview.detect import Survey
from rexview.stats.multiple_choice import FAILED_CHOICE, NO_CHOICE, Numbers, Options, RaterChoices

_NOBODY: Final = -1
_MIN_WRONG_MODELS: Final = 2
"""Fewest wrong models for the outcome "all models wrong"."""


@dataclass(frozen=True, eq=False)
class CaseOutcomes:
    """The outcomes of the choice questions of an answer table.

    Attributes
    ----------
    chosen : RaterChoices
        Each rater's choices: q questions, r raters.
    n_cases : int
        All cases of the set.
    survey : Survey
        The detectors' flags, for the outcome "wrong side".
    """

    chosen: RaterChoices
    n_cases: int
    survey: Survey

    def meeting(self, outcomes: Sequence[ChoiceOutcome]) -> Mask:
        """Return a mask of the cases with one of some outcomes, shape (n_cases,)."""
        met = np.zeros(len(self.chosen), dtype=np.bool_)
        for outcome in outcomes:
            if outcome.kind in CASE_OUTCOMES:
                met |= self._of_cases[outcome.kind]
            elif outcome.model in self._places:
                place = self._places[outcome.model]
                if outcome.kind == "only_wrong":
                    met |= self._only_wrong == place
                else:
                    met |= self._of_raters[outcome.kind][:, place]
        cases = np.zeros(self.n_cases, dtype=np.bool_)
        cases[self.chosen.case_row[met]] = True
        return cases

    def counts(self, left: Mask) -> Iterator[tuple[ChoiceOutcome, int]]:
        """Yield the count of every outcome in some cases; nothing if no question has answers."""
        if not self.chosen.raters:
            return
        there = left[self.chosen.case_row]
        by_rater = {kind: met[there].sum(axis=0) for kind, met in self._of_raters.items()}
        alone = self._only_wrong[there]
        for model, place in self._places.items():
            for kind, counts in by_rater.items():
                yield ChoiceOutcome(kind, model), int(counts[place])
            if self._is_model[place]:
                yield ChoiceOutcome("only_wrong", model), int(np.count_nonzero(alone == place))
        for kind, met in self._of_cases.items():
            yield ChoiceOutcome(kind), int(np.count_nonzero(met & there))

    def cases_with(self) -> Iterator[tuple[ChoiceOutcome, Numbers]]:
        """Yield every outcome with the rows of its cases, which may be empty."""
        alone = self._only_wrong
        for model, place in self._places.items():
            for kind, met in self._of_raters.items():
                yield ChoiceOutcome(kind, model), self.chosen.case_row[met[:, place]]
            yield ChoiceOutcome("only_wrong", model), self.chosen.case_row[alone == place]
        for kind, met in self._of_cases.items():
            yield ChoiceOutcome(kind), self.chosen.case_row[met]

    @cached_property
    def _places(self) -> dict[str, int]:
        """Index of each rater by id."""
        return {rater.id: place for place, rater in enumerate(self.chosen.raters)}

    @cached_property
    def _is_model(self) -> Mask:
        return np.array([not rater.is_reader for rater in self.chosen.raters], dtype=np.bool_)

    @cached_property
    def _of_raters(self) -> dict[str, npt.NDArray[np.bool_]]:
        """Masks of the right, wrong and failed choices, each of shape (q, r)."""
        option = self.chosen.option
        right = option == self.chosen.right[:, np.newaxis]
        return {"right": right, "wrong": (option >= 0) & ~right, "failed": option == FAILED_CHOICE}

    @cached_property
    def _n_models(self) -> dict[str, npt.NDArray[np.int64]]:
        """Numbers of models with a right, wrong and failed choice, each of shape (q,)."""
        return {kind: met[:, self._is_model].sum(axis=1) for kind, met in self._of_raters.items()}

    @cached_property
    def _of_cases(self) -> dict[str, Mask]:
        """Masks of the questions for each outcome of all answers, shape (q,)."""
        n, option = self._n_models, self.chosen.option
        models = _find_most_chosen(option[:, self._is_model])
        readers = _find_most_chosen(option[:, ~self._is_model])
        return {
            "all_wrong": (n["wrong"] >= _MIN_WRONG_MODELS) & (n["right"] == 0),
            "against_readers": (models != readers) & (models >= 0) & (readers >= 0),
            "wrong_side": self._wrong_side[self.chosen.case_row],
            "read": self.chosen.read_by_people,
            "answered": (option != NO_CHOICE).any(axis=1),
        }

    @cached_property
    def _only_wrong(self) -> npt.NDArray[np.int64]:
        """Index of the only model that is wrong or failed while others are right, or -1."""
        missed = (self._of_raters["wrong"] | self._of_raters["failed"]) & self._is_model
        alone = (missed.sum(axis=1) == 1) & (self._n_models["right"] > 0)
        return np.where(alone, missed.argmax(axis=1), _NOBODY) if missed.size else alone - 1

    @property
    def _wrong_side(self) -> Mask:
        """Mask of the cases in which the detector found a wrong side in a chosen option."""
        on_side = (pl.col("failure") == "laterality_error") & (pl.col("kind") == "choice")
        stands = pl.col("stands") & (pl.col("source") == "detector")
        numbers = self.survey.flags.filter(on_side, stands)["answer"].to_numpy()
        found = np.zeros(self.n_cases, dtype=np.bool_)
        found[self.survey.scan.review_set.newest.case[numbers]] = True
        return found


def _find_most_chosen(option: Options) -> npt.NDArray[np.int64]:
    """Return the option that more raters chose than any other, -1 for none or several.

    ``option`` has shape (q, r), one column a rater, negative where none was chosen.
    """
    most, votes = (np.full(len(option), first, dtype=np.int64) for first in (_NOBODY, 0))
    for place in range(option.shape[1]):  # raters are few
        own = option[:, place]
        of_own = (option == own[:, np.newaxis]).sum(axis=1)
        more = (own >= 0) & (of_own > votes)
        level = (own >= 0) & (of_own == votes) & (own != most)
        most = np.where(more, own, np.where(level, _NOBODY, most))
        votes = np.where(more, of_own, votes)
    return most

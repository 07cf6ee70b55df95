"""One case with everything that is said about it, gathered for a page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from rexview.analysis.linking import link_key
from rexview.analysis.selecting import neighbours
from rexview.detect import DISAGREEMENT_THRESHOLD, detectors, flags_for
from rexview.schema import Answer, Case, Flag, ReviewSet, Score
from rexview.stats import NO_ANSWER, FinalScores, final_of_answer, status_of


@dataclass(frozen=True)
class CasePage:
    """A case, its newest answers, their scores and their flags.

    ``finals`` holds final scores by model, for answers that came and were scored. ``flags`` holds
    detectors' and readers' flags, rejected ones included.
    """

    case: Case
    answers: tuple[Answer, ...]
    scores: tuple[Score, ...]
    finals: Mapping[str, FinalScores]
    flags: tuple[Flag, ...]

    def of_models(self, models: tuple[str, ...]) -> CasePage:
        """Keep only some models, in the order given."""
        by_model = {answer.model: answer for answer in self.answers}
        return CasePage(
            self.case,
            tuple(by_model[model] for model in models if model in by_model),
            tuple(score for score in self.scores if score.model in models),
            {model: final for model, final in self.finals.items() if model in models},
            tuple(flag for flag in self.flags if flag.model in models),
        )

    @cached_property
    def link_keys(self) -> tuple[str, ...]:
        """What the boxes of the case show: the findings that texts and boxes are linked by."""
        labels = [box.label for box in self.case.reference_boxes]
        labels += [box.label for answer in self.answers for box in answer.boxes]
        return tuple(dict.fromkeys(key for label in labels if (key := link_key(label))))


@dataclass(frozen=True)
class Place:
    """Where a case stands in an ordered list: ``number`` from 1, None when it is not in it."""

    number: int | None
    total: int
    before: str | None
    after: str | None


def place_in(ordered: Sequence[str], case_id: str) -> Place:
    """Find a case in the ordered ids of a filter.

    A case that is not in the list (a link to it with another filter) has no number; ``after`` is
    then the first of the list.
    """
    before, after, index = neighbours(ordered, case_id)
    if index is None:
        return Place(None, len(ordered), None, ordered[0] if ordered else None)
    return Place(index + 1, len(ordered), before, after)


def gather_case(
    review_set: ReviewSet,
    case_id: str,
    *,
    gap_threshold: float,
    disagreement_threshold: float = DISAGREEMENT_THRESHOLD,
) -> CasePage | None:
    """Gather one case of a review set; None when it has no such case."""
    case = review_set.case(case_id)
    if case is None:
        return None
    answers = review_set.answers_of(case_id)
    scores = review_set.scores_of(case_id)
    finals = {}
    for answer in answers:
        own = [score for score in scores if score.model == answer.model]
        scored = any(score.score is not None for score in own)
        if scored and status_of(answer) not in NO_ANSWER:
            finals[answer.model] = final_of_answer(own)
    flags = flags_for(
        case,
        answers,
        scores,
        review_set.flags_of(case_id),
        detectors=detectors(
            gap_threshold=gap_threshold,
            disagreement_threshold=disagreement_threshold,
            models=review_set.models,
        ),
    )
    return CasePage(case, answers, scores, finals, tuple(flags))

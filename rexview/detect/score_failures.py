"""Failures that readers' scores show: a gap between process and execution, disagreement, low marks.

All go by final scores, which only an answer that came has.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import polars as pl

from rexview.detect.core.detector import AnswerInCase, Detector, ScoreRule, flag
from rexview.schema import Evidence, Flag
from rexview.stats import final_of_answer, write_score
from rexview.vocab import DIMENSION_NAMES, DIMENSIONS

GAP_THRESHOLD: Final = 2.0
"""Process minus execution from which a gap is flagged."""
DISAGREEMENT_THRESHOLD: Final = 2.0
"""Difference between two readers on a dimension from which they disagree."""
_LOW_IMAGE_SCORE: Final = 2.0
"""Final image score from which down the readers' judgement of boxes is a flag."""


def score_evidence(dimension: str, score: float) -> Evidence:
    """Point at a final score of an answer."""
    name = DIMENSION_NAMES[dimension]
    return Evidence("scores", f"{name} {write_score(score)}", field=dimension)


@dataclass(frozen=True)
class ExecutionGap:
    """Flags answers whose final process score exceeds their execution score by ``threshold``.

    The model knew what to do but could not do it on the image. Kind: ``scores``.
    """

    threshold: float = GAP_THRESHOLD
    failure: str = "execution_gap"

    def score_rule(self) -> ScoreRule:
        """Compare the final scores of all answers."""
        gap = pl.col("gap")
        return ScoreRule(gap.is_not_null(), gap >= self.threshold)

    def can_judge(self, one: AnswerInCase) -> bool:
        """Say whether both scores were given."""
        return one.final.gap is not None

    def find(self, one: AnswerInCase) -> list[Flag]:
        """Compare the final scores."""
        gap = one.final.gap
        if gap is None or gap < self.threshold:
            return []
        process, execution = (
            score_evidence(name, one.final.by_dimension[name]) for name in ("process", "execution")
        )
        message = (
            f"{process.text} but {execution.text}, a gap of {write_score(gap)}: "
            "it knew what to do but could not do it on the image."
        )
        return [flag(self, one.answer, "scores", message, (process, execution))]


@dataclass(frozen=True)
class Disagreement:
    """Flags answers that two readers scored ``threshold`` or more apart. Kind: ``scores``."""

    threshold: float = DISAGREEMENT_THRESHOLD
    failure: str = "disagreement"

    def score_rule(self) -> ScoreRule:
        """Compare the readers on all answers."""
        spread = pl.col("spread")
        return ScoreRule(spread.is_not_null(), spread >= self.threshold)

    def can_judge(self, one: AnswerInCase) -> bool:
        """Say whether two readers scored one dimension."""
        return one.final.spread is not None

    def find(self, one: AnswerInCase) -> list[Flag]:
        """Compare the readers."""
        spread = one.final.spread
        if spread is None or spread < self.threshold:
            return []
        by_reader = {
            reader: final_of_answer([s for s in one.scores if s.reader == reader]).by_dimension
            for reader in dict.fromkeys(score.reader for score in one.scores)
        }
        parts, evidence = [], []
        for dimension in DIMENSIONS:
            given = {
                reader: scores[dimension]
                for reader, scores in by_reader.items()
                if dimension in scores
            }
            low, high = min(given.values(), default=0.0), max(given.values(), default=0.0)
            if len(given) > 1 and round(high - low, 9) >= self.threshold:
                name = DIMENSION_NAMES[dimension]
                parts.append(f"{name} ({write_score(low)} and {write_score(high)})")
                evidence += [
                    Evidence("scores", f"{reader}: {name} {write_score(score)}", field=dimension)
                    for reader, score in given.items()
                ]
        to = "up to " if len(parts) > 1 else ""
        message = f"Readers are {to}{write_score(spread)} apart on {', '.join(parts)}."
        return [flag(self, one.answer, "scores", message, evidence)]


def has_boxes_or_score(one: AnswerInCase, dimension: str) -> bool:
    """Say whether an answer has boxes, or a final score of an image dimension."""
    return bool(one.sure_boxes) or dimension in one.final.by_dimension


def low_image_score_rule(dimension: str) -> ScoreRule:
    """Return :func:`low_image_score` for all answers."""
    final = pl.col(dimension)
    return ScoreRule(final.is_not_null(), pl.col("drawn") & (final <= _LOW_IMAGE_SCORE))


def low_image_score(detector: Detector, one: AnswerInCase, dimension: str) -> list[Flag]:
    """Flag an answer with boxes or pictures whose final image score is 2 or less."""
    final = one.final.by_dimension.get(dimension)
    drawn = one.answer.boxes or one.answer.images
    if not drawn or final is None or final > _LOW_IMAGE_SCORE:
        return []
    evidence = score_evidence(dimension, final)
    message = f"Readers gave {evidence.text} of 5 for the boxes."
    return [flag(detector, one.answer, "scores", message, (evidence,))]

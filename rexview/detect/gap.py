"""Execution-vs-process gaps: the model knew what to do but could not do it on the image."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import polars as pl

from rexview.schema import Answer, Case, Evidence, Flag, ReviewSet, Score
from rexview.stats import final_of_answer, finals_of, status_of

GAP_THRESHOLD: Final = 2.0
"""Process minus execution from which a gap is flagged."""


@dataclass(frozen=True)
class ExecutionGap:
    """Flags answers whose final process score exceeds their execution score by ``threshold``."""

    threshold: float = GAP_THRESHOLD
    failure: str = "execution_gap"

    def survey(self, review_set: ReviewSet) -> pl.DataFrame:
        """Compare the final scores of all answers that have both."""
        kind = pl.when(pl.col("gap") >= self.threshold).then(pl.lit("scores"))
        known = finals_of(review_set).filter(pl.col("gap").is_not_null())
        return known.select("case", "model", kind.alias("kind"), look=pl.lit(False))

    def find(self, case: Case, answer: Answer, scores: Sequence[Score]) -> list[Flag]:
        """Compare the final scores of one answer."""
        if not scores:
            return []
        final = final_of_answer(scores)
        if status_of(answer) != "answered" or final.gap is None or final.gap < self.threshold:
            return []
        process, execution = final.by_dimension["process"], final.by_dimension["execution"]
        return [
            Flag(
                case=case.id,
                model=answer.model,
                failure=self.failure,
                source="detector",
                message=(
                    f"Process {_mark(process)} but Execution {_mark(execution)}, a gap of "
                    f"{_mark(final.gap)}: it knew what to do but could not do it on the image."
                ),
                kind="scores",
                evidence=(
                    Evidence("scores", f"Process {_mark(process)}", field="process"),
                    Evidence("scores", f"Execution {_mark(execution)}", field="execution"),
                ),
            )
        ]


def _mark(score: float) -> str:
    """Write a score as short as it is exact to one decimal: 4, 3.5."""
    return f"{score:.1f}".removesuffix(".0")

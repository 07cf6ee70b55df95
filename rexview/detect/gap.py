"""Execution-vs-process gaps: the model knew what to do but could not do it on the image."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import polars as pl

from rexview.detect.detector import ANSWER_KEY, newest
from rexview.schema import Answer, Case, Evidence, Flag, ReviewSet, Score
from rexview.stats import final_of_answer, final_scores, status_of

GAP_THRESHOLD: Final = 2.0
"""Process minus execution from which a gap is flagged."""


@dataclass(frozen=True)
class ExecutionGap:
    """Flags answers whose final process score exceeds their execution score by ``threshold``."""

    threshold: float = GAP_THRESHOLD
    failure: str = "execution_gap"
    exact: bool = True

    def judged(self, review_set: ReviewSet) -> pl.DataFrame:
        """Name the answers that have both a process and an execution score."""
        return self._gaps(review_set).select(ANSWER_KEY)

    def candidates(self, review_set: ReviewSet) -> pl.DataFrame:
        """Name the answers whose gap reaches the threshold."""
        flagged = self._gaps(review_set).filter(pl.col("gap") >= self.threshold)
        return flagged.select(*ANSWER_KEY, pl.lit("scores").alias("kind"))

    def find(self, case: Case, answer: Answer, scores: Sequence[Score]) -> list[Flag]:
        """Compare the final scores of one answer."""
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

    @staticmethod
    def _gaps(review_set: ReviewSet) -> pl.DataFrame:
        scores = review_set.scores.filter(pl.col("dimension").is_in(["process", "execution"]))
        answers = newest(review_set)
        gaps = final_scores(scores, answers).filter(pl.col("gap").is_not_null())
        runs = answers.select(ANSWER_KEY)
        return gaps.join(runs, on=["case", "model"], how="inner", maintain_order="left")


def _mark(score: float) -> str:
    """Write a score as short as it is exact to one decimal: 4, 3.5."""
    return f"{score:.1f}".removesuffix(".0")

"""Execution-vs-process gaps: the model knew what to do but could not do it on the image."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import polars as pl

from rexview.detect.core.detector import flag
from rexview.schema import Answer, Case, Evidence, Flag, ReviewSet, Score
from rexview.stats import final_of_answer, finals_of, status_of, write_score

GAP_THRESHOLD: Final = 2.0
"""Process minus execution from which a gap is flagged."""


@dataclass(frozen=True)
class ExecutionGap:
    """Flags answers whose final process score exceeds their execution score by ``threshold``."""

    threshold: float = GAP_THRESHOLD
    failure: str = "execution_gap"
    reads_scores: bool = True

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
        process = write_score(final.by_dimension["process"])
        execution = write_score(final.by_dimension["execution"])
        message = (
            f"Process {process} but Execution {execution}, a gap of {write_score(final.gap)}: "
            "it knew what to do but could not do it on the image."
        )
        evidence = (
            Evidence("scores", f"Process {process}", field="process"),
            Evidence("scores", f"Execution {execution}", field="execution"),
        )
        return [flag(self, answer, "scores", message, evidence)]

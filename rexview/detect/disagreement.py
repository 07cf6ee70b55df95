"""Readers who disagree about an answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import polars as pl

from rexview.detect.core.detector import flag
from rexview.schema import Answer, Case, Evidence, Flag, ReviewSet, Score
from rexview.stats import final_of_answer, finals_of, status_of, write_score
from rexview.vocab import DIMENSION_NAMES, DIMENSIONS

DISAGREEMENT_THRESHOLD: Final = 2.0
"""Difference between two readers on a dimension from which they disagree."""


@dataclass(frozen=True)
class Disagreement:
    """Flags answers that two readers scored ``threshold`` or more apart. Kind: ``scores``."""

    threshold: float = DISAGREEMENT_THRESHOLD
    failure: str = "disagreement"
    reads_scores: bool = True

    def survey(self, review_set: ReviewSet) -> pl.DataFrame:
        """Compare the readers of all answers that two of them scored on one dimension."""
        kind = pl.when(pl.col("spread") >= self.threshold).then(pl.lit("scores"))
        known = finals_of(review_set).filter(pl.col("spread").is_not_null())
        return known.select("case", "model", kind.alias("kind"), look=pl.lit(False))

    def find(self, case: Case, answer: Answer, scores: Sequence[Score]) -> list[Flag]:
        """Compare the readers of one answer."""
        if not scores:
            return []
        spread = final_of_answer(scores).spread
        if status_of(answer) != "answered" or spread is None or spread < self.threshold:
            return []
        marks = {
            reader: final_of_answer([s for s in scores if s.reader == reader]).by_dimension
            for reader in dict.fromkeys(score.reader for score in scores)
        }
        parts, evidence = [], []
        for dimension in DIMENSIONS:
            given = {reader: own[dimension] for reader, own in marks.items() if dimension in own}
            low, high = min(given.values(), default=0.0), max(given.values(), default=0.0)
            if len(given) > 1 and round(high - low, 9) >= self.threshold:
                name = DIMENSION_NAMES[dimension]
                parts.append(f"{name} ({write_score(low)} and {write_score(high)})")
                evidence += [
                    Evidence("scores", f"{reader}: {name} {write_score(mark)}", field=dimension)
                    for reader, mark in given.items()
                ]
        message = f"Readers are {write_score(spread)} apart on {', '.join(parts)}."
        if len(parts) > 1:
            message = f"Readers are up to {write_score(spread)} apart on {', '.join(parts)}."
        return [flag(self, answer, "scores", message, evidence)]

"""What readers' image scores say of boxes, and which answers have boxes to judge."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import polars as pl

from rexview.detect.core.detector import Detector, flag, newest
from rexview.schema import Answer, Evidence, Flag, ReviewSet, Score
from rexview.stats import final_of_answer, finals_of, status_of, write_score

LOW_SCORE: Final = 2.0
"""Final image score from which down the readers' judgement is a flag."""


def boxed_answers(review_set: ReviewSet, dimension: str) -> pl.DataFrame:
    """Ask for a look at the newest answers with boxes or with a final score of ``dimension``."""
    finals = finals_of(review_set).filter(pl.col(dimension).is_not_null())
    scored = finals.select("case", "model", scored=pl.lit(True))
    answers = newest(review_set).select(
        "case", "model", boxed=pl.col("boxes").list.len().fill_null(0) > 0
    )
    known = answers.join(scored, on=["case", "model"], how="left", maintain_order="left")
    judged = known.filter(pl.col("boxed") | pl.col("scored").fill_null(False))
    return judged.select(
        "case", "model", pl.lit(None, pl.String).alias("kind"), pl.lit(True).alias("look")
    )


def score_flags(
    detector: Detector,
    answer: Answer,
    scores: Sequence[Score],
    dimension: str,
    name: str,
) -> list[Flag]:
    """Flag an answer with boxes or pictures whose final score of ``dimension`` is 2 or less."""
    if status_of(answer) != "answered" or not (answer.boxes or answer.images):
        return []
    final = final_of_answer(scores).by_dimension.get(dimension)
    if final is None or final > LOW_SCORE:
        return []
    mark = write_score(final)
    message = f"Readers gave {name} {mark} of 5 for the boxes."
    evidence = Evidence("scores", f"{name} {mark}", field=dimension)
    return [flag(detector, answer, "scores", message, (evidence,))]

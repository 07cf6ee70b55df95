"""Choice questions without a usable choice."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import polars as pl

from rexview.detect.core.detector import flag, newest
from rexview.schema import Answer, Case, Evidence, Flag, ReviewSet, Score

_SHOWN: Final = 120


@dataclass(frozen=True)
class FailedExtraction:
    """Flags answers to choice questions that name no option of the question.

    Kinds: ``no_choice`` (none could be taken from the answer) and ``no_option`` (its number is not
    among the options).
    """

    failure: str = "failed_extraction"
    reads_scores: bool = False

    def survey(self, review_set: ReviewSet) -> pl.DataFrame:
        """Judge all newest answers to choice questions."""
        options = pl.col("options").list.len().fill_null(0)
        cases = review_set.cases.filter(pl.col("question_type") == "choice").select(
            pl.col("id").alias("case"), n=options
        )
        choice = pl.col("choice")
        past = (pl.col("n") > 0) & (choice >= pl.col("n"))
        kind = (
            pl.when(choice.is_null())
            .then(pl.lit("no_choice"))
            .when((choice < 0) | past)
            .then(pl.lit("no_option"))
        )
        answers = newest(review_set).select("case", "model", "choice")
        judged = answers.join(cases, on="case", maintain_order="left")
        return judged.select("case", "model", kind.alias("kind"), look=pl.lit(False))

    def find(self, case: Case, answer: Answer, scores: Sequence[Score]) -> list[Flag]:
        """Look at the choice of one answer. Scores are not used."""
        if case.question_type != "choice":
            return []
        choice, count = answer.choice, len(case.options)
        text = " ".join((answer.text or "").split())
        shown = text[:_SHOWN]
        if choice is None:
            message = "No option could be taken from the answer."
            if not text:
                message = "No option was chosen: the answer is empty."
            evidence = Evidence("answer", shown)
            return [flag(self, answer, "no_choice", message, (evidence,))]
        if choice < 0 or (count and choice >= count):
            message = f"Option number {choice + 1} was chosen; the question has {count} options."
            evidence = Evidence("answer", shown)
            return [flag(self, answer, "no_option", message, (evidence,))]
        return []

"""Answers too long or too short: beside the other answers to the case, and in a reader's word.

Length alone is no failure. It is a hint when readers also scored Language low or wrote that the
answer is long or short.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import Final, Literal

import polars as pl

from rexview.detect.core.detector import flag, newest
from rexview.schema import Answer, Case, Evidence, Flag, ReviewSet, Score
from rexview.stats import answer_status, final_of_answer, finals_of, status_of, write_score

TIMES: Final = 2.0
"""How many times longer (or shorter) than the median of the other answers."""
LOW_LANGUAGE: Final = 3.0
"""Final Language from which down length is a hint."""
_LEAST_WORDS: Final[dict[str, tuple[int, int]]] = {"verbose": (80, 10_000_000), "terse": (0, 25)}
"""Fewest and most words of an answer that can be too long, too short."""
_SAYS: Final[dict[str, re.Pattern[str]]] = {
    "verbose": re.compile(
        r"\b(?:too long|verbose|wordy|long-?winded|lengthy|redundan\w+|repetiti\w+|repeats? itself|"
        r"rambling|padded|padding|bloated|times over|over-?long|prolix)\b",
        re.IGNORECASE,
    ),
    "terse": re.compile(
        r"\b(?:too short|terse|too brief|curt|laconic|sparse|telegraphic|"
        r"(?:hardly|barely) an? answer|no detail|lacks? detail|not enough detail)\b",
        re.IGNORECASE,
    ),
}
_WORD: Final = re.compile(r"\S+")


@dataclass(frozen=True)
class AnswerLength:
    """Hints at answers that are ``verbose`` or ``terse`` (its failure). Kind: ``hint``.

    Needs at least one other answer to the case, a length ``times`` away from their median, and
    either a final Language of at most 3 or a reader's comment that says so.
    """

    failure: Literal["verbose", "terse"] = "verbose"
    reads_scores: bool = True
    times: float = TIMES

    def survey(self, review_set: ReviewSet) -> pl.DataFrame:
        """Ask for a look at scored answers whose length stands out; all scored can be judged."""
        came = newest(review_set).filter(answer_status() == "answered")
        words = pl.col("text").fill_null("").str.count_matches(r"\S+")
        sizes = came.select("case", "model", words=words).filter(pl.col("words") > 0)
        several = sizes.filter(pl.len().over("case") > 1).with_columns(
            least=pl.col("words").min().over("case"), most=pl.col("words").max().over("case")
        )
        scored = finals_of(review_set).select("case", "model")
        known = several.join(scored, on=["case", "model"], how="semi", maintain_order="left")
        if self.failure == "verbose":
            stands_out = pl.col("words") >= self.times * pl.col("least")
        else:
            stands_out = pl.col("words") * self.times <= pl.col("most")
        low, high = _LEAST_WORDS[self.failure]
        look = stands_out & pl.col("words").is_between(low, high)
        return known.select("case", "model", pl.lit(None, pl.String).alias("kind"), look=look)

    def find(self, case: Case, answer: Answer, scores: Sequence[Score]) -> list[Flag]:
        """Find nothing: a length is judged beside other answers, see :meth:`find_among`."""
        return []

    def find_among(
        self, case: Case, answer: Answer, answers: Sequence[Answer], scores: Sequence[Score]
    ) -> list[Flag]:
        """Hold the length of one answer against the other answers to its case."""
        if status_of(answer) != "answered":
            return []
        others = [
            _words(other)
            for other in answers
            if other.model != answer.model and status_of(other) == "answered" and _words(other)
        ]
        size = _words(answer)
        low, high = _LEAST_WORDS[self.failure]
        if not others or not size or not low <= size <= high:
            return []
        middle = median(others)
        longer = self.failure == "verbose"
        if (size < self.times * middle) if longer else (size * self.times > middle):
            return []
        support = self._support(scores)
        if support is None:
            return []
        than = "longer" if longer else "shorter"
        message = (
            f"Possibly too {'long' if longer else 'short'}: {size:,} words, {than} than the other "
            f"answers to this case ({middle:,.0f} in the median), and {support[0]}."
        )
        text = answer.text or ""
        evidence = (
            Evidence("answer", f"{size:,} words", start=0, end=len(text)),
            Evidence("scores", support[1], field=support[2]),
        )
        return [flag(self, answer, "hint", message, evidence)]

    def _support(self, scores: Sequence[Score]) -> tuple[str, str, str] | None:
        """Return what readers said that makes a length a failure."""
        for score in scores:
            if score.comment and _SAYS[self.failure].search(score.comment):
                said = " ".join(score.comment.split())[:160]
                return f"a reader says “{said}”", said, score.dimension
        language = final_of_answer(scores).by_dimension.get("language")
        if language is None or language > LOW_LANGUAGE:
            return None
        mark = write_score(language)
        return f"readers gave Language {mark} of 5", f"Language {mark}", "language"


def _words(answer: Answer) -> int:
    return len(_WORD.findall(answer.text or ""))

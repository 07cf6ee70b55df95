"""Answers too long or too short: beside the other answers to the case, and in a reader's word.

Length alone is no failure. It is a hint when readers also scored Language low or wrote that the
answer is long or short.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from statistics import median
from typing import Final, Literal

import polars as pl

from rexview.detect.core.detector import AnswerInCase, ScoreRule, flag
from rexview.detect.phrases import whole_words
from rexview.detect.score_failures import score_evidence
from rexview.schema import Evidence, Flag
from rexview.stats import status_of

TIMES: Final = 2.0
"""How many times longer (or shorter) than the median of the other answers."""
LOW_LANGUAGE: Final = 3.0
"""Final Language from which down length is a hint."""
_LIMITS: Final[dict[str, tuple[int, int]]] = {"verbose": (80, 10_000_000), "terse": (0, 25)}
"""Fewest and most words of an answer that can be too long, too short."""
_SAYS: Final = {name: whole_words("length_comment", name) for name in _LIMITS}
_WORD: Final = re.compile(r"\S+")


@dataclass(frozen=True)
class AnswerLength:
    """Hints at answers that are ``verbose`` or ``terse`` (its failure). Kind: ``hint``.

    Needs at least one other answer to the case, a length :data:`TIMES` away from their median, and
    either a final Language of at most 3 or a reader's comment that says so.
    """

    failure: Literal["verbose", "terse"] = "verbose"

    def score_rule(self) -> ScoreRule:
        """Hold the lengths of all answers against the others to their cases."""
        words, usual = pl.col("words"), pl.col("usual_words")
        least, most = _LIMITS[self.failure]
        unusual = words >= TIMES * usual if self.failure == "verbose" else words * TIMES <= usual
        says_so = f"(?i){_SAYS[self.failure].pattern}"
        supported = (pl.col("language") <= LOW_LANGUAGE).fill_null(value=False) | pl.col(
            "comments"
        ).str.contains(says_so).fill_null(value=False)
        flagged = unusual & words.is_between(least, most) & supported
        return ScoreRule((words > 0) & usual.is_not_null(), flagged, "hint")

    def can_judge(self, one: AnswerInCase) -> bool:
        """Say whether readers scored the answer and another answer to the case has words."""
        return bool(one.final.by_dimension and count_words(one.text) and _other_lengths(one))

    def find(self, one: AnswerInCase) -> list[Flag]:
        """Hold the length of the answer against the other answers to its case."""
        size, usual = count_words(one.text), median(_other_lengths(one))
        least, most = _LIMITS[self.failure]
        longer = self.failure == "verbose"
        usual_length = size < TIMES * usual if longer else size * TIMES > usual
        if usual_length or not least <= size <= most:
            return []
        support = self._support(one)
        if support is None:
            return []
        reason, scored = support
        than = "longer" if longer else "shorter"
        message = (
            f"Possibly too {'long' if longer else 'short'}: {size:,} words, {than} than the other "
            f"answers to this case ({usual:,.0f} in the median), and {reason}."
        )
        counted = Evidence("answer", f"{size:,} words", start=0, end=len(one.text))
        return [flag(self, one.answer, "hint", message, (counted, scored))]

    def _support(self, one: AnswerInCase) -> tuple[str, Evidence] | None:
        """Return what readers gave or wrote that makes a length a failure."""
        for score in one.scores:
            if score.comment and _SAYS[self.failure].search(score.comment):
                comment = " ".join(score.comment.split())[:160]
                evidence = Evidence("scores", comment, field=score.dimension)
                return f"a reader says “{comment}”", evidence
        language = one.final.by_dimension.get("language")
        if language is None or language > LOW_LANGUAGE:
            return None
        evidence = score_evidence("language", language)
        return f"readers gave {evidence.text} of 5", evidence


def _other_lengths(one: AnswerInCase) -> list[int]:
    """Count the words of the other answers to the case that came and have any."""
    return [
        words
        for other in one.answers
        if other.model != one.answer.model and status_of(other) == "answered"
        if (words := count_words(other.text or ""))
    ]


@lru_cache(maxsize=256)
def count_words(text: str) -> int:
    """Count words; remembered, as each answer is held against all others to its case."""
    return len(_WORD.findall(text))

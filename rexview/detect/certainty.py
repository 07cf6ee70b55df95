"""Certainty that was not earned: definite wording on reasoning that readers scored low."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import polars as pl

from rexview.detect.detector import flag
from rexview.schema import Answer, Case, Evidence, Flag, ReviewSet, Score
from rexview.stats import final_of_answer, finals_of, status_of, write_score

LOW_SYNTHESIS: Final = 2.0
"""Final Synthesis from which down definite wording is a hint."""
_LONGEST: Final = 50_000
_DEFINITE: Final = re.compile(
    r"\b(?:definite(?:ly)?|certain(?:ly)?|clearly|undoubted(?:ly)?|unquestionabl[ey]|obvious(?:ly)?|"
    r"unequivocal(?:ly)?|unmistakabl[ey]|undeniabl[ey]|conclusive(?:ly)?|pathognomonic|"
    r"diagnostic of|confirms?|proves?|proof of|guaranteed?|absolutely|indisputabl[ey]|"
    r"(?:no|without(?: a| any)?|beyond(?: a| any| all)?(?: reasonable)?) doubt|"
    r"there is no question|must be|can only be|100 ?(?:%|per ?cent)|"
    r"(?:is|are|has been|have been|can be|was|be) (?:confidently |safely |definitely )?"
    r"(?:excluded|ruled out)|rules? out|excludes?|"
    r"(?:high|complete|full|absolute|great) (?:certainty|confidence)|"
    r"(?:certainty|confidence)[^.\n]{0,30}?[:*\s]+(?:very )?(?:high|complete|absolute|100)|"
    r"(?:may|can) (?:safely )?be used|safe to use|no (?:further|additional|more) (?:imaging|"
    r"investigations?|tests?|testing|work-?up|evaluation|follow-?up|action)|no action (?:is )?"
    r"(?:needed|required|necessary))\b",
    re.IGNORECASE,
)
_NOT_DEFINITE: Final = re.compile(
    r"(?:\b(?:no|not|never|cannot|can['’]?t|n['’]t|without|nor|less|hardly|neither|unable|difficult|"
    r"impossible|if|whether|might|possibly|probably|almost|fairly|to|would|could|may|question)\b|"
    r"n['’]t\b)[^.?!;:\n]{0,25}$",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Overconfident:
    """Hints at definite wording where the final Synthesis is 2 or less. Kind: ``hint``."""

    failure: str = "overconfident"
    reads_scores: bool = True

    def survey(self, review_set: ReviewSet) -> pl.DataFrame:
        """Ask for a look at answers with a low Synthesis; any with a Synthesis can be judged."""
        known = finals_of(review_set).filter(pl.col("synthesis").is_not_null())
        low = pl.col("synthesis") <= LOW_SYNTHESIS
        return known.select("case", "model", pl.lit(None, pl.String).alias("kind"), look=low)

    def find(self, case: Case, answer: Answer, scores: Sequence[Score]) -> list[Flag]:
        """Look for definite wording in one answer with a low Synthesis."""
        if not scores:
            return []
        synthesis = final_of_answer(scores).by_dimension.get("synthesis")
        if synthesis is None or synthesis > LOW_SYNTHESIS or status_of(answer) != "answered":
            return []
        found = definite_words(answer.text)
        if found is None:
            return []
        words = (answer.text or "")[slice(*found)]
        mark = write_score(synthesis)
        message = (
            f"Possibly more certain than it may be: it says “{words}”, and readers gave Synthesis "
            f"{mark} of 5."
        )
        evidence = (
            Evidence("answer", words, None, *found),
            Evidence("scores", f"Synthesis {mark}", field="synthesis"),
        )
        return [flag(self, answer, "hint", message, evidence)]


def definite_words(text: str | None) -> tuple[int, int] | None:
    """Find the first words of a text that leave no doubt (offsets); None when there are none.

    >>> definite_words("This is definitely pneumonia.")
    (8, 18)
    >>> definite_words("A small effusion cannot be excluded; no definite nodule.") is None
    True
    """
    text = (text or "")[:_LONGEST]
    for match in _DEFINITE.finditer(text):
        doubt = match[0].lower().startswith(("no ", "without", "beyond", "there is no"))
        if doubt or not _NOT_DEFINITE.search(text[max(0, match.start() - 40) : match.start()]):
            return match.span()
    return None

"""Certainty that was not earned: definite wording on reasoning that readers scored low."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

import polars as pl

from rexview.detect.core.detector import AnswerInCase, ScoreRule, flag
from rexview.detect.score_failures import score_evidence
from rexview.schema import Evidence, Flag

LOW_SYNTHESIS: Final = 2.0
"""Final Synthesis from which down definite wording is a hint."""
_LONGEST: Final = 50_000
_SEEN: Final = (
    r"(?:seen|visible|visuali[sz]ed|identified|identifiable|demonstrated|shown|defined|delineated"
    r"|demarcated|marginated|outlined|circumscribed|recogni[sz]able|depicted|included)"
)
"""After "clearly": how well something shows, not how sure its reading is."""
_NEEDED: Final = r"(?:needed|required|necessary|indicated|warranted|advised)"
_DEFINITE: Final = re.compile(
    r"\b(?:definite(?:ly)?|certainly|undoubted(?:ly)?|unquestionabl[ey]|obvious(?:ly)?|"
    r"(?<!in )(?<!a )certain(?!\s+(?:cases?|areas?|types?|amounts?|degree|extent|features|patients|"
    r"conditions|circumstances|situations|aspects|findings|signs|structures|regions?|parts)\b)|"
    rf"clearly(?!\s+(?:\w+\s+)?{_SEEN}\b)|"
    r"unequivocal(?:ly)?|unmistakabl[ey]|undeniabl[ey]|conclusive(?:ly)?|pathognomonic|"
    r"diagnostic of|confirms|proves|proof of|guaranteed?|absolutely|indisputabl[ey]|"
    r"(?:findings|signs|features|views|films|images|these|both|all|which|they) "
    r"(?:confirm|prove|exclude|rule out)|"
    r"(?:no|without(?: a| any)?|beyond(?: a| any| all)?(?: reasonable)?) doubt|"
    r"there is no question|can only be|"
    r"must be(?!\s+(?:\w+ly\s+)?(?!caused|related|explained|associated)(?:\w+ed|\w*(?:drawn|taken|"
    r"given|seen|done|sent|kept|put|read|sought|made|set|brought|held|borne))\b)|"
    r"(?:is|are|has been|have been|was|be)(?<!can be) (?:confidently |safely |definitely )?"
    r"(?:excluded|ruled out)(?!\s+(?:from|if|only|once|when|until|unless)\b)|"
    r"can be (?:confidently |safely |definitely )?(?:excluded|ruled out)"
    r"(?!\s+(?:from|if|only|once|when|until|unless|by|with|on|using)\b)|"
    r"rules out|excludes|"
    r"(?:high|complete|full|absolute|great) (?:certainty|confidence)|"
    r"(?:certainty|confidence)(?:(?!\b(?:not|less|low)\b|n['’]t\b)[^.\n]){0,30}?[:*\s]+"
    r"(?:very )?(?:high|complete|absolute)|"
    r"safe to use|no (?:further|additional|more) (?:imaging|investigations?|tests?|testing|"
    rf"work-?up|evaluation|follow-?up|action) (?:is |are )?{_NEEDED}|"
    r"no action (?:is )?(?:needed|required|necessary))\b"
    r"|\b100 ?(?:%|per ?cent\b)|\b(?:certainty|confidence)[^.\n]{0,30}?[:*\s]+100(?: ?%)?",
    re.IGNORECASE,
)
"""Words that leave no doubt about what is there.

Not what has to be done ("must be withdrawn", "confirm by CT"), what may be done ("may be used"),
how well something shows ("clearly visible"), or what a film leaves out ("excluded from the image").
"""
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

    def score_rule(self) -> ScoreRule:
        """Find definite wording where Synthesis is low, in all answers."""
        synthesis = pl.col("synthesis")
        flagged = (synthesis <= LOW_SYNTHESIS) & pl.col("definite")
        return ScoreRule(synthesis.is_not_null() & pl.col("english"), flagged, "hint")

    def can_judge(self, one: AnswerInCase) -> bool:
        """Say whether readers scored Synthesis."""
        return "synthesis" in one.final.by_dimension and one.language is None

    def find(self, one: AnswerInCase) -> list[Flag]:
        """Look for definite wording where Synthesis is low."""
        synthesis = one.final.by_dimension["synthesis"]
        found = definite_words(one.text) if synthesis <= LOW_SYNTHESIS else None
        if found is None:
            return []
        words, scored = one.text[slice(*found)], score_evidence("synthesis", synthesis)
        message = (
            f"Possibly more certain than it may be: it says “{words}”, and readers gave "
            f"{scored.text} of 5."
        )
        evidence = (Evidence("answer", words, None, *found), scored)
        return [flag(self, one.answer, "hint", message, evidence)]


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

"""Find failures shown by readers' scores: execution gaps, disagreement, low scores.

They are based on final scores, which only an answer that arrived has.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from statistics import median
from typing import Final, Literal

import polars as pl

from rexview.detect.detector import AnswerInCase, Detector, ScoreRule, make_flag
from rexview.schema import Evidence, Flag
from rexview.stats import compute_answer_finals, find_status, format_final_score
from rexview.text.phrases import whole_words
from rexview.vocab import DIMENSION_NAMES, DIMENSIONS

GAP_THRESHOLD: Final = 2.0
"""Minimum of process minus execution for a gap."""
DISAGREEMENT_THRESHOLD: Final = 2.0
"""Minimum difference between two readers on a dimension for a disagreement."""
_LOW_IMAGE_SCORE: Final = 2.0
"""Maximum final image score for which boxes are flagged."""


def score_evidence(dimension: str, score: float) -> Evidence:
    """Return evidence for a final score of an answer."""
    name = DIMENSION_NAMES[dimension]
    return Evidence("scores", f"{name} {format_final_score(score)}", field=dimension)


@dataclass(frozen=True)
class ExecutionGap:
    """Flags answers whose final process score exceeds their execution score by ``threshold``.

    The model knew what to do but could not do it on the image. Kind: ``scores``.
    """

    threshold: float = GAP_THRESHOLD
    failure: str = "execution_gap"

    def score_rule(self) -> ScoreRule:
        """Compare the final scores of all answers."""
        gap = pl.col("gap")
        return ScoreRule(gap.is_not_null(), gap >= self.threshold)

    def can_judge(self, one: AnswerInCase) -> bool:
        """True if both scores were given."""
        return one.final.gap is not None

    def find(self, one: AnswerInCase) -> list[Flag]:
        """Compare the final scores."""
        gap = one.final.gap
        if gap is None or gap < self.threshold:
            return []
        process, execution = (
            score_evidence(name, one.final.by_dimension[name]) for name in ("process", "execution")
        )
        message = (
            f"{process.text} but {execution.text}, a gap of {format_final_score(gap)}: "
            "it knew what to do but could not do it on the image."
        )
        return [make_flag(self, one.answer, "scores", message, (process, execution))]


@dataclass(frozen=True)
class Disagreement:
    """Flags answers that two readers scored ``threshold`` or more apart. Kind: ``scores``."""

    threshold: float = DISAGREEMENT_THRESHOLD
    failure: str = "disagreement"

    def score_rule(self) -> ScoreRule:
        """Compare the readers on all answers."""
        spread = pl.col("spread")
        return ScoreRule(spread.is_not_null(), spread >= self.threshold)

    def can_judge(self, one: AnswerInCase) -> bool:
        """True if two readers scored one dimension."""
        return one.final.spread is not None

    def find(self, one: AnswerInCase) -> list[Flag]:
        """Compare the readers."""
        spread = one.final.spread
        if spread is None or spread < self.threshold:
            return []
        by_reader = {
            reader: compute_answer_finals(
                [s for s in one.scores if s.reader == reader]
            ).by_dimension
            for reader in dict.fromkeys(score.reader for score in one.scores)
        }
        parts, evidence = [], []
        for dimension in DIMENSIONS:
            given = {
                reader: scores[dimension]
                for reader, scores in by_reader.items()
                if dimension in scores
            }
            low, high = min(given.values(), default=0.0), max(given.values(), default=0.0)
            if len(given) > 1 and round(high - low, 9) >= self.threshold:
                name = DIMENSION_NAMES[dimension]
                parts.append(f"{name} ({format_final_score(low)} and {format_final_score(high)})")
                evidence += [
                    Evidence(
                        "scores", f"{reader}: {name} {format_final_score(score)}", field=dimension
                    )
                    for reader, score in given.items()
                ]
        to = "up to " if len(parts) > 1 else ""
        message = f"Readers are {to}{format_final_score(spread)} apart on {', '.join(parts)}."
        return [make_flag(self, one.answer, "scores", message, evidence)]


def has_boxes_or_score(one: AnswerInCase, dimension: str) -> bool:
    """True if an answer has boxes, or a final score on an image dimension."""
    return bool(one.sure_boxes) or dimension in one.final.by_dimension


def low_image_score_rule(dimension: str) -> ScoreRule:
    """Return :func:`low_image_score` as a rule for all answers."""
    final = pl.col(dimension)
    return ScoreRule(final.is_not_null(), pl.col("drawn") & (final <= _LOW_IMAGE_SCORE))


def low_image_score(detector: Detector, one: AnswerInCase, dimension: str) -> list[Flag]:
    """Flag an answer with boxes or pictures whose final image score is 2 or less."""
    final = one.final.by_dimension.get(dimension)
    drawn = one.answer.boxes or one.answer.images
    if not drawn or final is None or final > _LOW_IMAGE_SCORE:
        return []
    evidence = score_evidence(dimension, final)
    message = f"Readers gave {evidence.text} of 5 for the boxes."
    return [make_flag(detector, one.answer, "scores", message, (evidence,))]


# Unearned certainty: definite wording on reasoning that readers scored low.

LOW_SYNTHESIS: Final = 2.0
"""Maximum final Synthesis for a hint at definite wording."""
_LONGEST: Final = 50_000
_SEEN: Final = (
    r"(?:seen|visible|visuali[sz]ed|identified|identifiable|demonstrated|shown|defined|delineated"
    r"|demarcated|marginated|outlined|circumscribed|recogni[sz]able|depicted|included)"
)
"""After "clearly": how well something is seen, not how sure its interpretation is."""
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

It does not match necessary actions ("must be withdrawn", "confirm by CT"), possible actions ("may
be used"), visibility ("clearly visible"), or what a film leaves out ("excluded from the image").
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
        """Flag definite wording on low Synthesis, in all answers."""
        synthesis = pl.col("synthesis")
        flagged = (synthesis <= LOW_SYNTHESIS) & pl.col("definite")
        return ScoreRule(synthesis.is_not_null() & pl.col("english"), flagged, "hint")

    def can_judge(self, one: AnswerInCase) -> bool:
        """True if readers scored Synthesis."""
        return "synthesis" in one.final.by_dimension and one.language is None

    def find(self, one: AnswerInCase) -> list[Flag]:
        """Search an answer with low Synthesis for definite wording."""
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
        return [make_flag(self, one.answer, "hint", message, evidence)]


def definite_words(text: str | None) -> tuple[int, int] | None:
    """Return the offsets of a text's first words that leave no doubt; None if there are none.

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


# Answers too long or too short, by comparison with the other answers to the case.
#
# Length alone is no failure. It is a hint if readers also scored Language low, or commented that
# the answer is long or short.

LENGTH_RATIO: Final = 2.0
"""Minimum ratio to the median length of the other answers, or of that median to the length."""
LOW_LANGUAGE: Final = 3.0
"""Maximum final Language for a hint at the length."""
_LIMITS: Final[dict[str, tuple[int, int]]] = {"verbose": (80, 10_000_000), "terse": (0, 25)}
"""Minimum and maximum number of words of an answer that can be too long or too short."""
_SAYS: Final = {name: whole_words("length_comment", name) for name in _LIMITS}
_WORD: Final = re.compile(r"\S+")


@dataclass(frozen=True)
class AnswerLength:
    """Hints at answers that are ``verbose`` or ``terse`` (its failure). Kind: ``hint``.

    It requires at least one other answer to the case, a length :data:`LENGTH_RATIO` away from the
    median of the others, and either a final Language of at most 3 or a reader's comment on the
    length.
    """

    failure: Literal["verbose", "terse"] = "verbose"

    def score_rule(self) -> ScoreRule:
        """Compare the lengths of all answers with the other answers to their cases."""
        words, usual = pl.col("words"), pl.col("usual_words")
        least, most = _LIMITS[self.failure]
        unusual = (
            words >= LENGTH_RATIO * usual
            if self.failure == "verbose"
            else words * LENGTH_RATIO <= usual
        )
        says_so = f"(?i){_SAYS[self.failure].pattern}"
        supported = (pl.col("language") <= LOW_LANGUAGE).fill_null(value=False) | pl.col(
            "comments"
        ).str.contains(says_so).fill_null(value=False)
        flagged = unusual & words.is_between(least, most) & supported
        return ScoreRule((words > 0) & usual.is_not_null(), flagged, "hint")

    def can_judge(self, one: AnswerInCase) -> bool:
        """True if readers scored the answer and another answer to the case has words."""
        return bool(one.final.by_dimension and count_words(one.text) and _other_lengths(one))

    def find(self, one: AnswerInCase) -> list[Flag]:
        """Compare the length of the answer with the other answers to its case."""
        size, usual = count_words(one.text), median(_other_lengths(one))
        least, most = _LIMITS[self.failure]
        longer = self.failure == "verbose"
        usual_length = size < LENGTH_RATIO * usual if longer else size * LENGTH_RATIO > usual
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
        return [make_flag(self, one.answer, "hint", message, (counted, scored))]

    def _support(self, one: AnswerInCase) -> tuple[str, Evidence] | None:
        """Return the reader's score or comment that makes the length a failure, with evidence."""
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
    """Count the words of the other answers to the case that arrived and have any."""
    return [
        words
        for other in one.answers
        if other.model != one.answer.model and find_status(other) == "answered"
        if (words := count_words(other.text or ""))
    ]


@lru_cache(maxsize=256)
def count_words(text: str) -> int:
    """Count words; cached, because each answer is compared with all others to its case."""
    return len(_WORD.findall(text))

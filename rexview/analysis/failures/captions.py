"""What stands under the numbers of failures: what can be judged, by whom, by which test.

All of it is plain text.
"""

from __future__ import annotations

from typing import Final

from rexview.analysis.engine import Scanned
from rexview.analysis.failures.so_far import so_far_caption
from rexview.stats.bootstrap import LEVEL, RESAMPLES
from rexview.vocab import READERS_ONLY
from rexview.words import tr, trn

COUNTED: Final[dict[str, tuple[str, tuple[str, ...]]]] = {
    "any": (tr("Rule or reader"), ()),
    "rule": (tr("Rule"), ("detector", "both")),
    "reader": (tr("Reader"), ("reader", "both")),
    "both": (tr("Rule and reader"), ("both",)),
}
"""Whose word counts, by the word in the link: its name on screen, the filter's sources."""
COUNTED_MEANING: Final = {
    "any": tr(
        "Counted: answers that a rule flagged or a reader marked. Rejected flags do not count."
    ),
    "rule": tr("Counted: answers that a rule flagged, confirmed or not."),
    "reader": tr("Counted: answers that a reader marked or confirmed."),
    "both": tr("Counted: answers that a rule flagged and a reader confirmed."),
}
_JUDGED_BY: Final = {
    "laterality_error": tr(
        "answers that name a side, or draw a box, which the report, a reference "
        "box or the answer itself can contradict"
    ),
    "token_limit": tr("answers with a finish reason, token counts or an English text"),
    "execution_gap": tr("answers with a Process and an Execution score"),
    "hallucination": tr("answers in English with an English report beside them"),
    "omission": tr(
        "answers in English with an English report beside them, but for choice questions"
    ),
    "wrong_type": tr(
        "answers in English with an English report beside them, but for choice questions"
    ),
    "side_incomplete": tr(
        "answers that name a side in English, and a report beside them that does"
    ),
    "boxes_missing": tr(
        "answers in English to questions that ask for boxes, of models that draw them"
    ),
    "box_misplaced": tr("answers with boxes or an Image Content score"),
    "box_unrelated": tr("answers with boxes or an Image Style score"),
    "overconfident": tr("answers in English with a Synthesis score"),
    "verbose": tr("scored answers with others to compare their length with"),
    "terse": tr("scored answers with others to compare their length with"),
    "failed_extraction": tr("answers to choice questions"),
    "wrong_explanation": tr("answers of which a reader said whether the reason is right"),
    "disagreement": tr("answers that two readers scored"),
}
SMALL: Final = 10
"""Groups of fewer answers that can be judged are marked as small."""


def counted_caption(counted: str, scanned: Scanned) -> str:
    """Say whose word counts (a word of :data:`COUNTED`), and that numbers are so far."""
    return " ".join(filter(None, (so_far_caption(scanned), COUNTED_MEANING[counted])))


def judged_caption(failure: str, *, short: bool = False) -> str:
    """Say which answers can be judged for a failure; ``short`` leaves the readers' word out."""
    words = tr("Can be judged: {judged_by}").format(judged_by=_JUDGED_BY[failure])
    if short:
        return words
    if failure in READERS_ONLY:
        return f"{words}."
    return tr("{words}, and every answer with a reader's verdict.").format(words=words)


def judged_share_caption(judged: int, answers: int) -> str:
    """Say how many answers can be judged: ``26 of 40 answers can be judged``."""
    if judged == answers:
        words = trn("all {n:,} answer can be judged", "all {n:,} answers can be judged", answers)
    else:
        words = trn(
            "{judged:,} of {n:,} answer can be judged",
            "{judged:,} of {n:,} answers can be judged",
            answers,
        )
    return words.format(judged=judged, n=answers)


def rate_caption(*, clustered: bool) -> str:
    """Say how shares, intervals and tests are made."""
    words = tr(
        "Shares are of the answers that can be judged or have a reader's verdict; the others are "
        "not counted as right."
    )
    if clustered:
        how = tr(
            "Some cases share a patient or study: {level:.0%} intervals resample patients (BCa, "
            "{resamples:,} resamples), and a share of 0% or 100% has Wilson's interval with each "
            "patient counted once; the tests take cases as independent."
        )
    else:
        how = tr("{level:.0%} intervals are Wilson's, those of differences are bootstrapped.")
    return f"{words} {how.format(level=LEVEL, resamples=RESAMPLES)}"


def comparison_caption(first: str = "A", second: str = "B") -> str:
    """Say how two models are compared; both names as they stand beside the table."""
    return tr(
        "Two models are compared over the cases in which both can be judged: "
        "McNemar's exact test, p adjusted by Benjamini-Hochberg over all "
        "failures and pairs here. Differences are {first} minus {second}; of the "
        "pairs, those are counted in which only one of the two failed."
    ).format(first=first, second=second)


def group_caption(kind: str, *, any_small: bool) -> str:
    """Say what n is in a table of groups; ``kind`` is ``finding``, ``region`` or ``property``.

    ``any_small`` says whether a group is small: only then there is a word on small ones.
    """
    if kind == "property":
        n = tr("n: answers that can be judged in the cases of the group.")
    else:
        n = tr(
            "n: all answers that can be judged, whatever they are about. The {kind} "
            "is the one that the rule found in its evidence; failures without one "
            "stand as not known. An answer can stand in several rows."
        ).format(kind=kind)
    words = tr("Most failures first. {n}").format(n=n)
    if not any_small:
        return words
    small = tr("Groups with n under {small} are small: read them as cases.").format(small=SMALL)
    return f"{words} {small}"

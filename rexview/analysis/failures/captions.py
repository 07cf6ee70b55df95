"""What stands under the numbers of failures: what can be judged, by whom, by which test.

All of it is plain text.
"""

from __future__ import annotations

from typing import Final

from rexview.analysis.engine import Scanned
from rexview.analysis.failures.so_far import so_far_caption
from rexview.stats.bootstrap import LEVEL, RESAMPLES
from rexview.vocab import READERS_ONLY

COUNTED: Final[dict[str, tuple[str, tuple[str, ...]]]] = {
    "any": ("Rule or reader", ()),
    "rule": ("Rule", ("detector", "both")),
    "reader": ("Reader", ("reader", "both")),
    "both": ("Rule and reader", ("both",)),
}
"""Whose word counts, by the word in the link: its name on screen, the filter's sources."""
COUNTED_MEANING: Final = {
    "any": "Counted: answers that a rule flagged or a reader marked. Rejected flags do not count.",
    "rule": "Counted: answers that a rule flagged, confirmed or not.",
    "reader": "Counted: answers that a reader marked or confirmed.",
    "both": "Counted: answers that a rule flagged and a reader confirmed.",
}
_JUDGED_BY: Final = {
    "laterality_error": "answers that name a side, or draw a box, which the report, a reference "
    "box or the answer itself can contradict",
    "token_limit": "answers with a finish reason, token counts or a text",
    "execution_gap": "answers with a Process and an Execution score",
    "hallucination": "answers with a text and a report beside them",
    "omission": "answers with a text and a report beside them, but for choice questions",
    "wrong_type": "answers with a text and a report beside them, but for choice questions",
    "side_incomplete": "answers that name a side, and a report beside them that does",
    "boxes_missing": "answers to questions that ask for boxes, of models that draw them",
    "box_misplaced": "answers with boxes or an Image Content score",
    "box_unrelated": "answers with boxes or an Image Style score",
    "overconfident": "answers with a Synthesis score",
    "verbose": "scored answers with others to compare their length with",
    "terse": "scored answers with others to compare their length with",
    "failed_extraction": "answers to choice questions",
    "wrong_explanation": "answers of which a reader said whether the reason is right",
    "disagreement": "answers that two readers scored",
}
SMALL: Final = 10
"""Groups of fewer answers that can be judged are marked as small."""


def counted_caption(counted: str, scanned: Scanned) -> str:
    """Say whose word counts (a word of :data:`COUNTED`), and that numbers are so far."""
    return " ".join(filter(None, (so_far_caption(scanned), COUNTED_MEANING[counted])))


def judged_caption(failure: str, *, short: bool = False) -> str:
    """Say which answers can be judged for a failure; ``short`` leaves the readers' word out."""
    words = f"Can be judged: {_JUDGED_BY[failure]}"
    if short:
        return words
    if failure in READERS_ONLY:
        return f"{words}."
    return f"{words}, and those that a reader spoke about."


def judged_share_caption(judged: int, answers: int) -> str:
    """Say how many answers can be judged: ``26 of 40 can be judged``."""
    if judged == answers:
        return f"all {answers:,} can be judged"
    return f"{judged:,} of {answers:,} can be judged"


def rate_caption(*, clustered: bool) -> str:
    """Say how shares, intervals and tests are made."""
    words = "Shares are of the answers that can be judged; the others are not counted as right. "
    if clustered:
        words += (
            f"Some cases share a patient or study: {LEVEL:.0%} intervals resample patients "
            f"(BCa, {RESAMPLES:,} resamples), and a share of 0% or 100% has Wilson's interval with "
            "each patient counted once; the tests take cases as independent."
        )
    else:
        words += f"{LEVEL:.0%} intervals are Wilson's, those of differences are bootstrapped."
    return words


def comparison_caption(first: str = "A", second: str = "B") -> str:
    """Say how two models are compared; both names as they stand beside the table."""
    return (
        "Two models are compared over the cases in which both can be judged: McNemar's exact test, "
        "p adjusted by Benjamini-Hochberg over all failures and pairs here. "
        f"Differences are {first} minus {second}; of the pairs, those are counted in which only "
        "one of the two failed."
    )


def group_caption(kind: str) -> str:
    """Say what n is in a table of groups; ``kind`` is ``finding``, ``region`` or ``property``."""
    if kind == "property":
        n = "n: answers that can be judged in the cases of the group."
    else:
        n = (
            f"n: all answers that can be judged, whatever they are about. The {kind} is the one "
            "that the rule found in its evidence; failures without one stand as not known."
        )
    return f"Most failures first. {n} Groups with n under {SMALL} are small: read them as cases."

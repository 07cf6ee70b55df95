"""What stands under the numbers of choices: what is counted, by which method, how many.

All of it is plain text.
"""

from __future__ import annotations

from typing import Final

from rexview.analysis.multiple_choice.tables import (
    MOST_RESAMPLED,
    SMALL,
    ChoiceGroups,
    ChoiceTables,
)
from rexview.stats.bootstrap import LEVEL, RESAMPLES
from rexview.words import counted, tr, trn

COUNTED: Final = tr(
    "Right of all answers to questions whose right option is known. An "
    "answer without a usable choice counts as wrong; without them: right of "
    "the others."
)
KAPPA: Final = tr(
    "Cohen's kappa of the options chosen (not weighted), over the questions "
    "in which both chose one: 1 is always the same option, 0 no more than by "
    "chance. It says nothing of who is right."
)


def interval_caption(*, clustered: bool) -> str:
    """Say how the intervals are made."""
    if clustered:
        return tr(
            "Questions share patients or studies: {level:.0%} intervals resample "
            "these (BCa, {resamples:,} resamples); where none is shared they are "
            "Wilson's, and a share of 0% or 100% has Wilson's with each patient "
            "counted once."
        ).format(level=LEVEL, resamples=RESAMPLES)
    return tr(
        "{level:.0%} intervals are Wilson's: no two questions share a patient or study."
    ).format(level=LEVEL)


def accuracy_caption(tables: ChoiceTables) -> str:
    """Say what stands in the table of accuracies."""
    words = [COUNTED, interval_caption(clustered=tables.clustered)]
    if tables.readers:
        words.append(tr("Readers stand apart: they may have answered some of the questions only."))
    if tables.counts.unmarked:
        unmarked = counted(tables.counts.unmarked, "question")
        words.append(
            tr("In no number: {unmarked} without a right option.").format(unmarked=unmarked)
        )
    return " ".join([*words, small_caption()])


def small_caption() -> str:
    """Say what a grey number means."""
    return tr("Grey: fewer than {small} questions, to be read as single cases.").format(small=SMALL)


def groups_caption(groups: ChoiceGroups) -> str:
    """Say what is laid out by a property."""
    words = [COUNTED, tr("Under each share: right of answered, and the 95% interval.")]
    if groups.by.field == "tags":
        words.append(tr("A question with several values counts in each."))
    if groups.left_out:
        words.append(
            trn(
                "{left_out:,} value with fewer questions is left out.",
                "{left_out:,} values with fewer questions are left out.",
                groups.left_out,
            ).format(left_out=groups.left_out)
        )
    return " ".join([*words, small_caption()])


def comparison_caption(n_raters: int, *, readers: bool = False) -> str:
    """Say how two raters are compared."""
    who = tr("a model and a reader") if readers else tr("two models")
    words = tr(
        "Over the questions that {who} both answered, failed choices as wrong: "
        "McNemar's exact test, p adjusted by Benjamini-Hochberg over all pairs "
        "here; it takes questions as independent. The difference is A minus B, "
        "in percentage points"
    ).format(who=who)
    if n_raters > MOST_RESAMPLED:
        return tr("{words}, of more than {most_resampled} raters without intervals.").format(
            words=words, most_resampled=MOST_RESAMPLED
        )
    return tr("{words}, its interval made as above.").format(words=words)


def read_caption(questions: int) -> str:
    """Say which questions models and readers are compared on."""
    return tr(
        "The {questions:,} questions that a reader answered. Each rater's n are "
        "those of them that this rater answered; readers are people, not models."
    ).format(questions=questions)

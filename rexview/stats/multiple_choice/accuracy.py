"""How often raters chose right, and whether one chooses right more often than another.

Definitions (docs: statistics):

- **n** are the questions, with a right option that is known, that the rater answered. Of a model a
  failed choice is in n and not correct; ``without_failed`` leaves it out.
- Intervals are those of every share here (:func:`rexview.stats.failure_rates.rate`).
- Two raters are compared over the questions that both answered, failed choices as wrong: McNemar's
  exact test, p adjusted by Benjamini-Hochberg over the tests of one family.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from rexview.stats.bootstrap import RESAMPLES, Interval
from rexview.stats.failure_rates import (
    FailureTest,
    Judged,
    PairTally,
    Rate,
    failure_tests,
    rate,
    tally_pair,
)
from rexview.stats.multiple_choice.chosen import NOT_ASKED, ChoiceTally, Chosen
from rexview.words import tr

NO_SHARED = tr("No question was answered by both.")
NO_DISCORDANCE = tr("In no question one of the two is right and the other wrong: nothing to test.")


@dataclass(frozen=True)
class Accuracy:
    """``rate.flagged`` of ``rate.n`` questions are right; ``failed`` of them have no usable choice.

    ``without_failed`` is the rate over the others.
    """

    rate: Rate
    failed: int
    without_failed: Rate

    @property
    def wrong(self) -> int:
        """Usable choices of a wrong option."""
        return self.rate.n - self.rate.flagged - self.failed


@dataclass(frozen=True)
class ChoiceTest:
    """Two raters over the ``n_pairs`` questions that both answered.

    ``only_a`` and ``only_b`` are questions that only that rater got right, ``both`` those that both
    did. ``difference`` is the accuracy of a minus that of b, -1 to 1; ``left_out`` questions were
    answered by one of the two only.
    """

    task: str | None
    rater_a: int
    rater_b: int
    n_pairs: int
    only_a: int
    only_b: int
    both: int
    difference: float | None
    interval: Interval
    p: float | None
    p_adj: float | None
    left_out: int
    why: str | None


def accuracy(tally: ChoiceTally, *, resamples: int = RESAMPLES) -> Accuracy:
    """Work out an accuracy with its intervals; with 0 resamples without."""
    whole = rate(tally.patients, resamples=resamples)
    read = rate(tally.patients_read, resamples=resamples) if tally.failed else whole
    return Accuracy(whole, tally.failed, read)


def pair_of(chosen: Chosen, a: int, b: int) -> PairTally:
    """Count the questions that the raters at two places answered, by who was right."""
    return tally_pair(_right(chosen, a), _right(chosen, b))


def _right(chosen: Chosen, place: int) -> Judged:
    option = chosen.option[:, place]
    asked = np.flatnonzero(option != NOT_ASKED)
    right = option[asked] == chosen.right[asked]
    return Judged(asked, right, chosen.patient[asked])


Pair = tuple[str | None, int, int]
"""A task (None: all questions) and the places of two raters."""


def choice_tests(
    pairs: Mapping[Pair, PairTally], *, resamples: int = RESAMPLES
) -> tuple[ChoiceTest, ...]:
    """Compare raters; p values are adjusted over all pairs that are given together."""
    named = {(task or "", str(a), str(b)): pair for (task, a, b), pair in pairs.items()}
    found = failure_tests(named, resamples=resamples)
    return tuple(_test(test, *about) for test, about in zip(found, pairs, strict=True))


def _test(found: FailureTest, task: str | None, a: int, b: int) -> ChoiceTest:
    why = None if found.p is not None else NO_DISCORDANCE if found.n_pairs else NO_SHARED
    limits = found.interval if found.n_pairs else Interval(None, None, NO_SHARED)
    return ChoiceTest(
        task,
        a,
        b,
        n_pairs=found.n_pairs,
        only_a=found.only_a,
        only_b=found.only_b,
        both=found.both,
        difference=found.difference,
        interval=limits,
        p=found.p,
        p_adj=found.p_adj,
        left_out=found.left_out,
        why=why,
    )

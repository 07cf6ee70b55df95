"""Cohen's kappa between raters: whether two chose the same option, right or wrong.

The levels are the options' places (A, B, C, ...); questions without a usable choice of one of the
two are left out. Kappa is undefined where either chose one and the same place throughout, and is
then None with the reason, never 0 or 1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rexview.stats.bootstrap import Counts
from rexview.stats.multiple_choice.chosen import Chosen
from rexview.words import tr

NO_SHARED = tr("No question has a usable choice of both.")


@dataclass(frozen=True)
class ChoiceKappa:
    """Cohen's kappa of two raters over the ``n`` questions in which both chose an option.

    ``same`` of them have the same option. ``kappa`` is None with the reason in ``why``.
    """

    task: str | None
    rater_a: int
    rater_b: int
    n: int
    same: int
    kappa: float | None
    why: str | None

    @property
    def agreement(self) -> float | None:
        """Share of questions with the same option, 0 to 1."""
        return self.same / self.n if self.n else None


def option_table(chosen: Chosen, a: int, b: int) -> Counts:
    """Count questions by the option of the rater at place a (rows) and at b, shape (k, k)."""
    k = 1 + int(chosen.option.max(initial=0))
    of_a, of_b = chosen.option[:, a].astype(np.int64), chosen.option[:, b].astype(np.int64)
    both = (of_a >= 0) & (of_b >= 0)
    cells = of_a[both] * k + of_b[both]
    return np.bincount(cells, minlength=k * k).reshape(k, k)


def kappa_of(task: str | None, a: int, b: int, table: Counts) -> ChoiceKappa:
    """Work out kappa from a table of :func:`option_table`."""
    n, same = int(table.sum()), int(np.trace(table))
    why = None
    if not n:
        why = NO_SHARED
    elif min(np.count_nonzero(table.sum(axis=axis)) for axis in (0, 1)) < 2:
        why = tr(
            "One of the two chose the same place throughout: without variance it is undefined."
        )
    if why:
        return ChoiceKappa(task, a, b, n, same, None, why)
    from sklearn.metrics import cohen_kappa_score  # slow to import

    rows, columns = np.nonzero(table)
    kappa = cohen_kappa_score(
        rows, columns, labels=np.arange(len(table)), sample_weight=table[rows, columns]
    )
    return ChoiceKappa(task, a, b, n, same, float(kappa), None)

"""The worst failure of each case of an agenda: for leaders only."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rexview.analysis import CaseFilter
from rexview.schema import ReviewSet
from rexview.ui.web.server import review_sets


def worst_failures(
    review_set: ReviewSet, cases: Sequence[str], *, with_models: bool = True
) -> dict[str, dict[str, Any]]:
    """Return the worst failure of each case that has one, as ``words`` and ``harm``.

    For leaders only: followers see nothing of a case before it is shown. Without ``with_models`` no
    model is named: for a screen that a room sees.
    """
    names = review_set.model_names
    return {
        card.case.id: {
            "words": f"{card.harm} · {names[card.harm_model]}" if with_models else card.harm,
            "harm": card.harm_level,
        }
        for card in review_sets.engine(review_set).cards(CaseFilter(), cases)
        if card.harm_level is not None
    }

"""What failed worst in the cases of an agenda: for those who lead only."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rexview.analysis import CaseFilter
from rexview.schema import ReviewSet
from rexview.ui.web.server import review_sets


def headlines(
    review_set: ReviewSet, cases: Sequence[str], *, with_models: bool = True
) -> dict[str, dict[str, Any]]:
    """Return what failed worst in each case where something did, as ``words`` and ``harm``.

    Others may be following, and nothing is told them before it is shown. Without ``with_models``
    no model is named: for a screen that a room sees.
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

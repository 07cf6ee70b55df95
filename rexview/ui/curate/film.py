"""What the parts of the Curate page share: the film of a study, and how their pads look."""

from __future__ import annotations

from typing import Final

from rexview.analysis.case.record import CasePage
from rexview.schema import ReviewSet

STYLES: Final = ("pad/assets/pad.css", "pad/assets/task_pad.css", "curate/assets/cards.css")


def page_of(review_set: ReviewSet, case_id: str) -> CasePage | None:
    """Return a case as the page shows it: without answers; None where there is none."""
    case = review_set.case(case_id)
    return CasePage(case, (), (), {}, ()) if case else None

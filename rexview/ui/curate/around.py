"""The studies that the Curate page goes through, and the film that it shows of each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from rexview.analysis.case.record import CasePage
from rexview.schema import ReviewSet
from rexview.ui.viewer.case_payload import ViewerManner, shown_data


class _Listed(Protocol):
    """Studies in an order."""

    @property
    def review_set(self) -> ReviewSet: ...

    def position(self, case_id: str) -> Any: ...

    def page(self, start: int, size: int) -> Any: ...


Now = TypeVar("Now", bound=_Listed)


def page_of(review_set: ReviewSet, case_id: str) -> CasePage | None:
    """Return a case as the page shows it: without answers; None where there is none."""
    case = review_set.case(case_id)
    return CasePage(case, (), (), {}, ()) if case else None


@dataclass(frozen=True)
class Around(Generic[Now]):
    """The studies that a browser may turn to."""

    now: Now

    def position(self, case_id: str) -> Any:
        """Return where a study stands."""
        return self.now.position(case_id)

    def page(self, start: int, size: int) -> Any:
        """Return the studies from a place on, from 0."""
        return self.now.page(start, size)

    def turned_json(self, page: CasePage, pad: Any, manner: ViewerManner) -> dict[str, Any]:
        """Return what the browser shows of a study: film and pad."""
        viewer = shown_data(self.now.review_set, page, self.now.position, manner)
        return {"case": page.case.id, "viewer": viewer.to_json(manner.height), "pad": pad}

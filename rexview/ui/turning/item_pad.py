"""A pad on its page: requests of its script, and the items that a browser may turn to."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

import streamlit as st

from rexview.analysis.case.case_page import CasePage
from rexview.schema import ReviewSet
from rexview.ui.turning.ticket import follow_browser
from rexview.ui.viewer.case_payload import ViewerSettings, page_viewer_data


def draw_pad(pad: Callable[..., Any], data: Mapping[str, Any], *, key: str) -> None:
    """Show a pad; its script may request another item ("go"), or new data ("refresh")."""

    def go() -> None:
        follow_browser(st.session_state[key].get("go"))

    pad(key=key, data=data, on_go_change=go, on_refresh_change=lambda: None)


class _Listed(Protocol):
    """Items in an order."""

    @property
    def review_set(self) -> ReviewSet: ...

    def position(self, item: str, /) -> Any: ...

    def page(self, start: int, size: int) -> Any: ...


Now = TypeVar("Now", bound=_Listed)


@dataclass(frozen=True)
class TurnableItems(Generic[Now]):
    """The items that a browser may turn to."""

    now: Now

    def position(self, item: str) -> Any:
        """Return the position of an item."""
        return self.now.position(item)

    def page(self, start: int, size: int) -> Any:
        """Return at most ``size`` items from index ``start``."""
        return self.now.page(start, size)

    def turned_json(self, page: CasePage, pad: Any, manner: ViewerSettings) -> dict[str, Any]:
        """Return the browser's data of an item: viewer and pad."""
        viewer = page_viewer_data(self.now.review_set, page, self.now.position, manner)
        return {"case": page.case.id, "viewer": viewer.to_json(manner.height), "pad": pad}

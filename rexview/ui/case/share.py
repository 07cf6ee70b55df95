"""The button that copies the link to what is on screen."""

from __future__ import annotations

from rexview.schema import ReviewSet
from rexview.ui.components import component
from rexview.ui.link import keys as link_keys
from rexview.ui.server import review_sets


def share_button(review_set: ReviewSet) -> None:
    """Put the button on the page; the link that it copies names the review set."""
    name = {"key": link_keys.QUERY_SET, "name": review_sets.set_id(review_set.folder)}
    button = component(
        "rexview_share", "case/share.js", style="case/share.css", isolate_styles=True
    )
    button(key="share", width="content", data={"set": name})

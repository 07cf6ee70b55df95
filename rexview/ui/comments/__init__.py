"""The panel of comments: a Streamlit component, and what passes between it and the page."""

from rexview.ui.comments.component import comments_panel
from rexview.ui.comments.messages import Message, Spot, read_messages

__all__ = ["Message", "Spot", "comments_panel", "read_messages"]

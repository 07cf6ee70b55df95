"""The score pad: a Streamlit component of our own, in plain JavaScript.

What a reader says is kept in the browser until the server has confirmed it (``assets/outbox.js``).
"""

from rexview.ui.score_cases.pad.component import score_pad

__all__ = ["score_pad"]

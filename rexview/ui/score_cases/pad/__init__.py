"""The score pad: a Streamlit component of our own, in plain JavaScript.

Python's part says what is shown (:mod:`.payload`) and puts it on the page (:mod:`.component`). What
a reader says is kept in the browser until the server has confirmed it (``assets/outbox.js``).
"""

from rexview.ui.score_cases.pad.component import score_pad
from rexview.ui.score_cases.pad.payload import PadAnswer, PadCase, PadData, PadReport, PadWorklist

__all__ = [
    "PadAnswer",
    "PadCase",
    "PadData",
    "PadReport",
    "PadWorklist",
    "score_pad",
]

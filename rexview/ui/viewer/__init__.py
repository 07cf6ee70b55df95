"""The radiograph viewer: a Streamlit component of our own, in plain JavaScript.

Python's part says what is shown (:mod:`.payload`) and puts it on the page (:mod:`.component`);
everything that happens to the picture happens in the browser (``assets/``).
"""

from rexview.ui.viewer.component import VIEWER_KEY, radiograph_viewer
from rexview.ui.viewer.payload import (
    BoxGroup,
    Neighbours,
    PixelLink,
    ViewerBox,
    ViewerData,
    ViewerImage,
    on_request,
    with_keys,
)

__all__ = [
    "VIEWER_KEY",
    "BoxGroup",
    "Neighbours",
    "PixelLink",
    "ViewerBox",
    "ViewerData",
    "ViewerImage",
    "on_request",
    "radiograph_viewer",
    "with_keys",
]

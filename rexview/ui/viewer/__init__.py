"""The radiograph viewer: a Streamlit component of our own, in plain JavaScript.

Python's part says what is shown (:mod:`.payload`) and puts it on the page (:mod:`.component`);
everything that happens to the picture happens in the browser (``assets/``).
"""

from rexview.ui.viewer.viewer_component import (
    VIEWER_KEY,
    BoxGroup,
    Neighbours,
    PixelLink,
    ViewerBox,
    ViewerData,
    ViewerImage,
    on_request,
    radiograph_viewer,
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

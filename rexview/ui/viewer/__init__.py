"""The radiograph viewer, a Streamlit component in plain JavaScript.

:mod:`.case_payload` builds the viewer's data, :mod:`.viewer_component` puts it on the page.
The scripts in ``assets/`` do the rest in the browser.
"""

from rexview.ui.viewer.viewer_component import (
    VIEWER_KEY,
    BoxGroup,
    Neighbours,
    PixelLink,
    ViewerBox,
    ViewerData,
    ViewerImage,
    assign_keys,
    hide_until_requested,
    radiograph_viewer,
)

__all__ = [
    "VIEWER_KEY",
    "BoxGroup",
    "Neighbours",
    "PixelLink",
    "ViewerBox",
    "ViewerData",
    "ViewerImage",
    "assign_keys",
    "hide_until_requested",
    "radiograph_viewer",
]

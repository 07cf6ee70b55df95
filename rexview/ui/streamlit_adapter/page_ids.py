"""The ids and classes of Streamlit's page that our style sheets and scripts reach for.

They belong to Streamlit, which may rename them in any release: a rule that no longer meets its
element does nothing, and nobody is told. So no other may be used, and a test looks for each.
"""

from __future__ import annotations

from typing import Final

CLASSES: Final = frozenset(
    {
        "stApp",
        "stButton",
        "stButtonGroup",
        "stCheckbox",
        "stColumn",
        "stDownloadButton",
        "stElementContainer",
        "stExpander",
        "stHtml",
        "stMain",
        "stMainBlockContainer",
        "stMultiSelect",
        "stNumberInput",
        "stPageLink",
        "stPopover",
        "stRadio",
        "stSelectbox",
        "stSlider",
        "stTextInput",
        "stToast",
        "stVegaLiteChart",
        "stVerticalBlock",
    }
)
TEST_IDS: Final = frozenset(
    {
        "stAppViewContainer",
        "stButtonGroup",
        "stCaptionContainer",
        "stCode",
        "stColumn",
        "stElementToolbar",
        "stElementToolbarButton",
        "stExpander",
        "stExpanderDetails",
        "stHeader",
        "stHorizontalBlock",
        "stLayoutWrapper",
        "stMain",
        "stPageLink-NavLink",
        "stSidebar",
        "stSidebarHeader",
        "stSlider",
        "stToolbar",
        "stTooltipHoverTarget",
        "stVerticalBlock",
        "stWidgetLabel",
    }
)
"""Values of ``data-testid``."""

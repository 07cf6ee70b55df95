"""Additions to a page's HTML head: its server's address, and the scripts it will need.

Otherwise the browser would find each script only after Streamlit has started, connected and run the
page, and each of its imports only after that, layer by layer.
"""

from __future__ import annotations

import html
import json
from functools import lru_cache
from typing import Final

from rexview.ui.web.components import collect_imports, module_address
from rexview.ui.web.link.pages import (
    ADDRESSES,
    PAGE_ADJUDICATE,
    PAGE_BROWSE,
    PAGE_CASE,
    PAGE_CURATE,
    PAGE_MEETING,
    PAGE_OVERVIEW,
    PAGE_SCORE,
)
from rexview.ui.web.server import server_state, warm_up
from rexview.ui.web.streamlit_adapter.page_markup import (
    BLOCK_STREAMLIT_KEYS,
    SERVER_ADDRESS,
    lazy_parts,
)
from rexview.words import script_texts

_EVERYWHERE: Final = ("web/app/assets/phone_pages.js", "web/saving/assets/waiting.js")
_VIEWER: Final = ("viewer/assets/viewer.js", "comments/assets/comments.js")
_TOUR: Final = "guide/assets/tour.js"
_MODULES: Final = {
    PAGE_OVERVIEW: ("web/streamlit_adapter/in_app.js", _TOUR),
    PAGE_CASE: (
        *_VIEWER,
        _TOUR,
        "answers/evidence.js",
        "answers/verdicts.js",
        "case/share.js",
        "turning/assets/case_part.js",
        "meeting/pins/assets/pins.js",
        "meeting/decisions/assets/case_decisions.js",
    ),
    PAGE_BROWSE: ("web/streamlit_adapter/in_app.js", _TOUR, "meeting/pins/assets/pins.js"),
    PAGE_MEETING: ("web/streamlit_adapter/in_app.js", "meeting/agenda/assets/agenda.js"),
    PAGE_SCORE: (
        *_VIEWER,
        "score_cases/pad/assets/pad.js",
        "score_cases/tasks/assets/questions.js",
    ),
    PAGE_ADJUDICATE: (*_VIEWER, "adjudicate/assets/consensus.js"),
    PAGE_CURATE: (
        "viewer/assets/viewer.js",
        "curate/assets/desk.js",
        "curate/sample/assets/sample.js",
    ),
}
"""The modules of our components by page; each is sent with its imports."""
_OTHERWISE: Final = ("web/streamlit_adapter/in_app.js",)
_PARTS_EVERYWHERE: Final = ("BidiComponent", "Html")
_PARTS: Final = {
    PAGE_OVERVIEW: ("TextInput", "ButtonGroup"),
    PAGE_BROWSE: ("TextInput", "ButtonGroup", "Selectbox", "Pagination"),
    PAGE_CASE: ("Button", "DownloadButton", "PageLink", "Multiselect", "Selectbox"),
}
"""Streamlit's parts by page; Streamlit shows no elements of a page before all are loaded."""


def page_head(path: str) -> bytes:
    """Return the additions to the head of the page at a path; empty if it is not our page.

    The path is that of the request, with the app's base path.
    """
    address = path.removeprefix(server_state.base_path()).strip("/")
    page = next((file for file, known in ADDRESSES.items() if known == address), None)
    if page not in (None, PAGE_CASE):  # a new server first shows the radiograph of a case
        warm_up.request_pages()
    return b"" if page is None else _head_of(page)


@lru_cache(maxsize=64)
def _head_of(page: str) -> bytes:
    entries = (*_EVERYWHERE, *_MODULES.get(page, _OTHERWISE))
    modules = sorted({name for entry in entries for name in collect_imports(entry)})
    scripts = [*lazy_parts(*_PARTS_EVERYWHERE, *_PARTS.get(page, ()))]
    scripts += map(module_address, modules)
    links = [f'<link rel="modulepreload" href="./{html.escape(one)}">' for one in scripts]
    return "\n".join([SERVER_ADDRESS, BLOCK_STREAMLIT_KEYS, *_words(), *links, ""]).encode()


def _words() -> list[str]:
    """Return the scripts' texts in the server's language, which they read when they load."""
    words = script_texts()
    if not words:
        return []
    text = json.dumps(words, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
    return [f'<script id="rexview-words" type="application/json">{text}</script>']

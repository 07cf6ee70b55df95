"""What Streamlit's page is told in its head: its server, its scripts, and to have no own keys."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Final

from streamlit.file_util import get_static_dir

_IMPORTED: Final = re.compile(r'(?:from|import)"\./([\w.-]+\.js)"')


SERVER_ADDRESS: Final = (
    "<script>window.__streamlit = {BACKEND_BASE_URL: new URL('.', location.href).href};</script>"
)
"""Tells the page where its server is: where its scripts are, which it names relative to itself.

Otherwise a page with an address of its own, such as ``/case``, asks there first, is refused, and
waits before it asks again.
"""

OUR_KEYS_ONLY: Final = """<script>
document.addEventListener("keydown", (event) => {
  if (/^[rc]$/i.test(event.key)) event.stopImmediatePropagation();
});
</script>"""
"""Keeps the keys R and C from Streamlit, which runs the script again or clears its cache with them.

It listens on the document as Streamlit does, and before it, as a script of the head runs first.
Whoever listens anywhere else, or on the way down to the target, still gets these keys: ours for R
and C do. What the browser does with Ctrl and these keys stays.
"""


@cache
def lazy_parts(*names: str) -> tuple[str, ...]:
    """Return the files of parts such as ``BidiComponent`` and all that they import.

    Streamlit asks for a part only when a page shows such an element for the first time. Paths are
    relative to the app. Left out is what Streamlit's page names itself, and a part that this
    Streamlit does not have.
    """
    static = Path(get_static_dir())
    named = (static / "index.html").read_text(encoding="utf-8")
    waiting = [file for name in names for file in (static / "static" / "js").glob(f"{name}.*.js")]
    found: dict[str, None] = {}
    while waiting:
        file = waiting.pop()
        address = f"static/js/{file.name}"
        if address not in found and address not in named:
            found[address] = None
            imported = _IMPORTED.findall(file.read_text(encoding="utf-8"))
            waiting += [file.with_name(name) for name in imported]
    return tuple(found)

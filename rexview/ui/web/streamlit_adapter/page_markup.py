"""Streamlit's HTML page: its head, its theme, and the ids that our styles and scripts use."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Final

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit.file_util import get_static_dir

from rexview.ui.web.app.security_headers import POLICY, page_policy

_IMPORTED: Final = re.compile(r'(?:from|import)"\./([\w.-]+\.js)"')


SERVER_ADDRESS: Final = (
    "<script>window.__streamlit = {BACKEND_BASE_URL: new URL('.', location.href).href};</script>"
)
"""Tells the page its server's address: the folder of its scripts, which it names relative to
itself.

Otherwise a page with its own address, such as ``/case``, first asks under that address, is refused,
and waits before it tries again.
"""

BLOCK_STREAMLIT_KEYS: Final = """<script>
document.addEventListener("keydown", (event) => {
  if (/^[rc]$/i.test(event.key)) event.stopImmediatePropagation();
});
</script>"""
"""Keeps the keys R and C from Streamlit, which would rerun the script or clear its cache.

It listens on the document as Streamlit does, but earlier, because scripts in the head run first.
Listeners elsewhere, or in the capture phase, still get these keys: our shortcuts for R and C work.
The browser's own actions for Ctrl and these keys remain.
"""


@cache
def lazy_parts(*names: str) -> tuple[str, ...]:
    """Return the files of parts such as ``BidiComponent`` and all that they import.

    Streamlit loads a part only when a page shows such an element for the first time. Paths are
    relative to the app. Files that Streamlit's page names itself are left out, and so is a part
    that this Streamlit does not have.
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


# The ids and classes of Streamlit's page that our style sheets and scripts use.
#
# Streamlit may rename them in any release. A rule that no longer matches an element then does
# nothing, without an error. So no others may be used, and a test checks each.

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


# Dark by default, light when chosen: Streamlit's settings cannot express this.
#
# With a dark and a light theme configured, Streamlit follows the system, and stores a choice for
# each page of the app separately. A reading room is dark whatever the system prefers, and a choice
# from the menu should apply to every page. So the app's HTML gets a small script that stores one
# choice, dark by default, and passes it to Streamlit before Streamlit starts. It also sets the
# color scheme of the document, so that ``light-dark()`` in our styles agrees everywhere.

THEME_KEY: Final = "rexview-theme"
"""The browser's key for the choice: ``"Dark"``, ``"Light"`` or ``"System"``, as JSON."""

STREAMLIT_THEME_KEY: Final = "stActiveTheme-${location.pathname}-v2"
"""Streamlit's keys for it: one for each page, as a template of JavaScript."""

_SCRIPT: Final = f"""<script>
try {{
  const ours = {THEME_KEY!r};
  const theirs = `{STREAMLIT_THEME_KEY}`;
  const draw = (look) => {{ // Streamlit says it to its root only: popovers and dialogs lie outside
    const scheme = {{ '"Dark"': "dark", '"Light"': "light" }}[look] ?? "light dark";
    document.documentElement.style.colorScheme = scheme;
  }};
  const kept = localStorage.getItem(ours) ?? '"Dark"';
  localStorage.setItem(theirs, kept);
  draw(kept);
  const set = Storage.prototype.setItem;
  Storage.prototype.setItem = function (key, value) {{
    set.call(this, key, value);
    if (!String(key).startsWith("stActiveTheme-")) return;
    set.call(this, ours, value);
    draw(value);
  }};
}} catch {{}} // no storage in this browser: the system's theme then
</script>
""".encode()


class DefaultDarkTheme:
    """ASGI middleware that adds the script to the app's HTML page and changes nothing else.

    ``more`` returns HTML for the path of a request, which is added at the end of the head, after
    what Streamlit needs first.
    """

    def __init__(self, app: ASGIApp, more: Callable[[str], bytes] = lambda path: b"") -> None:
        self.app = app
        self.more = more

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http" or not _wants_page(scope):
            await self.app(scope, receive, send)
            return
        headers = [(name, value) for name, value in scope["headers"] if name != b"accept-encoding"]
        more = self.more(scope["path"])
        adding = _HeadInserter(send, Headers(scope=scope).get("host"), more)
        await self.app({**scope, "headers": headers}, receive, adding)


def _wants_page(scope: Scope) -> bool:
    accepted = dict(scope["headers"]).get(b"accept", b"")
    return scope["method"] == "GET" and b"text/html" in accepted


class _HeadInserter:
    """Forward a response; an HTML page is buffered first to extend its head."""

    def __init__(self, send: Send, host: str | None, more: bytes) -> None:
        self.send = send
        self.host = host
        self.more = more
        self.start: Message | None = None
        self.body = b""

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            kind = MutableHeaders(raw=message["headers"]).get("content-type", "")
            if kind.startswith("text/html") and message["status"] == 200:
                self.start = message
                return
        elif self.start is not None and message["type"] == "http.response.body":
            self.body += message.get("body", b"")
            if message.get("more_body"):
                return
            message = await self._finish(self.start)
        await self.send(message)

    async def _finish(self, start: Message) -> Message:
        body = self.body.replace(b"<head>", b"<head>\n" + _SCRIPT, 1)
        body = body.replace(b"</head>", self.more + b"</head>", 1)
        headers = MutableHeaders(raw=list(start["headers"]))
        headers["content-length"] = str(len(body))
        headers[POLICY] = page_policy(self.host, body)  # it must name the inline scripts
        for name in ("etag", "last-modified"):
            if name in headers:
                del headers[name]
        await self.send({**start, "headers": headers.raw})
        return {"type": "http.response.body", "body": body}

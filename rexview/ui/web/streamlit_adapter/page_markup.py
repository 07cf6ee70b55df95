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


# The ids and classes of Streamlit's page that our style sheets and scripts reach for.
#
# They belong to Streamlit, which may rename them in any release: a rule that no longer meets its
# element does nothing, and nobody is told. So no other may be used, and a test looks for each.

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


# Dark by default, light when chosen: what Streamlit's settings cannot say.
#
# With a dark and a light theme configured Streamlit follows the system, and it remembers a choice
# for each page of the app apart. A reading room is dark whatever the system says, and a choice
# made in the menu should hold on every page. So the app's HTML gets a small script that keeps one
# choice, dark until another is made, and hands it to Streamlit before that starts. The whole
# document is told, too, so that ``light-dark()`` in our styles means the same everywhere.

THEME_KEY: Final = "rexview-theme"
"""Where the browser keeps the choice: ``"Dark"``, ``"Light"`` or ``"System"``, as JSON."""

THEIR_KEY: Final = "stActiveTheme-${location.pathname}-v2"
"""Where Streamlit keeps it: one for each page, as a template of JavaScript."""

_SCRIPT: Final = f"""<script>
try {{
  const ours = {THEME_KEY!r};
  const theirs = `{THEIR_KEY}`;
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


class DarkByDefault:
    """ASGI middleware that adds the script to the app's HTML page and leaves all else alone.

    ``more`` gives HTML for the path of a request that is added at the end of the head: what
    Streamlit needs first stands before it.
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
        adding = _Adding(send, Headers(scope=scope).get("host"), more)
        await self.app({**scope, "headers": headers}, receive, adding)


def _wants_page(scope: Scope) -> bool:
    accepted = dict(scope["headers"]).get(b"accept", b"")
    return scope["method"] == "GET" and b"text/html" in accepted


class _Adding:
    """Sends a response on; an HTML page is gathered first, and its head gets what is added."""

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
        headers[POLICY] = page_policy(self.host, body)  # it has to name the inline scripts
        for name in ("etag", "last-modified"):
            if name in headers:
                del headers[name]
        await self.send({**start, "headers": headers.raw})
        return {"type": "http.response.body", "body": body}

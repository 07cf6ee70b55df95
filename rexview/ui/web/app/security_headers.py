"""What a browser may do with our responses: load from here only, embed nowhere, guess no types.

The Content-Security-Policy is the last defence after the escaping: even if somebody injects an
image or a script into a page, the browser cannot call another host with it. It must allow this for
Streamlit 1.67:

- ``style-src 'unsafe-inline'``: Streamlit and the data grid write styles into the page as they
  draw.
- ``script-src blob:``: a component's JavaScript is sent with the page and imported from a blob.
- ``script-src 'wasm-unsafe-eval'``: the protobuf reader computes with WebAssembly. Not
  ``unsafe-eval``: Streamlit draws Vega's charts with an interpreter.
- ``worker-src blob:``, ``img-src`` and ``font-src data:`` and ``blob:``: images that a page made
  itself (the viewer, chart exports), icons inside Streamlit's scripts.
- Inline scripts only by their hash: Streamlit's one line, and ours for the theme and the server's
  address.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterable
from typing import Final

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from rexview.words import tr

POLICY: Final = "content-security-policy"
_NOTHING: Final = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
_FILE_POLICY: Final = f"{_NOTHING}; sandbox"
"""For responses that are no page: a downloaded SVG opened in a tab runs no script as the app."""
_ALWAYS: Final = {
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",  # browsers that do not know frame-ancestors
    "referrer-policy": "same-origin",  # a link's filter may identify a person
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
}
_HOST: Final = re.compile(r"[A-Za-z0-9.-]+(:\d{1,5})?|\[[0-9A-Fa-f:]+\](:\d{1,5})?")
_INLINE_SCRIPT: Final = re.compile(rb"<script>(.*?)</script>", re.DOTALL)


def page_policy(host: str | None, page: bytes = b"") -> str:
    """Return the policy of a page (bytes of HTML) that was requested under a name (``Host``).

    Inline scripts are allowed by their hash: the HTML is ours and Streamlit's, and contains nothing
    from a file or a model. The name is included because older browsers do not count the websocket
    as ``'self'``.
    """
    streams = [f"ws://{host}", f"wss://{host}"] if host and _HOST.fullmatch(host) else []
    rules: dict[str, Iterable[str]] = {
        "default-src": ["'none'"],
        "script-src": ["'self'", "blob:", "'wasm-unsafe-eval'", *_hashes(page)],
        "style-src": ["'self'", "'unsafe-inline'"],
        "img-src": ["'self'", "data:", "blob:"],
        "font-src": ["'self'", "data:"],
        "connect-src": ["'self'", *streams],
        "worker-src": ["'self'", "blob:"],
        "manifest-src": ["'self'"],
        "base-uri": ["'none'"],
        "form-action": ["'self'"],
        "frame-ancestors": ["'none'"],
    }
    return "; ".join(" ".join([name, *sources]) for name, sources in rules.items())


def _hashes(page: bytes) -> list[str]:
    digests = (hashlib.sha256(script).digest() for script in _INLINE_SCRIPT.findall(page))
    return [f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests]


class SecurityHeaders:
    """Middleware that adds the headers to every response; the outermost one."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, and its response back with the headers."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        host = Headers(scope=scope).get("host")

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                message = {**message, "headers": list(message["headers"])}
                _add(MutableHeaders(raw=message["headers"]), host)
            await send(message)

        await self.app(scope, receive, with_headers)


def _add(headers: MutableHeaders, host: str | None) -> None:
    for name, value in _ALWAYS.items():
        headers[name] = value
    # a script needs the policy of pages: as a worker it uses its own policy
    script = "javascript" in headers.get("content-type", "")
    headers.setdefault(POLICY, page_policy(host) if script else _FILE_POLICY)


async def server_error(request: Request, error: Exception) -> Response:
    """Respond to a failed request: Starlette does this outside of all middleware."""
    answer = PlainTextResponse(tr("Something failed here; the server's log says what."), 500)
    _add(answer.headers, request.headers.get("host"))
    return answer

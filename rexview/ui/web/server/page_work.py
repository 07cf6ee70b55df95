"""Detects whether a page is being loaded, so that background work can yield to it.

The server imports this module before it answers, so nothing heavy is imported here.
"""

from __future__ import annotations

import time
from typing import Final

from starlette.types import ASGIApp, Receive, Scope, Send

from rexview.ui.web.streamlit_adapter.served_routes import HEALTH

_STANDS_S: Final = 1.0
"""Seconds that a browser draws after a request or a page's run before it requests more."""
_MOST_S: Final = 4.0
_THEN_S: Final = 2.0
"""Background work pauses for 4 s in a row at most, and then runs for 2 s in any case."""


class PageWork:
    """Records when a page was last worked on; thread-safe."""

    def __init__(self) -> None:
        self._begun = self._until = 0.0

    def note(self) -> None:
        """Record that a page is worked on now."""
        now = time.monotonic()
        if now - self._until > _THEN_S:
            self._begun = now
        self._until = max(self._until, min(now + _STANDS_S, self._begun + _MOST_S))

    def seconds_left(self) -> float:
        """Return the seconds for which other work should not start; 0 or less if it may."""
        return self._until - time.monotonic()


READY: Final = "/rexview/ready"
"""The address for monitoring the server, like Streamlit's own :data:`HEALTH`."""
PAGE_WORK: Final = PageWork()
"""The page work of this server."""


class PageWorkRecorder:
    """Middleware that records every request except those of monitoring."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on."""
        if scope["type"] != "lifespan" and not scope["path"].endswith((HEALTH, READY)):
            PAGE_WORK.note()
        await self.app(scope, receive, send)

"""Whether somebody waits for a page just now: what need not be done at once gives way to that.

The server imports this module before it answers: nothing heavy is imported here.
"""

from __future__ import annotations

import time
from typing import Final

from starlette.types import ASGIApp, Receive, Scope, Send

from rexview.ui.web.streamlit_adapter.served_routes import HEALTH

_STANDS_S: Final = 1.0
"""After a request or a page's run the browser draws for about so long, and then asks on."""
_MOST_S: Final = 4.0
_THEN_S: Final = 2.0
"""Who gives way does so for 4 s at a stretch at most, and then has 2 s whatever is asked for."""


class PageWork:
    """Knows when a page was worked on last; safe for several threads."""

    def __init__(self) -> None:
        self._begun = self._until = 0.0

    def note(self) -> None:
        """Note that a page is worked on now."""
        now = time.monotonic()
        if now - self._until > _THEN_S:
            self._begun = now
        self._until = max(self._until, min(now + _STANDS_S, self._begun + _MOST_S))

    def seconds_left(self) -> float:
        """Return for how many seconds others should begin nothing; 0 or less when they may."""
        return self._until - time.monotonic()


READY: Final = "/rexview/ready"
"""Asked by who watches the server, as Streamlit's own :data:`HEALTH` is."""
PAGE_WORK: Final = PageWork()
"""That of this server."""


class NotesPageWork:
    """Middleware that notes every request but those of who watches the server."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on."""
        if scope["type"] != "lifespan" and not scope["path"].endswith((HEALTH, READY)):
            PAGE_WORK.note()
        await self.app(scope, receive, send)

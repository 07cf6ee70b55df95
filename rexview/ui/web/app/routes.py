"""Our HTTP routes besides Streamlit's: images, the viewer's modules, entries.

There is also the server's readiness, which waits for nothing but the database.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import cache
from threading import Lock
from typing import Final

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import BaseRoute, Match, Route
from starlette.types import Receive, Scope, Send

from rexview.errors import RexviewError, SettingsError
from rexview.ui.web.access.request_checks import NO_STORE_HEADERS
from rexview.ui.web.components import serve_module
from rexview.ui.web.server import server_state, warm_up
from rexview.ui.web.server.page_work import READY
from rexview.words import tr

# Readiness of this server, for a proxy or a container engine.
#
# Streamlit reports that the process runs (``/_stcore/health``). This also checks the settings and
# the reviews database. Everybody may request it, so the messages contain no address and no name.

_KEPT_S: Final = 2.0
"""Seconds for which a result is reused, so that requests cannot keep the database busy."""
_OLD_S: Final = 15.0
"""Seconds that the database may take to answer before this is reported."""


@dataclass(frozen=True)
class _Readiness:
    reason: str
    at: float


_asking: Final = Lock()
_last: _Readiness | None = None


def readiness_problem() -> str:
    """Return one sentence that explains why pages cannot be served now; empty if they can.

    One request at a time waits for the database; others get the last known result meanwhile.
    """
    if not warm_up.is_done():
        warm_up.request_pages()
        return "The server is starting."
    known = _newest(_KEPT_S)
    if known is None and _asking.acquire(blocking=False):
        try:
            known = _ask()
        finally:
            _asking.release()
    known = known or _newest(_OLD_S)
    return known.reason if known else "The reviews database has not answered yet."


def _newest(seconds: float) -> _Readiness | None:
    """Return the last known result, unless it is older than ``seconds``."""
    known = _last
    return known if known is not None and time.monotonic() - known.at < seconds else None


def _ask() -> _Readiness:
    global _last
    _last = _Readiness(_reason(), time.monotonic())
    return _last


def _reason() -> str:
    try:
        server_state.requires_sign_in()
        url = server_state.settings().database_url
    except SettingsError:  # may name people and folders; every page shows it, and the log
        return "The settings cannot be used. The app's pages say which."
    if url is None:
        return ""  # each set has its own file, whose errors its pages report
    from sqlalchemy import literal, select

    from rexview.store.database.connection import open_reviews_database

    try:
        open_reviews_database(url).rows(select(literal(1)))
    except RexviewError as error:
        return str(error)
    return ""


class AppRoutes(BaseRoute):
    """All routes under ``rexview/``; the first request waits for their modules."""

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Match every HTTP request under this path."""
        below = f"{server_state.base_path()}/rexview/"
        ours = scope["type"] == "http" and scope["path"].startswith(below)
        return (Match.FULL if ours else Match.NONE), {}

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the response; 404 if there is no such route."""
        # a page needs dozens of modules: they do not wait for the other routes' imports
        routes = [one for one in _at_once() if one.matches(scope)[0] is Match.FULL]
        if not routes:
            pictures = await run_in_threadpool(_picture_routes)
            routes = [one for one in pictures if one.matches(scope)[0] is Match.FULL]
        routes = routes or await run_in_threadpool(_routes)
        for route in routes:
            match, found = route.matches(scope)
            if match is Match.FULL:
                scope.update(found)
                await route.handle(scope, receive, send)
                return
        refusal = PlainTextResponse(tr("There is nothing at this address."), 404, NO_STORE_HEADERS)
        await refusal(scope, receive, send)


@cache
def _at_once() -> tuple[Route, ...]:
    base = server_state.base_path()
    return (
        Route(f"{base}/rexview/assets/{{version}}/{{name:path}}", serve_module),
        Route(f"{base}{READY}", _serve_readiness),
    )


def _serve_readiness(_request: Request) -> PlainTextResponse:
    reason = readiness_problem()
    status = 503 if reason else 200
    return PlainTextResponse(f"{reason or 'Ready.'}\n", status, NO_STORE_HEADERS)


@cache
def _picture_routes() -> list[Route]:
    warm_up.wait_for_picture()
    from rexview.ui.web.app import image_routes

    return image_routes.routes()


@cache
def _routes() -> list[Route]:
    warm_up.wait()
    from rexview.ui.guide import guides as guide_route
    from rexview.ui.meeting.live import route as live_route
    from rexview.ui.meeting.live.rooms import ROOMS
    from rexview.ui.meeting.presenting import presented_case as payload
    from rexview.ui.web.app import case_routes
    from rexview.ui.web.saving import route as saving_route

    routes = [*case_routes.routes(), *saving_route.routes(ROOMS.hides)]
    return [*routes, *live_route.routes(payload), *guide_route.routes()]

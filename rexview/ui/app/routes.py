"""HTTP routes beside Streamlit's own: pictures, the viewer's modules, what people write.

And whether the server is ready, which waits for nothing but the database.
"""

from __future__ import annotations

from functools import cache

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import BaseRoute, Match, Route
from starlette.types import Receive, Scope, Send

from rexview.ui.access.page_requests import NOT_KEPT
from rexview.ui.components import serve_module
from rexview.ui.server import ready, server_state, warm_up
from rexview.ui.server.page_work import READY
from rexview.words import tr


class AppRoutes(BaseRoute):
    """All that lies under ``rexview/``; its modules are waited for by the first that asks."""

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Take every HTTP request under the one path."""
        below = f"{server_state.base_path()}/rexview/"
        ours = scope["type"] == "http" and scope["path"].startswith(below)
        return (Match.FULL if ours else Match.NONE), {}

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer; 404 where there is no such route."""
        # a page names dozens of modules: none waits for what the other routes need
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
        refusal = PlainTextResponse(tr("There is nothing at this address."), 404, NOT_KEPT)
        await refusal(scope, receive, send)


@cache
def _at_once() -> tuple[Route, ...]:
    base = server_state.base_path()
    return (
        Route(f"{base}/rexview/assets/{{version}}/{{name:path}}", serve_module),
        Route(f"{base}{READY}", _say_ready),
    )


def _say_ready(_request: Request) -> PlainTextResponse:
    reason = ready.why_not_ready()
    status = 503 if reason else 200
    return PlainTextResponse(f"{reason or 'Ready.'}\n", status, NOT_KEPT)


@cache
def _picture_routes() -> list[Route]:
    warm_up.wait_for_picture()
    from rexview.ui.app import image_routes

    return image_routes.routes()


@cache
def _routes() -> list[Route]:
    warm_up.wait()
    from rexview.ui.app import case_routes
    from rexview.ui.guide import route as guide_route
    from rexview.ui.meeting.live import route as live_route
    from rexview.ui.meeting.live.rooms import ROOMS
    from rexview.ui.meeting.presenting import payload
    from rexview.ui.saving import route as saving_route

    routes = [*case_routes.routes(), *saving_route.routes(ROOMS.hides)]
    return [*routes, *live_route.routes(payload), *guide_route.routes()]

"""The route of the guides' pictures: of the demonstration only, so that anybody may have them."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import FileResponse, PlainTextResponse, Response
from starlette.routing import Route

from rexview.ui.access.page_requests import NOT_KEPT
from rexview.ui.guide.guides import FOLDER, pictures
from rexview.ui.server import server_state

_BELOW = "/rexview/guides/"


def picture_address(name: str) -> str:
    """Return the address of a picture on this server."""
    return f"{server_state.base_path()}{_BELOW}{name}"


def routes() -> list[Route]:
    """Return the route."""
    return [Route(picture_address("{name}"), _serve)]


def _serve(request: Request) -> Response:
    name = request.path_params["name"]
    if name not in pictures():  # nothing else of the folder, wherever a name leads
        return PlainTextResponse("There is no such picture.", 404, NOT_KEPT)
    return FileResponse(
        FOLDER / "pictures" / name,
        media_type="image/webp",
        headers={"Cache-Control": "public, max-age=3600"},
    )

"""The routes of images: pixels and thumbnails for a sealed link.

Where people sign in, a link is valid only for the person it was made for. Responses are never
compressed on the fly: on a near network that costs more than it saves for pixels.
"""

from __future__ import annotations

from functools import cache
from typing import Final, NamedTuple

from anyio import CapacityLimiter, to_thread
from starlette.background import BackgroundTask
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from rexview import imaging, reviewset
from rexview.addresses import remote_set_address
from rexview.errors import (
    ImageAway,
    ImageBusy,
    ImageError,
    NotAdmitted,
    PathEscape,
    RexviewError,
    StorageError,
)
from rexview.remote.remote_pictures import check_allowed
from rexview.reviewset.image_paths import remote_image_address
from rexview.schema import ReviewSet
from rexview.ui.web.access import sign_in
from rexview.ui.web.access.image_links import WORDLESS, is_link_current
from rexview.ui.web.access.request_checks import NO_STORE_HEADERS
from rexview.ui.web.server import open_sets, server_state, set_folders, warm_up
from rexview.ui.web.server.sealed_tokens import Grant, LinkRefused
from rexview.words import tr

_HOUR: Final = "private, max-age=3600"
_AT_ONCE: Final = 24


def _plain(status: int, message: str) -> Response:
    return Response(message, status, media_type="text/plain", headers=NO_STORE_HEADERS)


class _LinkTarget(NamedTuple):
    """The target of a link: an image of a set, and its storage, empty for this computer."""

    grant: Grant
    review_set: ReviewSet
    storage: str


def _link_target(request: Request, kind: str) -> _LinkTarget | Response:
    """Return a link's target, or the response that refuses it."""
    try:
        grant = server_state.signer().check(request.path_params["token"])
        if grant.kind != kind:
            raise LinkRefused(tr("This link is for something else."))
        sign_in.check_person(request, grant)
        review_set = open_sets.open_set(set_folders.folder_of(grant.set_id))
        address = remote_image_address(review_set, grant.image)
        if address is None:
            return _LinkTarget(grant, review_set, "")
        own = remote_set_address(review_set.folder)
        check_allowed(address, own, server_state.settings())
        return _LinkTarget(grant, review_set, address.origin)
    except NotAdmitted as error:
        return _plain(401, str(error))
    except LinkRefused as error:
        return _plain(403, str(error))
    except (PathEscape, StorageError) as error:
        return _plain(422, str(error))
    except RexviewError:
        return _plain(404, tr("The review set cannot be opened."))


def _serve(asked: _LinkTarget) -> Response:
    grant, review_set, _ = asked
    try:
        path = reviewset.find_image_file(review_set, grant.image)
        if grant.kind == "pixels" and not is_link_current(review_set, grant.image, grant.version):
            return _plain(
                410, tr("The image has changed since this page was made. Reload the page.")
            )
        cache = server_state.image_cache()
        max_pixels = server_state.settings().max_megapixels * 1_000_000
        if grant.kind == "thumbs":
            body = imaging.thumbnail(path, cache=cache, max_pixels=max_pixels)
            media = "image/webp"
        else:
            payload = imaging.viewer_payload(path, cache, max_pixels=max_pixels)
            if grant.detail == WORDLESS:
                payload = imaging.without_free_text(payload)
            body = payload.framed
            media = "application/octet-stream"
    except (ImageBusy, ImageAway) as error:
        return _plain(503, str(error))
    except (ImageError, PathEscape) as error:
        return _plain(422, str(error))
    except RexviewError:
        return _plain(404, tr("The review set cannot be opened."))
    headers = {"Content-Encoding": "identity", "Cache-Control": _HOUR}
    if grant.person:
        headers["Vary"] = "Cookie"  # one person's cached response is not for the next one
    then = None if warm_up.is_done() else BackgroundTask(warm_up.request_pages)
    return Response(body, media_type=media, headers=headers, background=then)


async def _serve_pixels(request: Request) -> Response:
    return await _serve_in_image_threads(request, "pixels")


async def _serve_thumbnail(request: Request) -> Response:
    return await _serve_in_image_threads(request, "thumbs")


async def _serve_in_image_threads(request: Request, kind: str) -> Response:
    """Respond in threads reserved for images, with a limit for each storage.

    So a slow storage delays no other route, and no images from other places.
    """
    asked = await to_thread.run_sync(_link_target, request, kind, limiter=_threads(""))
    if isinstance(asked, Response):
        return asked
    return await to_thread.run_sync(_serve, asked, limiter=_threads(asked.storage))


@cache
def _threads(storage: str) -> CapacityLimiter:
    """Return the limit of threads for images of a storage, empty for this computer."""
    return CapacityLimiter(_AT_ONCE)


def routes() -> list[Route]:
    """Return the routes of pixels and thumbnails."""
    prefix = f"{server_state.base_path()}/rexview"
    return [
        Route(f"{prefix}/pixels/{{token}}", _serve_pixels),
        Route(f"{prefix}/thumbs/{{token}}", _serve_thumbnail),
    ]

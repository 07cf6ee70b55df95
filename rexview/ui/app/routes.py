"""HTTP routes beside Streamlit's own: pixels, thumbnails, modules, what readers write.

All are relative to the app's base path. Pixels are served for a sealed link only
(:mod:`rexview.ui.server.sealed_tokens`), and where people sign in only to the person it was made
for; answers are
never compressed on the fly, since that costs more than it saves for pixels on a near network.
"""

from __future__ import annotations

from typing import Final

import streamlit as st
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from rexview import imaging, reviewset
from rexview.errors import ImageBusy, ImageError, NotAdmitted, PathEscape, RexviewError
from rexview.schema import ReviewSet
from rexview.ui.access import permissions, sign_in
from rexview.ui.components import serve_module
from rexview.ui.saving import route as saving_route
from rexview.ui.server import resources
from rexview.ui.server.sealed_tokens import Grant, LinkRefused

_HOUR: Final = "private, max-age=3600"
THUMBNAIL_PX: Final = 384
_WORDLESS: Final = "wordless"


def pixel_url(review_set: ReviewSet, image_path: str, *, wordless: bool = False) -> str:
    """Return a sealed link, relative to the app, to the pixels of one image for the viewer.

    With ``wordless`` no free text of the file comes with them: for pictures that models returned.

    Raises
    ------
    ImageError, PathEscape
        There is no such image, or its path leaves the images folder: the reason to show.
    """
    detail = _WORDLESS if wordless else None
    return f"rexview/pixels/{_token(review_set, 'pixels', image_path, detail)}"


def thumbnail_url(review_set: ReviewSet, image_path: str) -> str:
    """Return a sealed link, relative to the app, to a small picture of one image without boxes.

    Raises
    ------
    ImageError, PathEscape
        As for :func:`pixel_url`.
    """
    return f"rexview/thumbs/{_token(review_set, 'thumbs', image_path)}"


def image_name(review_set: ReviewSet, image_path: str) -> str:
    """Return a name for the pixels of one image that tells nothing and changes when the file does.

    Raises
    ------
    ImageError, PathEscape
        As for :func:`pixel_url`.
    """
    version = image_version(review_set, image_path)
    return resources.signer().name(str(review_set.folder), image_path, version)


def image_version(review_set: ReviewSet, image_path: str) -> str:
    """Return a text that changes when the image file does.

    Raises
    ------
    ImageError, PathEscape
        As for :func:`pixel_url`.
    """
    path = reviewset.image_path(review_set, image_path)
    try:
        stat = path.stat()
    except OSError:
        raise imaging.ImageMissing("The image file is not there.") from None
    return f"{stat.st_mtime_ns:x}-{stat.st_size:x}"


def _token(review_set: ReviewSet, kind: str, image_path: str, detail: str | None = None) -> str:
    version = image_version(review_set, image_path)
    name = resources.set_id(review_set.folder)
    grant = Grant(kind, name, image_path, version, detail, permissions.link_person())
    return resources.signer().sign(grant)


def _plain(status: int, message: str) -> Response:
    return Response(message, status, media_type="text/plain", headers={"Cache-Control": "no-store"})


def _serve(request: Request, kind: str) -> Response:
    try:
        grant = resources.signer().check(request.path_params["token"])
        if grant.kind != kind:
            raise LinkRefused("This link is for something else.")
        sign_in.check_person(request, grant)
        review_set = resources.open_set(resources.folder_of(grant.set_id))
        path = reviewset.image_path(review_set, grant.image)
        cache = resources.image_cache()
        max_pixels = resources.settings().max_megapixels * 1_000_000
        if kind == "thumbs":
            body = imaging.thumbnail(path, size=THUMBNAIL_PX, cache=cache, max_pixels=max_pixels)
            media = "image/webp"
        else:
            payload = imaging.viewer_payload(path, cache, max_pixels=max_pixels)
            if grant.detail == _WORDLESS:
                payload = imaging.without_words(payload)
            body = payload.framed
            media = "application/octet-stream"
    except NotAdmitted as error:
        return _plain(401, str(error))
    except LinkRefused as error:
        return _plain(403, str(error))
    except ImageBusy as error:
        return _plain(503, str(error))
    except (ImageError, PathEscape) as error:
        return _plain(422, str(error))
    except RexviewError:
        return _plain(404, "The review set cannot be opened.")
    headers = {"Content-Encoding": "identity", "Cache-Control": _HOUR}
    if grant.person:
        headers["Vary"] = "Cookie"  # what one person's browser keeps is not for the next one
    return Response(body, media_type=media, headers=headers)


def serve_pixels(request: Request) -> Response:
    """Send one image's pixels; Starlette runs it in its thread pool."""
    return _serve(request, "pixels")


def serve_thumbnail(request: Request) -> Response:
    """Send one image's thumbnail."""
    return _serve(request, "thumbs")


def routes() -> list[Route]:
    """Return the routes to mount beside Streamlit's own, under the app's base path."""
    base = str(st.get_option("server.baseUrlPath") or "").strip("/")
    prefix = f"/{base}/rexview" if base else "/rexview"
    return [
        Route(f"{prefix}/pixels/{{token}}", serve_pixels),
        Route(f"{prefix}/thumbs/{{token}}", serve_thumbnail),
        Route(f"{prefix}/assets/{{version}}/{{name:path}}", serve_module),
        *saving_route.routes(),
    ]

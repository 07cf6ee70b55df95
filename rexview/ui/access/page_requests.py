"""What a page's script sends to our routes: one JSON object, no larger than it may be."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from rexview.words import tr

NOT_KEPT: Final = {"Cache-Control": "no-store"}
"""The headers of an answer that no cache may keep."""


class RequestRefused(Exception):
    """What a browser is answered: status, why, and whether another ticket may help."""

    def __init__(self, status: int, message: str, *, renew: bool = False) -> None:
        super().__init__(message)
        self.status, self.message, self.renew = status, message, renew

    def answer(self) -> Response:
        """Return what the browser gets."""
        reply = {"error": self.message, "renew": self.renew}
        return JSONResponse(reply, self.status, headers=NOT_KEPT)


async def json_body(request: Request, most: int) -> Mapping[str, Any]:
    """Read the JSON object of a request, of at most so many bytes.

    Raises
    ------
    RequestRefused
        It is larger, or no such thing. JSON has no NaN: no browser could read it again.
    """
    content = bytearray()
    async for chunk in request.stream():
        content += chunk
        if len(content) > most:
            raise RequestRefused(413, tr("Too much was sent at once."))
    try:
        found = json.loads(content, parse_constant=_no_number)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise RequestRefused(422, tr("This is not what a page of ours sends."))
    return found


def _no_number(name: str) -> float:
    raise ValueError(name)

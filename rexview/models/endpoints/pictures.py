"""Pictures that models return: taken out of the body, which keeps what they were."""

from __future__ import annotations

import base64
import binascii
import hashlib
from typing import Any


class Returned:
    """The pictures of one body, in order."""

    def __init__(self) -> None:
        self.files: list[bytes] = []

    def take(self, encoded: str) -> str:
        """Keep a picture in base64, or as a data URL; return what stands in its place.

        What is no base64 stays where it is.
        """
        data = encoded.partition(",")[2] if encoded.startswith("data:") else encoded
        try:
            content = base64.b64decode(data, validate=True)
        except (binascii.Error, ValueError):
            return encoded
        self.files.append(content)
        digest = hashlib.sha256(content).hexdigest()
        return f"[picture {len(self.files)}: {len(content)} bytes, sha256 {digest}]"


def data_url(data: bytes, media_type: str) -> str:
    """Return a picture as a data URL, as both APIs take it."""
    return f"data:{media_type};base64,{base64.b64encode(data).decode('ascii')}"


def without(value: dict[str, Any], name: str, returned: Returned) -> dict[str, Any]:
    """Return a copy of an object whose field holds a picture, with the picture taken out."""
    return {**value, name: returned.take(value[name])}

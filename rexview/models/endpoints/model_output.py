"""Represent a model's output from either API: text, ending, returned pictures."""

from __future__ import annotations

import base64
import binascii
import hashlib
from dataclasses import dataclass, field
from typing import Any, Literal

from rexview.models.backend import Outcome, Usage

EndReason = Literal["done", "limit", "filter", "other"]
"""The server's reason why the answer ended."""


@dataclass(frozen=True)
class ModelOutput:
    """The content of a reply body, from either API.

    ``word`` is the server's own reason for the ending, ``limit`` the allowed tokens, if known.
    ``thought`` is true if the server sent reasoning as text.
    """

    text: str
    ended: EndReason
    word: str | None
    refusal: str | None = None
    usage: Usage = field(default_factory=Usage)
    limit: int | None = None
    thought: bool = False
    pictures: tuple[bytes, ...] = ()


def outcome_of(said: ModelOutput) -> Outcome:
    """Return the outcome of a reply.

    An answer with as many tokens as allowed was cut off, whatever the server calls it. If there is
    no text but tokens were used for reasoning, reasoning used up the limit, unless the model ended
    by itself with tokens left.
    """
    nothing = not said.text.strip()
    if said.refusal is not None:
        return "refused"
    if said.ended == "filter":
        return "filtered"
    tokens, limit = said.usage.output, said.limit
    had_more = tokens is not None and limit is not None and tokens < limit
    at_limit = said.ended == "limit" or (
        tokens is not None and limit is not None and 0 < limit <= tokens
    )
    thought = said.usage.reasoning or said.thought
    if nothing and thought and not said.pictures and not (said.ended == "done" and had_more):
        return "reasoning_used_limit"
    if at_limit:
        return "cut_off"
    if said.ended == "other":
        return "incomplete"
    return "empty" if nothing and not said.pictures else "answered"


# Pictures that models return: taken out of the body, which keeps their size and digest.


class ReturnedPictures:
    """The pictures of one body, in order."""

    def __init__(self) -> None:
        self.files: list[bytes] = []

    def take(self, encoded: str) -> str:
        """Store a picture from base64 or a data URL; return the text that replaces it.

        Text that is no base64 is returned unchanged.
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


def without_picture(value: dict[str, Any], name: str, returned: ReturnedPictures) -> dict[str, Any]:
    """Return a copy of an object with the picture in its field ``name`` taken out."""
    return {**value, name: returned.take(value[name])}

"""Output of a model as either API sends it: its text, how it ended, pictures it returned."""

from __future__ import annotations

import base64
import binascii
import hashlib
from dataclasses import dataclass, field
from typing import Any, Literal

from rexview.models.backend import Outcome, Usage

Ended = Literal["done", "limit", "filter", "other"]
"""How the server says that the answer ended."""


@dataclass(frozen=True)
class ModelOutput:
    """A body of either API, read.

    ``word`` is the server's own for how it ended, ``limit`` how many tokens were allowed, where
    that is known. ``thought`` says that the server sent reasoning as text.
    """

    text: str
    ended: Ended
    word: str | None
    refusal: str | None = None
    usage: Usage = field(default_factory=Usage)
    limit: int | None = None
    thought: bool = False
    pictures: tuple[bytes, ...] = ()


def outcome_of(said: ModelOutput) -> Outcome:
    """Return which outcome it is.

    An answer with as many tokens as were allowed was cut off, whatever the server calls it; one
    without text on which tokens were spent for reasoning never came, unless the model ended it
    itself with tokens left.
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


# Pictures that models return: taken out of the body, which keeps what they were.


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

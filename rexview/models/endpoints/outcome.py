"""What became of a request that the model took, from what either API says of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from rexview.models.reply import Outcome, Usage

Ended = Literal["done", "limit", "filter", "other"]
"""How the server says that the answer ended."""


@dataclass(frozen=True)
class Said:
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


def outcome_of(said: Said) -> Outcome:
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

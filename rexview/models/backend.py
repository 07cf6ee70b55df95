"""The one way to ask a model, whatever is behind it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from rexview.models.reply import AttemptFailed, Reply
from rexview.models.request import Request


class Backend(Protocol):
    """An endpoint, or a model in this process.

    ``batch`` is how many requests one call takes: 1 for an endpoint. ``calls`` is how many calls
    come at once, each from a thread of its own; None for as many as the run is to have under way.
    """

    batch: int
    calls: int | None

    def ask(self, requests: Sequence[Request]) -> Sequence[Reply | AttemptFailed]:
        """Ask, wait, and return what came, in order: one attempt, no retry, nothing raised."""
        ...

    def close(self) -> None:
        """Give back connections and memory."""
        ...

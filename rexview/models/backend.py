"""The one way to ask a model, whatever is behind it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from rexview.models.reply import AttemptFailed, Reply
from rexview.models.request import Request


class Backend(Protocol):
    """An endpoint, or a model in this process.

    ``batch`` is how many requests one call takes: 1 for an endpoint. Calls come from several
    threads at once where it is 1, else one after another.
    """

    batch: int

    def ask(self, requests: Sequence[Request]) -> Sequence[Reply | AttemptFailed]:
        """Ask, wait, and return what came, in order: one attempt, no retry, nothing raised."""
        ...

    def close(self) -> None:
        """Give back connections and memory."""
        ...

"""What comes back from a model, or why nothing did."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from rexview.errors import RexviewError

Outcome = Literal[
    "answered",
    "cut_off",
    "reasoning_used_limit",
    "refused",
    "filtered",
    "empty",
    "malformed",
    "incomplete",
]
OUTCOMES: Final[dict[Outcome, str]] = {
    "answered": "Answered",
    "cut_off": "Cut off at the token limit",
    "reasoning_used_limit": "No answer: reasoning used all tokens",
    "refused": "Refused by the model",
    "filtered": "Blocked by a content filter",
    "empty": "Empty answer",
    "malformed": "Not in the form that was asked for",
    "incomplete": "Ended early for another reason",
}
"""What became of a request that the model took; each is a row of ``answers``, paid and final."""

Failing = Literal[
    "rate_limit", "server", "network", "timeout", "key", "model", "request", "image", "setup"
]
FAILINGS: Final[dict[Failing, str]] = {
    "rate_limit": "Too many requests",
    "server": "The server failed",
    "network": "No connection",
    "timeout": "No answer in time",
    "key": "The key was not accepted",
    "model": "The server does not know the model",
    "request": "The server did not accept the request",
    "image": "An image cannot be read or was not accepted",
    "setup": "Something is missing on this machine",
}
"""Why there is no answer; never a row of ``answers``, asked again by ``--resume``."""


@dataclass(frozen=True)
class Usage:
    """Tokens as the server counts; ``output`` includes ``reasoning``, ``input`` ``cached``."""

    input: int | None = None
    output: int | None = None
    reasoning: int | None = None
    cached: int | None = None


@dataclass(frozen=True)
class RateLimits:
    """What the server's headers say is left, and the seconds until it is full again."""

    requests: int | None = None
    requests_reset_s: float | None = None
    tokens: int | None = None
    tokens_reset_s: float | None = None


@dataclass(frozen=True)
class Reply:
    """An answer as it came, for one request.

    ``text`` is the raw text of the final answer, whole, whatever it is. ``finish_reason`` is the
    server's own word. ``pictures`` are the files that the model returned, encoded. ``raw`` is the
    body as JSON, without pictures' bytes. Seconds in ``latency_s``. ``notes`` are sentences about
    how it was asked, where that was not as the request says.
    """

    outcome: Outcome
    text: str
    finish_reason: str | None = None
    refusal: str | None = None
    usage: Usage = Usage()
    model_served: str | None = None
    request_id: str | None = None
    service_tier: str | None = None
    pictures: tuple[bytes, ...] = field(default=(), repr=False)
    latency_s: float | None = None
    limits: RateLimits | None = None
    raw: Mapping[str, Any] = field(default_factory=dict, repr=False)
    notes: tuple[str, ...] = ()


class AttemptFailed(RexviewError):
    """One attempt brought no answer; the message is one line that says what to do.

    Attributes
    ----------
    kind
        Which of :data:`FAILINGS`.
    again
        Whether the same request may succeed later.
    stops_all
        Whether no other request can succeed either (a wrong key, an unknown model).
    retry_after_s
        Seconds that the server asked to wait, if it did.
    limits
        As in :class:`Reply`.
    maybe_paid
        Whether the server may have worked on it (a connection cut after it was sent).
    raw
        Status, error code and body as far as there are any, as JSON.
    """

    def __init__(
        self,
        kind: Failing,
        message: str,
        *,
        again: bool = False,
        stops_all: bool = False,
        retry_after_s: float | None = None,
        limits: RateLimits | None = None,
        maybe_paid: bool = False,
        raw: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(message)
        self.kind: Failing = kind
        self.again = again
        self.stops_all = stops_all
        self.retry_after_s = retry_after_s
        self.limits = limits
        self.maybe_paid = maybe_paid
        self.raw = dict(raw or {})

    def __reduce__(self) -> tuple[Any, ...]:
        """Return what makes it again in another process."""
        return _made_again, (self.kind, str(self), self.__dict__)


def _made_again(kind: Failing, message: str, more: Mapping[str, Any]) -> AttemptFailed:
    failure = AttemptFailed(kind, message)
    failure.__dict__.update(more)
    return failure

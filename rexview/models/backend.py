"""Define what a model is asked, what it replies, and the interface of all models."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any, Final, Literal, Protocol

from rexview.errors import RexviewError
from rexview.text.written_boxes import BoxForm

# The request: everything that a model is sent for one case.

Api = Literal["responses", "chat", "transformers"]


@dataclass(frozen=True)
class Placement:
    """Position of the stored image in the picture as sent.

    A point (x, y) of the stored image, in pixels, is at (x * scale_x + left, y * scale_y + top) of
    the picture. ``left`` and ``top`` are the padding, in pixels as sent.
    """

    scale_x: float = 1.0
    scale_y: float = 1.0
    left: float = 0.0
    top: float = 0.0


@dataclass(frozen=True)
class SentImage:
    """One picture as sent: encoded, with its size in pixels and its placement.

    ``image`` is the image's id in the case. ``stored_width`` and ``stored_height`` are pixels of
    the stored image. ``detail`` is the level that some APIs take (``low``, ``high``, ``auto``).
    """

    image: str
    data: bytes = field(repr=False)
    media_type: str
    width: int
    height: int
    stored_width: int
    stored_height: int
    placement: Placement = Placement()
    view: str = "UNKNOWN"
    prior: bool = False
    detail: str | None = None

    @cached_property
    def sha256(self) -> str:
        """The digest of the bytes as sent, 64 hexadecimal digits."""
        return hashlib.sha256(self.data).hexdigest()


@dataclass(frozen=True)
class Parameters:
    """Parameters of the model; None leaves a choice to the server.

    ``structured`` asks for JSON by the request's schema, if the server supports it. After
    ``timeout_s`` seconds without an answer an attempt is given up; this limit is not sent.
    """

    model: str
    api: Api
    base_url: str | None = None
    max_output_tokens: int | None = None
    temperature: float | None = None
    seed: int | None = None
    reasoning_effort: str | None = None
    structured: bool = False
    timeout_s: float = 600.0

    def sent(self) -> dict[str, Any]:
        """Return the parameters that change an answer: all but the time limit."""
        return {name: value for name, value in asdict(self).items() if name != "timeout_s"}


@dataclass(frozen=True)
class ModelRequest:
    """One question to one model: texts and pictures in the order they are sent.

    ``schema`` is the JSON schema of the answer, None for free text. ``repeat`` counts from 1. Two
    fields are not sent: ``notes``, sentences on what the model does not get, and
    ``asks_for_boxes``, needed to read the answer.
    """

    case: str
    repeat: int
    system: str
    parts: tuple[str | SentImage, ...]
    parameters: Parameters
    prompt_id: str
    prompt_hash: str
    schema: Mapping[str, Any] | None = None
    notes: tuple[str, ...] = ()
    asks_for_boxes: bool = False

    @property
    def images(self) -> tuple[SentImage, ...]:
        """The pictures, in order."""
        return tuple(part for part in self.parts if isinstance(part, SentImage))

    def described(self) -> dict[str, Any]:
        """Return the request as JSON for the log and the dry run, pictures as digest and size."""
        parts = [
            {"text": part}
            if isinstance(part, str)
            else {
                "image": part.image,
                "sha256": part.sha256,
                "media_type": part.media_type,
                "width": part.width,
                "height": part.height,
                "detail": part.detail,
            }
            for part in self.parts
        ]
        return {
            "system": self.system,
            "parts": parts,
            "schema": self.schema,
            "parameters": self.parameters.sent(),
            "prompt_id": self.prompt_id,
            "prompt_hash": self.prompt_hash,
        }

    @cached_property
    def key(self) -> str:
        """The digest of everything sent and of the repeat's number, 64 hexadecimal digits."""
        sent = {**self.described(), "repeat": self.repeat}
        return hashlib.sha256(json.dumps(sent, sort_keys=True).encode()).hexdigest()


def closed_object_schema(properties: Mapping[str, Any]) -> dict[str, Any]:
    """Return the JSON schema of an object with exactly these properties, for strict servers."""
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


# The reply of a model, or the reason why there is none.

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
"""Outcomes of a request that the model took; each is a final, paid row of ``answers``."""

FailureCause = Literal[
    "rate_limit", "server", "network", "timeout", "key", "model", "request", "image", "setup"
]
FAILURE_CAUSES: Final[dict[FailureCause, str]] = {
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
"""Reasons why there is no answer. They make no row of ``answers``; ``--resume`` asks again."""


@dataclass(frozen=True)
class Usage:
    """Tokens as the server counts them; ``output`` includes ``reasoning``, ``input`` ``cached``."""

    input: int | None = None
    output: int | None = None
    reasoning: int | None = None
    cached: int | None = None


@dataclass(frozen=True)
class RateLimits:
    """Remaining limits in the server's headers, and the seconds until they are full again."""

    requests: int | None = None
    requests_reset_s: float | None = None
    tokens: int | None = None
    tokens_reset_s: float | None = None


@dataclass(frozen=True)
class Reply:
    """A reply to one request.

    ``text`` is the whole raw text of the final answer. ``finish_reason`` is the server's own word.
    ``pictures`` are the encoded files that the model returned. ``raw`` is the body as JSON, without
    the bytes of pictures. ``latency_s`` is in seconds. ``notes`` report, as sentences, where the
    server was asked differently from the request.
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
    """An attempt without an answer; the message is one line with what to do.

    Attributes
    ----------
    kind
        One of :data:`FAILURE_CAUSES`.
    again
        True if the same request may succeed later.
    stops_all
        True if no other request can succeed either (a wrong key, an unknown model).
    retry_after_s
        Seconds to wait, if the server named them.
    limits
        As in :class:`Reply`.
    maybe_paid
        True if the server may have worked on it (a connection cut after sending).
    raw
        Status, error code and body as JSON, as far as they exist.
    """

    def __init__(
        self,
        kind: FailureCause,
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
        self.kind: FailureCause = kind
        self.again = again
        self.stops_all = stops_all
        self.retry_after_s = retry_after_s
        self.limits = limits
        self.maybe_paid = maybe_paid
        self.raw = dict(raw or {})

    def __reduce__(self) -> tuple[Any, ...]:
        """Return the parts from which another process rebuilds the error."""
        return _rebuild_failure, (self.kind, str(self), self.__dict__)


def _rebuild_failure(kind: FailureCause, message: str, more: Mapping[str, Any]) -> AttemptFailed:
    failure = AttemptFailed(kind, message)
    failure.__dict__.update(more)
    return failure


class Backend(Protocol):
    """The interface of a model: an endpoint, or a model in this process.

    ``batch`` is how many requests one call takes: 1 for an endpoint. ``calls`` is how many calls
    may run at once, each in its own thread; None for the run's own limit.
    """

    batch: int
    calls: int | None

    def ask(self, requests: Sequence[ModelRequest]) -> Sequence[Reply | AttemptFailed]:
        """Ask once and return the results in order: no retry, and nothing is raised."""
        ...

    def close(self) -> None:
        """Close connections and free memory."""
        ...


# The card: a model's abilities as data, built in and in files that users edit.


@dataclass(frozen=True)
class Price:
    """US dollars for a million tokens, with the table's date and source.

    ``batch`` is the fraction that a request in a batch costs, None if unknown.
    """

    input: float
    output: float
    cached: float | None = None
    batch: float | None = None
    date: str = ""
    source: str = ""


@dataclass(frozen=True)
class Card:
    """Abilities of one model, or of all models whose name matches.

    Attributes
    ----------
    match
        Patterns of model names (``fnmatch``), tried in order; the first card that fits is used.
    images
        The most pictures that it takes; 0 is none.
    all_views
        True if all views are sent; otherwise only the key frontal one.
    priors
        True if it compares with an earlier study.
    draws_boxes
        True if it is asked for boxes.
    pictures_back
        True if it can return pictures.
    longest_side, most_pixels, square, image_format, jpeg_quality, detail
        How pictures are sent: the most pixels a side and in all, padding to a square, ``png`` or
        ``jpeg`` with a quality from 1 to 100, and the API's level of detail.
    image_tokens
        How tokens of pictures are counted: ``rule`` and its numbers
        (:mod:`rexview.models.asking.token_estimate`).
    """

    match: tuple[str, ...]
    name: str = ""
    api: Api = "responses"
    images: int = 1
    all_views: bool = False
    priors: bool = False
    draws_boxes: bool = False
    pictures_back: bool = False
    structured: bool = False
    boxes: BoxForm = field(default_factory=BoxForm)
    longest_side: int | None = 2048
    most_pixels: int | None = None
    square: bool = False
    image_format: Literal["png", "jpeg"] = "png"
    jpeg_quality: int = 92
    detail: str | None = None
    context_tokens: int | None = None
    max_output_tokens: int | None = None
    default_output_tokens: int | None = None
    reasoning_effort: str | None = None
    image_tokens: Mapping[str, Any] | None = None
    price: Price | None = None
    key_variable: str = "OPENAI_API_KEY"
    source: str = ""


# The prompt: the wording of a question, as versioned YAML files.


@dataclass(frozen=True)
class Prompt:
    """A wording: templates with named fields in curly brackets.

    Attributes
    ----------
    id
        Names the wording and its version (``expert-1``, with the box instruction
        ``expert-1-boxes``).
    system
        The system message.
    texts
        A template for each question type, and for the other parts: ``current`` and ``prior`` before
        a picture, ``context``, ``json`` (how to answer with an object), ``boxes``,
        ``boxes_in_text`` (where to put boxes in a free-text answer).
    fields
        For each question type the parts of an answer, in order, with the content of each.
    hash
        Digest of the whole prompt: an edited wording has another one.
    """

    id: str
    name: str
    version: int
    system: str
    texts: Mapping[str, str]
    fields: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    asks_for_boxes: bool = False
    source: str = ""
    hash: str = ""

"""Ask a model: card, wording, request, reply, and the one interface of all models."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any, Final, Literal, Protocol

from rexview.errors import RexviewError
from rexview.text.written_boxes import BoxForm

# What is sent to a model for one case, complete and before anything is sent.

Api = Literal["responses", "chat", "transformers"]


@dataclass(frozen=True)
class Placement:
    """Where the stored image lies in the picture as sent.

    A point (x, y) of the stored image, in pixels, is at (x * scale_x + left, y * scale_y + top) of
    the picture. ``left`` and ``top`` are what was padded, in pixels as sent.
    """

    scale_x: float = 1.0
    scale_y: float = 1.0
    left: float = 0.0
    top: float = 0.0


@dataclass(frozen=True)
class SentImage:
    """One picture as it is sent: encoded, with its size in pixels and how it was placed.

    ``image`` is the id in the case; ``stored_width`` and ``stored_height`` are pixels of the stored
    image. ``detail`` is the word that some APIs take (``low``, ``high``, ``auto``).
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
    """How the model is asked; None leaves a choice to the server.

    ``structured`` asks for JSON by the request's schema where the server has it. ``timeout_s`` are
    seconds without an answer after which an attempt is given up; it is not sent.
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
        """Return what changes an answer: all but the time limit."""
        return {name: value for name, value in asdict(self).items() if name != "timeout_s"}


@dataclass(frozen=True)
class Request:
    """One question to one model: texts and pictures in the order in which they are sent.

    ``schema`` is the JSON schema of the answer, None where free text is asked for. ``repeat``
    counts from 1. Not sent are ``notes``, sentences about what the model is not given, and
    ``asks_for_boxes``, by which its answer is read.
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
        """Return all of it as JSON, pictures as digest and size: for the log and the dry run."""
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
        """The digest of all that is sent and of the repeat's number, 64 hexadecimal digits."""
        sent = {**self.described(), "repeat": self.repeat}
        return hashlib.sha256(json.dumps(sent, sort_keys=True).encode()).hexdigest()


def closed_object(properties: Mapping[str, Any]) -> dict[str, Any]:
    """Return the JSON schema of an object of just these parts, as strict servers take it."""
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


# What comes back from a model, or why nothing did.

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


# What a model can do, as data: built in, and in files that people edit.


@dataclass(frozen=True)
class Price:
    """US dollars for a million tokens, with the date of the table and where it is from.

    ``batch`` is what part of it a request in a batch costs, None where that is not known.
    """

    input: float
    output: float
    cached: float | None = None
    batch: float | None = None
    date: str = ""
    source: str = ""


@dataclass(frozen=True)
class Card:
    """One model, or all whose name matches.

    Attributes
    ----------
    match
        Patterns of model names (``fnmatch``), tried in order; the first card that fits counts.
    images
        How many pictures it takes at most; 0 is none.
    all_views
        Whether all views are sent, or only the key frontal one.
    priors
        Whether it compares with an earlier study.
    draws_boxes
        Whether it is asked for boxes.
    pictures_back
        Whether it can return pictures.
    longest_side, most_pixels, square, image_format, jpeg_quality, detail
        How pictures are sent: at most so many pixels a side and in all, padded to a square, ``png``
        or ``jpeg`` of a quality from 1 to 100, the API's word for detail.
    image_tokens
        How pictures are counted: ``rule`` and its numbers (:mod:`rexview.models.asking.tokens`).
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


# The wording of what is asked, as versioned YAML files.


@dataclass(frozen=True)
class Prompt:
    """One wording: templates with named fields in curly brackets.

    Attributes
    ----------
    id
        Names wording and version (``expert-1``, with the box instruction ``expert-1-boxes``).
    system
        What the model is told first.
    texts
        A template for each question type, and for each thing that is said on its own: ``current``
        and ``prior`` before a picture, ``context``, ``json`` (how an object is answered with),
        ``boxes``, ``boxes_in_text`` (where boxes stand in an answer of free text).
    fields
        For each question type the parts of an answer, in order, and what each holds.
    hash
        Of all of it: an edited wording is another one.
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

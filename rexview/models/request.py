"""What is sent to a model for one case, complete and before anything is sent."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any, Literal

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

"""A request as a conversation in the model's own chat template."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from PIL import Image

from rexview.models.reply import AttemptFailed
from rexview.models.request import Request, SentImage

FOLDED: Final = "The model's chat template takes no system message: it stands before the question."
Messages = list[dict[str, Any]]
Render = Callable[[Messages], str]
"""Puts messages into the chat template; raises whatever the template raises."""


@dataclass(frozen=True)
class Conversation:
    """What a model is told, whether it has pictures, and how the template's text ends."""

    messages: Messages
    pictures: bool
    ending: str
    notes: tuple[str, ...] = ()


def conversation_of(request: Request, render: Render, *, plain: bool) -> Conversation:
    """Make the conversation for a request.

    Templates leave out without a word what they do not know: what comes out is looked at.

    Parameters
    ----------
    plain
        Whether texts are given as one, for models of text only.

    Raises
    ------
    AttemptFailed
        A picture cannot be decoded, or the template leaves out a part of the question.
    """
    parts = [_part(part) for part in request.parts]
    texts = [part["text"] for part in parts if part["type"] == "text"]
    if plain and len(texts) < len(parts):
        raise AttemptFailed("request", "This model takes no images: write images: 0 in its card.")
    user = _message("user", parts, plain)
    ways: list[tuple[Messages, tuple[str, ...]]] = [([user], ())]
    if request.system:
        system = {"type": "text", "text": request.system}
        before = {"type": "text", "text": f"{request.system}\n\n"}
        ways = [
            ([_message("system", [system], plain), user], ()),
            ([_message("user", [before, *parts], plain)], (FOLDED,)),
        ]
    for messages, notes in ways:
        prompt = _rendered(render, messages)
        if all(text.strip() in prompt for text in (request.system, *texts)):
            return Conversation(messages, bool(request.images), prompt[-200:], notes)
    words = "The model's chat template leaves out a part of the question: use another model."
    raise AttemptFailed("request", words, stops_all=True)


def _rendered(render: Render, messages: Messages) -> str:
    try:
        return render(messages)
    except Exception:  # templates refuse by raising whatever they like
        return ""


def _part(part: str | SentImage) -> dict[str, Any]:
    if isinstance(part, str):
        return {"type": "text", "text": part}
    try:
        with Image.open(io.BytesIO(part.data)) as picture:
            return {"type": "image", "image": picture.convert("RGB")}
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError):
        raise AttemptFailed("image", f"Image {part.image!r:.80} cannot be decoded.") from None


def _message(role: str, parts: Sequence[Mapping[str, Any]], plain: bool) -> dict[str, Any]:
    content = "\n\n".join(part["text"] for part in parts) if plain else list(parts)
    return {"role": role, "content": content}

"""The bodies that both APIs take and send, in the shapes of the openai package's own types."""

from __future__ import annotations

import base64
import binascii
import hashlib
import io
import itertools
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from PIL import Image

_numbers = itertools.count(1)


@dataclass(frozen=True)
class SentPicture:
    """A picture as it arrived: size in pixels, or None where it is no picture."""

    sha256: str
    media_type: str
    width: int | None
    height: int | None
    detail: str | None
    bytes: int


@dataclass(frozen=True)
class Question:
    """What was asked, out of either API's body."""

    api: str
    model: str
    texts: tuple[str, ...]
    roles: tuple[str, ...]
    pictures: tuple[SentPicture, ...]
    limit: int | None
    schema: Mapping[str, Any] | None
    body: Mapping[str, Any]

    @property
    def text(self) -> str:
        """All texts, in the order in which they came."""
        return "\n".join(self.texts)


@dataclass(frozen=True)
class Answer:
    """What a model would say, before it is put into either API's body."""

    messages: tuple[tuple[str | None, str], ...]
    input_tokens: int
    output_tokens: int
    reasoning: int = 0
    cached: int = 0
    refusal: str | None = None
    filtered: bool = False
    incomplete: str | None = None
    at_limit: bool = False
    silent_limit: bool = False
    pictures: int = 0
    failed: Mapping[str, str] | None = None
    done_reason: str | None = None
    usage: bool = True
    served_as: str | None = None


def _picture(url: str, detail: str | None) -> SentPicture:
    head, _, data = url.partition(",")
    media_type = head.removeprefix("data:").partition(";")[0]
    try:
        content = base64.b64decode(data, validate=True)
        with Image.open(io.BytesIO(content)) as opened:
            width, height = opened.size
    except (binascii.Error, OSError):
        content, width, height = data.encode(), None, None
    digest = hashlib.sha256(content).hexdigest()
    return SentPicture(digest, media_type, width, height, detail, len(content))


def asked_responses(body: Mapping[str, Any]) -> Question:
    """Return what a body of the Responses API asks."""
    texts, roles, pictures = [], [], []
    if body.get("instructions"):
        texts.append(body["instructions"])
        roles.append("instructions")
    messages = body["input"]
    if isinstance(messages, str):
        messages = [{"role": "user", "content": messages}]
    for message in messages:
        roles.append(message["role"])
        content = message["content"]
        if isinstance(content, str):
            content = [{"type": "input_text", "text": content}]
        for part in content:
            if part["type"] == "input_image":
                pictures.append(_picture(part["image_url"], part["detail"]))
            else:
                texts.append(part["text"])
    form = (body.get("text") or {}).get("format") or {}
    return Question(
        "responses",
        body["model"],
        tuple(texts),
        tuple(roles),
        tuple(pictures),
        body.get("max_output_tokens"),
        form.get("schema") if form.get("type") == "json_schema" else None,
        body,
    )


def asked_chat(body: Mapping[str, Any]) -> Question:
    """Return what a body of Chat Completions asks."""
    texts, roles, pictures = [], [], []
    for message in body["messages"]:
        roles.append(message["role"])
        content = message["content"]
        if isinstance(content, str):
            content = [{"type": "text", "text": content}]
        for part in content:
            if part["type"] == "image_url":
                image = part["image_url"]
                pictures.append(_picture(image["url"], image.get("detail")))
            else:
                texts.append(part["text"])
    form = body.get("response_format") or {}
    return Question(
        "chat",
        body["model"],
        tuple(texts),
        tuple(roles),
        tuple(pictures),
        body.get("max_completion_tokens") or body.get("max_tokens"),
        form["json_schema"].get("schema") if form.get("type") == "json_schema" else None,
        body,
    )


def picture_back(number: int) -> bytes:
    """Return a small PNG, of another colour for each number."""
    file = io.BytesIO()
    Image.new("RGB", (64, 48), ((40 * number) % 256, 90, 160)).save(file, "PNG")
    return file.getvalue()


def response_body(question: Question, answer: Answer) -> dict[str, Any]:
    """Return a body as ``POST /v1/responses`` sends it."""
    number = next(_numbers)
    output: list[dict[str, Any]] = []
    if answer.reasoning:
        output.append({"type": "reasoning", "id": f"rs_{number}", "summary": []})
    told_limit = answer.at_limit and not answer.silent_limit
    reason = answer.incomplete or (
        "content_filter" if answer.filtered else "max_output_tokens" if told_limit else None
    )
    ended = "incomplete" if reason else "completed"
    if answer.refusal is not None:
        said: list[dict[str, Any]] = [{"type": "refusal", "refusal": answer.refusal}]
        output.append(_message(number, 0, said, ended))
    for place, (phase, text) in enumerate(answer.messages):
        said = [{"type": "output_text", "text": text, "annotations": [], "logprobs": []}]
        message = _message(number, place, said, ended)
        if phase is not None:
            message["phase"] = phase
        output.append(message)
    for place in range(answer.pictures):
        drawn = base64.b64encode(picture_back(place)).decode()
        output.append(
            {
                "type": "image_generation_call",
                "id": f"ig_{number}_{place}",
                "status": "completed",
                "result": drawn,
                "output_format": "png",
            }
        )
    body: dict[str, Any] = {
        "id": f"resp_{number:08x}",
        "object": "response",
        "created_at": int(time.time()),
        "status": "failed" if answer.failed else ended,
        "error": dict(answer.failed) if answer.failed else None,
        "incomplete_details": {"reason": reason} if reason else None,
        "instructions": question.body.get("instructions"),
        "max_output_tokens": question.limit,
        "model": answer.served_as or question.model,
        "output": [] if answer.failed else output,
        "parallel_tool_calls": True,
        "previous_response_id": None,
        "reasoning": {"effort": None, "summary": None},
        "service_tier": "default",
        "store": question.body.get("store", True),
        "temperature": question.body.get("temperature", 1.0),
        "text": question.body.get("text") or {"format": {"type": "text"}},
        "tool_choice": "auto",
        "tools": [],
        "top_p": 1.0,
        "truncation": "disabled",
        "metadata": {},
    }
    if answer.usage and not answer.failed:
        body["usage"] = {
            "input_tokens": answer.input_tokens,
            "input_tokens_details": {"cached_tokens": answer.cached, "cache_write_tokens": 0},
            "output_tokens": answer.output_tokens,
            "output_tokens_details": {"reasoning_tokens": answer.reasoning},
            "total_tokens": answer.input_tokens + answer.output_tokens,
        }
    return body


def _message(number: int, place: int, said: Sequence[Any], ended: str) -> dict[str, Any]:
    return {
        "type": "message",
        "id": f"msg_{number}_{place}",
        "role": "assistant",
        "status": ended,
        "content": list(said),
    }


def chat_body(question: Question, answer: Answer) -> dict[str, Any]:
    """Return a body as ``POST /v1/chat/completions`` sends it."""
    number = next(_numbers)
    told_limit = answer.at_limit and not answer.silent_limit
    text = "".join(text for _, text in answer.messages)
    nothing = answer.refusal is not None or (answer.filtered and not text)
    choice: dict[str, Any] = {
        "index": 0,
        "message": {
            "role": "assistant",
            "content": None if nothing else text,
            "refusal": answer.refusal,
        },
        "logprobs": None,
        "finish_reason": "content_filter"
        if answer.filtered
        else answer.incomplete or ("length" if told_limit else "stop"),
    }
    body: dict[str, Any] = {
        "id": f"chatcmpl-{number:08x}",
        "object": "chat.completion",
        "created": int(time.time()),
        "model": answer.served_as or question.model,
        "choices": [choice],
        "service_tier": "default",
    }
    if answer.done_reason is not None:
        choice["finish_reason"] = None
        choice["done_reason"] = answer.done_reason
    if answer.usage:
        body["usage"] = {
            "prompt_tokens": answer.input_tokens,
            "completion_tokens": answer.output_tokens,
            "total_tokens": answer.input_tokens + answer.output_tokens,
            "prompt_tokens_details": {"cached_tokens": answer.cached},
            "completion_tokens_details": {"reasoning_tokens": answer.reasoning},
        }
    return body


def error_body(error: Mapping[str, Any]) -> dict[str, Any]:
    """Return the body of an HTTP error."""
    names = ("message", "type", "param", "code")
    return {"error": {name: error.get(name) for name in names}}

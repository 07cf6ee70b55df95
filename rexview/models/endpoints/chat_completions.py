"""Chat Completions, the API of OpenAI that vLLM, TGI, Ollama, llama.cpp and others share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from rexview.models.backend import ModelRequest, SentImage, Usage
from rexview.models.endpoints.model_output import (
    EndReason,
    ModelOutput,
    ReturnedPictures,
    data_url,
    without_picture,
)
from rexview.models.endpoints.request_errors import (
    count_or_none,
    list_items,
    object_fields,
    text_or_none,
)

CHAT_PATH = "/v1/chat/completions"
LimitName = Literal["max_tokens", "max_completion_tokens"]
_ENDED: dict[str, EndReason] = {
    "stop": "done",
    "eos": "done",
    "eos_token": "done",
    "stop_sequence": "done",
    "end_turn": "done",
    "length": "limit",
    "max_tokens": "limit",
    "content_filter": "filter",
}


def chat_body(request: ModelRequest, *, structured: bool, limit_name: LimitName) -> dict[str, Any]:
    """Return the body of ``POST /chat/completions`` for the openai package.

    OpenAI's newer models take the limit only as ``max_completion_tokens``, most other servers as
    ``max_tokens``. ``structured`` adds the request's schema.
    """
    parameters = request.parameters
    messages: list[dict[str, Any]] = []
    if request.system:
        messages.append({"role": "system", "content": request.system})
    messages.append({"role": "user", "content": [_part(part) for part in request.parts]})
    body: dict[str, Any] = {"model": parameters.model, "messages": messages}
    if parameters.max_output_tokens is not None:
        body[limit_name] = parameters.max_output_tokens
    for name in ("temperature", "seed", "reasoning_effort"):
        value = getattr(parameters, name)
        if value is not None:
            body[name] = value
    if structured and request.schema is not None:
        held = {"name": "answer", "strict": True, "schema": dict(request.schema)}
        body["response_format"] = {"type": "json_schema", "json_schema": held}
    return body


def _part(part: str | SentImage) -> dict[str, Any]:
    if isinstance(part, str):
        return {"type": "text", "text": part}
    image = {"url": data_url(part.data, part.media_type)}
    if part.detail is not None:
        image["detail"] = part.detail
    return {"type": "image_url", "image_url": image}


def read_chat_body(
    body: Mapping[str, Any], asked_limit: int | None
) -> tuple[ModelOutput, dict[str, Any]]:
    """Read the body of a reply; of several choices the first.

    Returns
    -------
    tuple
        The output, and the body without the bytes of pictures.
    """
    returned = ReturnedPictures()
    choices = list_items(body.get("choices"))
    choice = object_fields(choices[0]) if choices else {}
    message = dict(object_fields(choice.get("message")))
    texts = []
    if isinstance(content := message.get("content"), list):
        texts = [text_or_none(object_fields(part).get("text")) or "" for part in content]
        message["content"] = [_without_picture(part, returned) for part in content]
    else:
        texts = [text_or_none(content) or ""]
    if isinstance(pictures := message.get("images"), list):
        message["images"] = [_without_picture(part, returned) for part in pictures]
    refusal = text_or_none(message.get("refusal")) or None  # some servers always send an empty one
    word = next(
        (
            found
            for found in (
                text_or_none(choice.get("finish_reason")),
                text_or_none(choice.get("done_reason")),
                text_or_none(body.get("done_reason")),
            )
            if found
        ),
        None,
    )
    ended: EndReason = "done" if word is None else _ENDED.get(word.casefold(), "other")
    said = ModelOutput(
        text="".join(texts),
        ended=ended,
        word=word,
        refusal=refusal,
        usage=_usage(object_fields(body.get("usage"))),
        limit=asked_limit,
        thought=any(text_or_none(message.get(name)) for name in ("reasoning_content", "reasoning")),
        pictures=tuple(returned.files),
    )
    rest = [{**choice, "message": message}, *choices[1:]] if choices else []
    return said, {**body, "choices": rest}


def _without_picture(part: Any, returned: ReturnedPictures) -> Any:
    image = object_fields(object_fields(part).get("image_url"))
    if (text_or_none(image.get("url")) or "").startswith("data:"):
        return {**part, "image_url": without_picture(dict(image), "url", returned)}
    return part


def _usage(usage: Mapping[str, Any]) -> Usage:
    return Usage(
        count_or_none(usage.get("prompt_tokens")),
        count_or_none(usage.get("completion_tokens")),
        count_or_none(
            object_fields(usage.get("completion_tokens_details")).get("reasoning_tokens")
        ),
        count_or_none(object_fields(usage.get("prompt_tokens_details")).get("cached_tokens")),
    )

"""The Responses API: request bodies, and what reply bodies contain."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

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

RESPONSES_PATH = "/v1/responses"
_ENDED: dict[str, EndReason] = {"max_output_tokens": "limit", "content_filter": "filter"}


def responses_body(request: ModelRequest, *, structured: bool) -> dict[str, Any]:
    """Return the body of ``POST /responses`` for the openai package.

    ``store`` is false: otherwise a server would keep questions and images. ``structured`` adds the
    request's schema.
    """
    parameters = request.parameters
    body: dict[str, Any] = {
        "model": parameters.model,
        "input": [{"role": "user", "content": [_part(part) for part in request.parts]}],
        "store": False,
    }
    if request.system:
        body["instructions"] = request.system
    if parameters.max_output_tokens is not None:
        body["max_output_tokens"] = parameters.max_output_tokens
    if parameters.temperature is not None:
        body["temperature"] = parameters.temperature
    if parameters.reasoning_effort is not None:
        body["reasoning"] = {"effort": parameters.reasoning_effort}
    if structured and request.schema is not None:
        form = {"type": "json_schema", "name": "answer", "strict": True}
        body["text"] = {"format": {**form, "schema": dict(request.schema)}}
    return body


def _part(part: str | SentImage) -> dict[str, Any]:
    if isinstance(part, str):
        return {"type": "input_text", "text": part}
    url = data_url(part.data, part.media_type)
    return {"type": "input_image", "image_url": url, "detail": part.detail or "auto"}


def read_responses_body(
    body: Mapping[str, Any], asked_limit: int | None
) -> tuple[ModelOutput, dict[str, Any]]:
    """Read a body whose ``status`` is not ``failed``.

    Of several messages only those with ``phase`` null or ``final_answer`` are the answer; the
    others are intermediate.

    Returns
    -------
    tuple
        The output, and the body without the bytes of pictures.
    """
    returned = ReturnedPictures()
    output = [_without_picture(item, returned) for item in list_items(body.get("output"))]
    texts, refusals, thought = [], [], False
    for item in map(object_fields, output):
        thought = thought or (item.get("type") == "reasoning" and bool(item.get("content")))
        if item.get("type") != "message" or item.get("phase") not in (None, "final_answer"):
            continue
        for part in map(object_fields, list_items(item.get("content"))):
            texts.append(text_or_none(part.get("text")) or "")
            refusals.append(text_or_none(part.get("refusal")))
    refused = [words for words in refusals if words]  # some servers always send an empty one
    status = text_or_none(body.get("status"))
    reason = text_or_none(object_fields(body.get("incomplete_details")).get("reason"))
    ended: EndReason = "done" if status in (None, "completed") else "other"
    said = ModelOutput(
        text="".join(texts),
        ended=_ENDED.get(reason or "", ended),
        word=reason or status,
        refusal="\n".join(refused) if refused else None,
        usage=_usage(object_fields(body.get("usage"))),
        limit=asked_limit or count_or_none(body.get("max_output_tokens")),
        thought=thought,
        pictures=tuple(returned.files),
    )
    return said, {**body, "output": output}


def _without_picture(item: Any, returned: ReturnedPictures) -> Any:
    held = object_fields(item)
    if held.get("type") == "image_generation_call" and text_or_none(held.get("result")):
        return without_picture(item, "result", returned)
    return item


def _usage(usage: Mapping[str, Any]) -> Usage:
    return Usage(
        count_or_none(usage.get("input_tokens")),
        count_or_none(usage.get("output_tokens")),
        count_or_none(object_fields(usage.get("output_tokens_details")).get("reasoning_tokens")),
        count_or_none(object_fields(usage.get("input_tokens_details")).get("cached_tokens")),
    )

"""Answers as programs log them, made plain records: batches, raw replies of providers, harnesses.

A reply is recognised by its own shape, wherever in an entry it stands: OpenAI's chat completions,
completions and responses (also what vLLM, Azure and OpenRouter send), Anthropic's messages,
Gemini's candidates, Ollama. What a record says beside the reply stays in it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

Record = dict[str, Any]

_DEEPEST: Final = 3
_OF_A_REPLY: Final = frozenset(
    (
        *("choices", "usage", "content", "candidates", "usageMetadata", "output", "message"),
        *("completion", "object", "stop_reason", "stop_sequence", "type", "role", "done_reason"),
        *("done", "modelVersion", "incomplete_details", "eval_count", "prompt_eval_count"),
    )
)
"""Names in a reply that are its form, or were read."""


def is_batch(entry: Any) -> bool:
    """Whether an entry is a line of a batch: requests or results under a ``custom_id``."""
    if not isinstance(entry, Mapping) or "custom_id" not in entry:
        return False
    return not entry.keys().isdisjoint(("response", "result", "body", "error"))


def is_harness_sample(entry: Any) -> bool:
    """Whether an entry is a sample that lm-eval (or lmms-eval) logged."""
    return isinstance(entry, Mapping) and entry.keys() >= {"doc_id", "doc", "resps"}


def plain_entry(entry: Any) -> Any:
    """Return an entry with the reply that it holds as ``answer``, ``model`` and so on.

    Fields of a reply are called ``answer``, ``model``, ``finish_reason``, ``input_tokens``,
    ``output_tokens``, ``created`` and ``error``; an entry without one is returned as it is.
    """
    if not isinstance(entry, Mapping):
        return entry
    if is_harness_sample(entry):
        return _harness_sample(entry)
    found = _reply_in(entry)
    if found is None:
        return _request(entry) if is_batch(entry) else entry
    path, reply = found
    rest = _without(entry, path)
    if is_batch(entry) and "id" in rest:
        rest["batch id"] = rest.pop("id")
    if isinstance(error := rest.get("error"), Mapping):
        rest["error"] = error.get("message") or error.get("code") or error.get("type")
    if not path:
        rest = {name: one for name, one in rest.items() if name not in (*reply, "created_at")}
    twice = reply.keys() & rest.keys()
    # what the entry itself says of the model is its name here, the reply's is the served one
    told = {name if name not in twice else f"served {name}": one for name, one in reply.items()}
    if "served model" in told and is_batch(entry):
        told["model"], _ = told.pop("served model"), rest.pop("model")
    return rest | told


def _reply_in(entry: Mapping[str, Any], depth: int = 0) -> tuple[tuple[str, ...], Record] | None:
    """Find a provider's reply: the path of names that leads to it, and what it says."""
    told = _reply(entry)
    if told is not None:
        return (), told
    if depth < _DEEPEST:
        for name, part in entry.items():
            if isinstance(part, Mapping) and (found := _reply_in(part, depth + 1)):
                return (name, *found[0]), found[1]
    return None


def _without(entry: Mapping[str, Any], path: tuple[str, ...]) -> Record:
    """Return an entry without the reply, and without names of an envelope that said nothing."""
    if not path:
        return {name: part for name, part in entry.items() if name not in _OF_A_REPLY}
    name, rest = path[0], dict(entry)
    inner = _without(rest.pop(name), path[1:])
    kept = {key: part for key, part in inner.items() if key not in ("id", "created", "model")}
    return rest | ({name: kept} if kept else {})


def _reply(reply: Mapping[str, Any]) -> Record | None:
    for read in (_openai, _openai_response, _anthropic, _gemini, _ollama):
        found = read(reply)
        if found is not None:
            answer = "" if found["answer"] is None else found["answer"]
            found = {"model": reply.get("model"), **found, "answer": answer}
            return {name: value for name, value in found.items() if value is not None}
    return None


def _usage(usage: Any, given: str, returned: str) -> Record:
    if not isinstance(usage, Mapping):
        return {}
    if given not in usage:  # as inspect_ai writes it
        given, returned = "input_tokens", "output_tokens"
    rest = {name: part for name, part in usage.items() if name not in (given, returned) and part}
    tokens = {"input_tokens": usage.get(given), "output_tokens": usage.get(returned)}
    return tokens | ({"usage": rest} if rest else {})


def _openai(reply: Mapping[str, Any]) -> Record | None:
    choices = reply.get("choices")
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], Mapping):
        return None
    first = choices[0]
    message = first.get("message")
    if not isinstance(message, Mapping) and "text" not in first:
        return None
    text = text_of(message.get("content")) if isinstance(message, Mapping) else first["text"]
    more = [_openai({"choices": [choice]}) for choice in choices[1:]]
    return {
        "answer": text,
        "finish_reason": first.get("finish_reason") or first.get("stop_reason"),
        "created": reply.get("created"),
        "reply id": reply.get("id"),
        "more answers": [one["answer"] or "" for one in more if one] or None,
        "refusal": message.get("refusal") if isinstance(message, Mapping) else None,
        **_usage(reply.get("usage"), "prompt_tokens", "completion_tokens"),
    }


def _openai_response(reply: Mapping[str, Any]) -> Record | None:
    output = reply.get("output")
    if reply.get("object") != "response" or not isinstance(output, list):
        return None
    messages = [one for one in output if isinstance(one, Mapping) and one.get("type") == "message"]
    details = reply.get("incomplete_details")
    why = details.get("reason") if isinstance(details, Mapping) else None
    return {
        "answer": "".join(text_of(one.get("content")) or "" for one in messages),
        "finish_reason": why or reply.get("status"),
        "created": reply.get("created_at"),
        **_usage(reply.get("usage"), "input_tokens", "output_tokens"),
    }


def _anthropic(reply: Mapping[str, Any]) -> Record | None:
    if reply.get("type") != "message" or not isinstance(reply.get("content"), list):
        return None
    usage = _usage(reply.get("usage"), "input_tokens", "output_tokens")
    answer = text_of(reply["content"])
    return {"answer": answer, "finish_reason": reply.get("stop_reason"), **usage}


def _gemini(reply: Mapping[str, Any]) -> Record | None:
    candidates = reply.get("candidates")
    if not isinstance(candidates, list) or not candidates or not isinstance(candidates[0], Mapping):
        return None
    first = candidates[0]
    return {
        "answer": text_of(first.get("content")),
        "finish_reason": first.get("finishReason") or first.get("finish_reason"),
        "model": reply.get("modelVersion") or reply.get("model_version"),
        **_usage(reply.get("usageMetadata"), "promptTokenCount", "candidatesTokenCount"),
    }


def _ollama(reply: Mapping[str, Any]) -> Record | None:
    message = reply.get("message")
    if "done" not in reply or not (isinstance(message, Mapping) or "response" in reply):
        return None
    text = message.get("content") if isinstance(message, Mapping) else reply["response"]
    return {
        "answer": text_of(text),
        "finish_reason": reply.get("done_reason"),
        "created": reply.get("created_at"),
        "input_tokens": reply.get("prompt_eval_count"),
        "output_tokens": reply.get("eval_count"),
    }


def _request(entry: Mapping[str, Any]) -> Record:
    """Read a line of a batch without a reply: what was asked, or what went wrong."""
    rest = {name: part for name, part in entry.items() if part is not None}
    if "id" in rest:
        rest["batch id"] = rest.pop("id")
    body = rest.get("body") or rest.get("params")
    if isinstance(body, Mapping) and isinstance(body.get("messages"), list):
        asked = {"requested model" if name == "model" else name: body[name] for name in body}
        return {name: part for name, part in rest.items() if part is not body} | asked
    parts = ("error", "response", "result")
    error = next(filter(None, (_error_in(rest.get(name)) for name in parts)), None)
    if error is None:
        return rest
    return {name: one for name, one in rest.items() if name not in parts} | {"error": error}


def _error_in(part: Any, depth: int = 0) -> str | None:
    """Return the words of an error, however deep its envelope."""
    if isinstance(part, str):
        return part if depth else None
    if not isinstance(part, Mapping) or depth > _DEEPEST:
        return None
    told = part.get("message") or part.get("code")
    if isinstance(told, str) and told:
        return told
    for name in ("error", "body"):
        if found := _error_in(part.get(name), depth + 1):
            return found
    kind = part.get("type")
    return kind if isinstance(kind, str) and kind in ("errored", "expired", "canceled") else None


def _harness_sample(entry: Mapping[str, Any]) -> Record:
    """Read a sample of lm-eval: the document's fields, the answer, the target, the scores."""
    doc = entry["doc"] if isinstance(entry["doc"], Mapping) else {"document": entry["doc"]}
    filtered = entry.get("filtered_resps") or []
    resps = entry["resps"]
    while isinstance(resps, list) and len(resps) == 1:
        resps = resps[0]
    read = ("doc", "doc_id", "resps", "filtered_resps", "target", "arguments")
    rest = {name: part for name, part in entry.items() if name not in read}
    named = any(name in ("id", "case_id", "question_id", "qid", "study_id") for name in doc)
    found: Record = dict(doc) | ({} if named else {"id": entry["doc_id"]})
    target = entry.get("target")
    if target not in (None, "") and target not in found.values():
        found["target"] = target
    if isinstance(resps, str):
        found["model answer"] = resps
        if isinstance(filtered, list) and filtered and filtered != [resps]:
            found["filtered answer"] = filtered[0] if len(filtered) == 1 else filtered
    else:
        found["resps"] = resps
    return found | {name: part for name, part in rest.items() if name not in found}


def text_of(content: Any) -> str | None:
    """Return a message's text: as it is, or its text parts joined; None when it has none."""
    if isinstance(content, str):
        return content
    if isinstance(content, Mapping):
        content = content.get("parts") or [content]
    if not isinstance(content, list):
        return None
    parts = [
        part if isinstance(part, str) else part.get("text")
        for part in content
        if isinstance(part, str | Mapping)
    ]
    texts = [part for part in parts if isinstance(part, str)]
    return "".join(texts) if texts else None

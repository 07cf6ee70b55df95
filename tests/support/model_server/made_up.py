"""Answers that nobody scripted: simulated, and the same for the same question every time."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

SENTENCES = (
    "Simulated answer.",
    "The heart is of normal size.",
    "There is a small opacity in the right lower zone.",
    "No pleural effusion is seen.",
    "The mediastinum is not widened.",
    "The costophrenic angles are sharp.",
)


def number_of(text: str) -> int:
    """Return a number that is always the same for a text."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:6])


def plain(question: str) -> str:
    """Return an answer in free text."""
    start = number_of(question) % len(SENTENCES)
    chosen = [SENTENCES[0], *(SENTENCES[1:] * 2)[start : start + 3]]
    return " ".join(chosen)


def of_schema(schema: Mapping[str, Any], question: str) -> str:
    """Return JSON that a schema allows."""
    return json.dumps(_value(schema, question, schema))


def _value(schema: Mapping[str, Any], question: str, whole: Mapping[str, Any]) -> Any:
    if "$ref" in schema:
        found: Any = whole
        for name in schema["$ref"].removeprefix("#/").split("/"):
            found = found[name]
        return _value(found, question, whole)
    for several in ("anyOf", "oneOf"):
        if several in schema:
            return _value(schema[several][0], question, whole)
    if "const" in schema:
        return schema["const"]
    if "enum" in schema:
        return schema["enum"][number_of(question) % len(schema["enum"])]
    kind = schema.get("type", "string")
    kind = kind[0] if isinstance(kind, list) else kind
    if kind == "object":
        fields = schema.get("properties", {})
        return {name: _value(each, question + name, whole) for name, each in fields.items()}
    if kind == "array":
        count = schema.get("minItems", 1)
        if schema.get("items", {}).get("type") in ("number", "integer") and count == 4:
            x = number_of(question) % 400
            return [x, x + 50, x + 200, x + 300]
        return [_value(schema["items"], f"{question}{n}", whole) for n in range(count)]
    simple = {"string": plain(question), "integer": 1, "number": 1.0, "boolean": True, "null": None}
    return simple[kind]


def boxes_text(told: Mapping[str, Any], pictures: Sequence[tuple[int, int]]) -> str:
    """Return a text with boxes, written in a model's way; ``pictures`` are sizes as sent."""
    width, height = pictures[told.get("picture", 0)]
    scale_x, scale_y = {
        "pixels_sent": (1.0, 1.0),
        "normalised_1000": (1000 / width, 1000 / height),
        "normalised_1": (1 / width, 1 / height),
    }[told.get("convention", "pixels_sent")]
    labels = told.get("labels", ())
    rows = []
    for number, (x, y, w, h) in enumerate(told["at"]):
        x0, x1, y0, y1 = x * scale_x, (x + w) * scale_x, y * scale_y, (y + h) * scale_y
        numbers = {
            "xyxy": (x0, y0, x1, y1),
            "yxyx": (y0, x0, y1, x1),
            "xywh": (x0, y0, x1 - x0, y1 - y0),
            "cxcywh": ((x0 + x1) / 2, (y0 + y1) / 2, x1 - x0, y1 - y0),
        }[told.get("corners", "xyxy")]
        digits = 4 if told.get("convention") == "normalised_1" else None
        row: dict[str, Any] = {told.get("key", "box"): [round(n, digits) for n in numbers]}
        if number < len(labels):
            row["label"] = labels[number]
        rows.append(row)
    return told.get("before", "Final Answer: ") + json.dumps(rows)

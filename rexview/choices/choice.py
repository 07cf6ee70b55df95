"""What was read from a text, how, and where it stands."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

METHODS: Final[dict[str, str]] = {
    "letter": "a letter on its own, before the rest, or on the last line",
    "option": "the words of one option, and nothing else",
    "stated": "a sentence that names the answer",
    "field": "the answer's field of a JSON object",
    "probability": "the option that is given by far the highest probability",
    "mentioned": "the only option that the text speaks of",
}
"""How a choice was read from a text, by id, with its words."""


@dataclass(frozen=True, slots=True)
class ReadChoice:
    """An option (from 0) that was read from ``text[start:end]`` by one of :data:`METHODS`."""

    option: int
    method: str
    start: int
    end: int

"""What a request and an answer cost in tokens, by rules of this server's own.

Pictures by what OpenAI documents ("Images and vision", calculating costs): models that see squares
of 512 pixels pay a base and so much for each square, models that see patches of 32 pixels pay for
each patch times a factor. Text by a splitting of its own, near to what its tokenisers make of
English, so that an estimate cannot agree with it by being the same code.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

PER_MESSAGE = 3
PER_REPLY = 3
LETTERS_A_TOKEN = 8
"""Most English words are one token; longer ones, as in reports, are two or three."""

TILES = {  # base, each square
    "gpt-5-chat": (70, 140),
    "gpt-5": (70, 140),
    "gpt-4o-mini": (2833, 5667),
    "gpt-4o": (85, 170),
    "gpt-4.1": (85, 170),
    "gpt-4.5": (85, 170),
    "o1": (75, 150),
    "o3": (75, 150),
}
PATCHES = {  # factor
    "gpt-5-mini": 1.62,
    "gpt-5-nano": 2.46,
    "gpt-4.1-mini": 1.62,
    "gpt-4.1-nano": 2.46,
    "o4-mini": 1.72,
}
MOST_PATCHES = 1536
_PIECE = re.compile(r"\s*(?:\d{1,3}|[^\W\d_]+|[^\w\s]+?|_+)|\s+")


def pieces(text: str) -> list[str]:
    """Return a text in its tokens, which joined are the text."""
    found = []
    for piece in _PIECE.findall(text):
        letters = piece.lstrip()
        if len(letters) <= LETTERS_A_TOKEN:
            found.append(piece)
            continue
        blank = piece[: len(piece) - len(letters)]
        parts = [
            letters[start : start + LETTERS_A_TOKEN]
            for start in range(0, len(letters), LETTERS_A_TOKEN)
        ]
        found += [blank + parts[0], *parts[1:]]
    return found


def text_tokens(text: str) -> int:
    """Return how many tokens a text is."""
    return len(pieces(text))


def _longest(table: Mapping[str, Any], model: str) -> str | None:
    return max((name for name in table if model.startswith(name)), key=len, default=None)


def image_tokens(model: str, width: int, height: int, detail: str | None) -> int:
    """Return what a picture costs, in tokens; models that nobody knows are billed as gpt-4o."""
    patch, tile = _longest(PATCHES, model), _longest(TILES, model)
    if patch is not None and len(patch) >= len(tile or ""):
        return math.ceil(_patches(width, height) * PATCHES[patch])
    base, each = TILES[tile or "gpt-4o"]
    if detail == "low":
        return base
    scale = min(1.0, 2048 / max(width, height))
    width_, height_ = width * scale, height * scale
    scale = min(1.0, 768 / min(width_, height_))
    squares = math.ceil(width_ * scale / 512) * math.ceil(height_ * scale / 512)
    return base + each * squares


def _patches(width: int, height: int) -> int:
    count = math.ceil(width / 32) * math.ceil(height / 32)
    if count <= MOST_PATCHES:
        return count
    shrink = math.sqrt(32 * 32 * MOST_PATCHES / (width * height))
    across, down = width * shrink / 32, height * shrink / 32
    fit = min(math.floor(across) / across, math.floor(down) / down)
    return math.ceil(round(across * fit, 6)) * math.ceil(round(down * fit, 6))

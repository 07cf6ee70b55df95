"""What a server sent, as plain values: of any type, of any size, and perhaps with a key in it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Final

from rexview.bounded import printable

MAX_MESSAGE: Final = 300
"""Letters of a server's words in a message."""
MAX_RAW_TEXT: Final = 20_000
"""Letters of each text of a failed attempt that are kept in the log."""
_MOST_COUNT: Final = 10**12
_MOST_DEEP: Final = 20
_MOST_ITEMS: Final = 200
_MASK: Final = "[key]"
_KEY_LIKE: Final = re.compile(
    r"(?i)\bbearer\s+[^\s\"',;]{6,}"
    r"|\b(?:sk|rk|pk|hf|gsk|xai|nvapi|key)[-_][A-Za-z0-9_*.\-]{6,}"
    r"|\bAIza[A-Za-z0-9_\-]{10,}"
)


def parse(content: bytes) -> tuple[Any, bool]:
    """Return JSON as plain values, or the text as it is, and whether it was JSON.

    Half of a surrogate pair, which no file could hold, becomes a question mark.
    """
    try:
        value = json.loads(content)
        if b"\\ud" in content.lower():
            value = json.loads(json.dumps(value, ensure_ascii=False).encode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return content.decode("utf-8", "replace"), False
    return value, True


def text(value: Any) -> str | None:
    """Return a text, or None where there is none."""
    return value if isinstance(value, str) else None


def whole(value: Any) -> int | None:
    """Return a count, or None where there is none."""
    if not isinstance(value, int) or isinstance(value, bool):
        return None
    return value if 0 <= value <= _MOST_COUNT else None  # a table holds no larger one


def fields(value: Any) -> Mapping[str, Any]:
    """Return an object's fields; none where it is no object."""
    return value if isinstance(value, dict) else {}


def items(value: Any) -> list[Any]:
    """Return a list's items; none where it is no list."""
    return value if isinstance(value, list) else []


def masked(words: str, key: str | None) -> str:
    """Return a text without the key, and without what looks like one."""
    if key and len(key) >= 4:
        words = words.replace(key, _MASK)
    return _KEY_LIKE.sub(_MASK, words)


def one_line(words: str, key: str | None) -> str:
    """Return a server's words as they may stand in a message: short, on one line, without keys."""
    line = printable(" ".join(masked(words[: 10 * MAX_MESSAGE], key).split()))
    return line if len(line) <= MAX_MESSAGE else line[: MAX_MESSAGE - 1] + "…"


def kept(value: Any, key: str | None, deep: int = 0) -> Any:
    """Return a body of an error for the log: without keys, and of bounded size."""
    if isinstance(value, str):
        words = masked(value[: 2 * MAX_RAW_TEXT], key)
        return words if len(words) <= MAX_RAW_TEXT else words[:MAX_RAW_TEXT] + "…"
    if isinstance(value, (dict, list)) and deep >= _MOST_DEEP:
        return "…"
    if isinstance(value, dict):
        some = list(value.items())[:_MOST_ITEMS]
        return {masked(str(name)[:200], key): kept(each, key, deep + 1) for name, each in some}
    if isinstance(value, list):
        return [kept(each, key, deep + 1) for each in value[:_MOST_ITEMS]]
    return value

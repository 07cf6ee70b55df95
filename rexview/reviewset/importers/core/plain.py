"""Values of any source made such that every file of a review set can hold them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, time
from typing import Any, Final

MAX_DEPTH: Final = 20
"""Lists and objects within each other that are kept of a source."""
_INT64_MAX: Final = 2**63 - 1


def plain(row: Mapping[str, Any]) -> tuple[dict[str, Any], bool]:
    """Return a row of texts, numbers, lists and objects only, and whether something was cut off.

    Bytes become their number, dates text. Texts lose what UTF-8 cannot hold, numbers beyond 64 bits
    become text, tuples lists; what is nested deeper than :data:`MAX_DEPTH` is None.
    """
    cut = False

    def made(value: Any, depth: int) -> Any:
        nonlocal cut
        if isinstance(value, str):
            return plain_text(value)
        if isinstance(value, int) and abs(value) > _INT64_MAX:
            return str(value)
        if isinstance(value, bytes):
            return f"({len(value):,} bytes)"
        if isinstance(value, date | time):
            return value.isoformat()
        if not isinstance(value, Mapping | list | tuple):
            return value
        if depth >= MAX_DEPTH:
            cut = True
            return None
        if isinstance(value, Mapping):
            return {plain_text(str(key)): made(one, depth + 1) for key, one in value.items()}
        return [made(one, depth + 1) for one in value]

    return {plain_text(str(name)): made(value, 0) for name, value in row.items()}, cut


def plain_text(text: str) -> str:
    """Return the text without what UTF-8 cannot hold (lone surrogates) and without NUL."""
    if text.isascii():
        return text.replace("\x00", "") if "\x00" in text else text
    return text.encode("utf-8", "replace").decode("utf-8").replace("\x00", "")

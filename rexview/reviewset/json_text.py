"""Read JSON with the faults of real files: ``NaN`` from pandas, lone surrogates, repeated keys."""

from __future__ import annotations

import json
import math
import re
from typing import Any, Final

MAX_JSON_DEPTH: Final = 40
"""Maximum nesting of lists and objects."""
MISSING_WORDS: Final = ("", "nan", "na", "n/a", "null", "none", "nat", "<na>")
"""Words, in lower case, that mean a missing value where no text is expected."""
_HALF_PAIR: Final = re.compile("[\ud800-\udfff]")
_ESCAPED_HALF: Final = re.compile(r"\\u[dD][89a-fA-F]")


class JsonError(ValueError):
    """A text is not usable JSON; the message gives the reason for a reader of the file."""


def parse_json(text: str) -> Any:
    """Parse one JSON value.

    ``NaN`` and infinities become floats, as pandas writes them. A lone surrogate, which no file can
    store, becomes ``U+FFFD``.

    Raises
    ------
    JsonError
        It is not JSON, names a field twice, or is nested too deeply.
    """
    try:
        value = _DECODER.decode(text)
    except json.JSONDecodeError as error:
        raise JsonError(f"it breaks off or goes wrong at character {error.pos + 1}") from None
    except RecursionError:
        raise JsonError("it is nested too deeply") from None
    except ValueError as error:
        if isinstance(error, JsonError):
            raise
        raise JsonError("it holds a number with too many digits") from None
    if text.count("[") + text.count("{") > MAX_JSON_DEPTH and is_too_deep(value):
        raise JsonError("it is nested too deeply")
    return _without_surrogates(value) if _ESCAPED_HALF.search(text) else value


def is_too_deep(value: Any) -> bool:
    """True if lists and objects are nested deeper than :data:`MAX_JSON_DEPTH`.

    Python itself reads about a thousand levels, and fails when it writes such a value again.
    """
    level = [value] if isinstance(value, dict | list) else []
    for _ in range(MAX_JSON_DEPTH):
        level = [
            inner
            for outer in level
            for inner in (outer.values() if isinstance(outer, dict) else outer)
            if isinstance(inner, dict | list)
        ]
    return bool(level)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise JsonError(f"it names the field “{twice}” twice")
    return found


_DECODER: Final = json.JSONDecoder(object_pairs_hook=_object)


def _without_surrogates(value: Any) -> Any:
    """Replace lone surrogates, everywhere inside."""
    if isinstance(value, str):
        return _HALF_PAIR.sub("\N{REPLACEMENT CHARACTER}", value)
    if isinstance(value, list):
        return [_without_surrogates(part) for part in value]
    if isinstance(value, dict):
        return {_without_surrogates(key): _without_surrogates(part) for key, part in value.items()}
    return value


def is_missing(value: Any) -> bool:
    """True if a parsed value is missing: null, or NaN as pandas writes it."""
    return value is None or (isinstance(value, float) and math.isnan(value))


def dump_json(value: Any) -> str:
    """Write a value as compact JSON that every parser accepts; NaN becomes null."""
    return json.dumps(_finite(value), ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def _finite(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else str(value)
    if isinstance(value, list | tuple):
        return [_finite(part) for part in value]
    if isinstance(value, dict):
        return {str(key): _finite(part) for key, part in value.items()}
    return value

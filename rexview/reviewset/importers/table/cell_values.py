"""Values of table cells: numbers, yes or no, lists, options, as people and programs write them."""

from __future__ import annotations

import json
import math
import re
from typing import Final

from rexview.reviewset.json_text import dump
from rexview.reviewset.tables.scalars import NO, YES

_YES: Final = frozenset((*YES, "x", "✓", "✔", "ja", "oui", "present"))
_NO: Final = frozenset((*NO, "-", "nein", "non", "absent"))
_NOT_SCORED: Final = frozenset(("-", "–", "—", "na", "n/a", "none", "x", "?", ".", "not scored"))
_OUT_OF_FIVE: Final = re.compile(r"(\d(?:[.,]\d+)?)\s*(?:/|out of|of)\s*5")
_THOUSANDS: Final = re.compile(r"[+-]?[1-9]\d{0,2}(,\d{3})+")
_INT64_MAX: Final = 2**63 - 1


def read_number(text: str | None) -> float | None:
    """Return a finite number, or None: ``3``, ``3.0``, ``3,5``, ``1,024``, ``4/5`` (a score)."""
    if text is None or len(text) > 40:
        return None
    plain = text.strip().replace("\u00a0", "")
    out_of = _OUT_OF_FIVE.fullmatch(plain)
    if out_of:
        plain = out_of[1]
    if _THOUSANDS.fullmatch(plain):
        plain = plain.replace(",", "")
    try:
        number = float(plain.replace(",", "."))
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def read_whole(text: str | None) -> int | None:
    """Return a whole number that fits 64 bits, or None."""
    number = read_number(text)
    whole = number is not None and number.is_integer() and abs(number) < _INT64_MAX
    return int(number) if number is not None and whole else None


def read_yes_no(text: str | None) -> bool | None:
    """Return True or False for the usual words and ticks, None for anything else."""
    word = (text or "").strip().lower().removesuffix(".0")
    return True if word in _YES else False if word in _NO else None


def is_not_scored(text: str) -> bool:
    """Whether a cell of a score column says that there is no score."""
    return text.strip().lower() in _NOT_SCORED


def read_list(text: str | None) -> list[str]:
    """Return the entries of a cell that may hold several.

    A JSON or Python list, or entries apart by line breaks, ``;`` or ``|``. A comma separates only
    file names (each entry has an ending): text and folders have commas of their own.
    """
    if text is None or not text.strip():
        return []
    plain = text.strip()
    if plain.startswith("[") and plain.endswith("]"):
        for candidate in (plain, plain.replace("'", '"')):
            try:
                values = json.loads(candidate)
            except (ValueError, RecursionError):
                continue
            given = (one for one in values if one is not None)
            texts = (dump(one) if isinstance(one, list | dict) else str(one) for one in given)
            return [text.strip() for text in texts if text.strip()]
    parts = re.split(r"[\n;|]", plain)
    if len(parts) == 1:
        names = plain.split(",")
        if len(names) > 1 and all(re.search(r"\.\w{2,5}\s*$", name) for name in names):
            parts = names
    return [part.strip() for part in parts if part.strip()]


def read_option(text: str | None, options: int) -> int | None:
    """Return the 0-based index of an option given as a letter (``B``, ``(B)``, ``B.``) or index."""
    if text is None:
        return None
    letter = re.fullmatch(r"\W*([A-Za-z])\W*", text.strip()) or re.match(r"([A-Za-z])[.):]\s", text)
    if letter:
        index: int | None = ord(letter[1].upper()) - ord("A")
    else:
        index = read_whole(text)
    return index if index is not None and 0 <= index < max(options, 1) else None

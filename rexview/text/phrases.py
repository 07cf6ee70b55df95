"""Read the word lists of ``phrases.yaml`` as patterns and sets of words."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Final

from rexview.package_data import read_package_table

_FILE: Final = Path(__file__).with_name("phrases.yaml")


@cache
def _parts() -> dict[str, dict[str, list[str]]]:
    content: dict[str, dict[str, list[str]]] = read_package_table(_FILE)
    return content


def list_alternatives(part: str, name: str) -> str:
    """Return a list as alternatives for a regular expression, without a group around them.

    >>> list_alternatives("report", "focal")
    'focal|discrete|dense|confluent'
    """
    return "|".join(_parts()[part][name])


def whole_words(part: str, name: str) -> re.Pattern[str]:
    """Return a pattern that matches the items of a list as whole words, in any case."""
    return re.compile(rf"\b(?:{list_alternatives(part, name)})\b", re.IGNORECASE)


def word_set(part: str, name: str) -> frozenset[str]:
    """Return a list of single words."""
    return frozenset(_parts()[part][name])


def list_names(part: str) -> tuple[str, ...]:
    """Return the names of a part's lists."""
    return tuple(_parts()[part])

"""What names a candidate question that a model proposed: a digest of what it says."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import Final

_DIGITS: Final = 12


def open_id(question: str) -> str:
    """Return the name of an open question; spaces make no other one.

    >>> open_id("Is there an effusion?") == open_id(" Is there  an effusion? ")
    True
    """
    return f"q-{_digest(_plain(question))}"


def choice_id(question: str, options: Sequence[str]) -> str:
    """Return the name of a multiple choice question, by its words and its options in order.

    >>> choice_id("Which?", ["Left", "Right"]) == choice_id("Which?", ["Right", "Left"])
    False
    """
    return f"m-{_digest(json.dumps([_plain(question), *map(_plain, options)]))}"


def _plain(text: str) -> str:
    return " ".join(text.split())


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:_DIGITS]

"""The wording of what is asked, as versioned YAML files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Prompt:
    """One wording: templates with named fields in curly brackets.

    ``id`` names wording and version (``expert-1``, with the box instruction ``expert-1-boxes``).
    ``texts`` has a template for each question type and each thing that is said on its own
    (``views``, ``prior``, ``context``, ``boxes``); ``schema`` is the JSON schema of the answer.
    """

    id: str
    name: str
    version: int
    system: str
    texts: Mapping[str, str]
    asks_for_boxes: bool = False
    schema: Mapping[str, Any] | None = None
    source: str = ""
    hash: str = ""

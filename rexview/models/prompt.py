"""The wording of what is asked, as versioned YAML files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Prompt:
    """One wording: templates with named fields in curly brackets.

    Attributes
    ----------
    id
        Names wording and version (``expert-1``, with the box instruction ``expert-1-boxes``).
    system
        What the model is told first.
    texts
        A template for each question type, and for each thing that is said on its own: ``current``
        and ``prior`` before a picture, ``context``, ``json`` (how an object is answered with),
        ``boxes``, ``boxes_in_text`` (where boxes stand in an answer of free text).
    fields
        For each question type the parts of an answer, in order, and what each holds.
    hash
        Of all of it: an edited wording is another one.
    """

    id: str
    name: str
    version: int
    system: str
    texts: Mapping[str, str]
    fields: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    asks_for_boxes: bool = False
    source: str = ""
    hash: str = ""

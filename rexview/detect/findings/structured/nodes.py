"""What objects and tables are read into: values with their offsets."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

Span = tuple[int, int]
"""Start and end of a stretch of the text."""
DEPTH: Final = 40
"""How deep objects may lie in one another; what lies deeper is left out."""


@dataclass(slots=True)
class Node:
    """A value: a stretch of text, or the fields of an object (an array's have no key).

    The fields of a ``row`` of a table have their column's header as key.
    """

    span: Span
    fields: list[tuple[Span | None, Node]] | None = None
    row: bool = False

    def inner(self) -> list[tuple[Span | None, Node]]:
        """Return the fields, to which more may be added."""
        if self.fields is None:
            self.fields = []
        return self.fields


@dataclass(slots=True)
class StructuredPart:
    """A stretch of the text that is an object or a table, with its records."""

    span: Span
    records: list[Node] = field(default_factory=list)

"""What a declared column and a declared table are."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final, Literal

import polars as pl

Kind = Literal[
    "id",  # text that rows are matched by; numbers are taken as text, outer spaces are cut
    "text",
    "word",  # one of `words`; case, spaces and hyphens do not matter
    "integer",
    "number",
    "yes_no",
    "date",  # ISO 8601, UTC unless it says otherwise
    "texts",  # list of text
    "tags",  # {text: [text]}
    "box",  # x, y, width, height: pixels of the stored image, origin top left
    "record",  # object with `fields`
    "records",  # list of such objects
    "object",  # any JSON object
]
KIND_NAMES: Final[dict[Kind, str]] = {
    "id": "text",
    "text": "text",
    "word": "word",
    "integer": "whole number",
    "number": "number",
    "yes_no": "true or false",
    "date": "date and time",
    "texts": "list of text",
    "tags": "{text: [text]}",
    "box": "[x, y, width, height]",
    "record": "object",
    "records": "list of objects",
    "object": "object",
}
"""How ``FORMAT.md`` and messages name a kind."""

_SCALARS: Final[dict[Kind, pl.DataType]] = {
    "id": pl.String(),
    "text": pl.String(),
    "word": pl.String(),
    "integer": pl.Int64(),
    "number": pl.Float64(),
    "yes_no": pl.Boolean(),
    "date": pl.Datetime("us", "UTC"),
    "object": pl.String(),  # kept as JSON
    "texts": pl.List(pl.String()),
    "box": pl.List(pl.Float64()),
    "tags": pl.List(pl.Struct({"name": pl.String(), "values": pl.List(pl.String())})),
}


@dataclass(frozen=True)
class Column:
    """One column, or one field of a nested column.

    ``words`` are the words it may hold; with ``other_words`` a word that is not among them is kept
    with a warning, else it is an error. ``low`` and ``high`` are inclusive. ``fields`` are those of
    a ``record`` or of each of ``records``.
    """

    name: str
    kind: Kind
    meaning: str
    required: bool = False
    words: tuple[str, ...] = ()
    other_words: bool = False
    low: float | None = None
    high: float | None = None
    fields: tuple[Column, ...] = ()

    @property
    def dtype(self) -> pl.DataType:
        """The polars type that it is read into, before words are normalised."""
        if self.kind in ("record", "records"):
            struct = pl.Struct({part.name: part.dtype for part in self.fields})
            return struct if self.kind == "record" else pl.List(struct)
        return _SCALARS[self.kind]

    def absent(self, height: int) -> pl.Series:
        """Make the column where a file does not have it: nulls, or empty lists."""
        nothing: list[Any] | None = [] if isinstance(self.dtype, pl.List) else None
        return pl.Series(self.name, [nothing], dtype=self.dtype).new_from_index(0, height)

    @property
    def is_scalar(self) -> bool:
        """Whether a CSV cell holds it as it is, not as JSON."""
        return self.kind in ("id", "text", "word", "integer", "number", "yes_no", "date")


@dataclass(frozen=True)
class Table:
    """One table: its columns, and the columns that together name a row.

    Two rows that are alike in ``key`` contradict each other, unless they are alike in everything.
    An empty ``key`` means that rows have no name.
    """

    name: str
    meaning: str
    columns: tuple[Column, ...]
    key: tuple[str, ...] = ()
    required: bool = False
    by_name: dict[str, Column] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "by_name", {column.name: column for column in self.columns})

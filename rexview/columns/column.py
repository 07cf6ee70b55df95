"""What a table and a column are, and the columns that several tables share."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final, Literal

import polars as pl

ColumnKind = Literal[
    "id",  # text that rows are matched by; numbers are taken as text, outer spaces are cut
    "text",
    "word",  # one of the `vocabulary`; case, spaces and hyphens do not matter
    "integer",
    "number",
    "yes_no",
    "date",  # ISO 8601, UTC unless it has a zone
    "texts",  # list of text
    "tags",  # {text: [text]}
    "box",  # x, y, width, height: pixels of the stored image, origin top left
    "object",  # any JSON object, kept as JSON
    "record",  # object with `fields`
    "records",  # list of such objects
]
_KINDS: Final[dict[ColumnKind, tuple[str, pl.DataType]]] = {
    "id": ("text", pl.String()),
    "text": ("text", pl.String()),
    "word": ("word", pl.String()),
    "integer": ("whole number", pl.Int64()),
    "number": ("number", pl.Float64()),
    "yes_no": ("true or false", pl.Boolean()),
    "date": ("date and time", pl.Datetime("us", "UTC")),
    "texts": ("list of text", pl.List(pl.String())),
    "tags": (
        "{text: [text]}",
        pl.List(pl.Struct({"name": pl.String(), "values": pl.List(pl.String())})),
    ),
    "box": ("[x, y, width, height]", pl.List(pl.Float64())),
    "object": ("object", pl.String()),
}
"""The name of each kind in ``FORMAT.md`` and messages, and the type of its columns."""


@dataclass(frozen=True)
class DeclaredColumn:
    """One column, or one field of a nested column.

    ``vocabulary`` has its allowed words. With ``open_vocabulary`` any other word is kept with a
    warning, else it is an error. ``low`` and ``high`` are inclusive. ``fields`` are those of a
    ``record`` or of each of ``records``.
    """

    name: str
    kind: ColumnKind
    meaning: str
    required: bool = False
    vocabulary: tuple[str, ...] = ()
    open_vocabulary: bool = False
    low: float | None = None
    high: float | None = None
    fields: tuple[DeclaredColumn, ...] = ()

    @cached_property
    def dtype(self) -> pl.DataType:
        """The polars type that it is read into, before words are normalised."""
        if self.kind in ("record", "records"):
            struct = pl.Struct({part.name: part.dtype for part in self.fields})
            return struct if self.kind == "record" else pl.List(struct)
        return _KINDS[self.kind][1]

    @property
    def kind_name(self) -> str:
        """The kind in the words of ``FORMAT.md`` and of messages."""
        records = {"record": "object", "records": "list of objects"}
        return records.get(self.kind) or _KINDS[self.kind][0]

    def absent(self, height: int) -> pl.Series:
        """Return the column for a file without it: nulls, or empty lists."""
        return self._nothing.new_from_index(0, height)

    @cached_property
    def _nothing(self) -> pl.Series:
        """Return one row of the column for a file without it."""
        nothing: list[Any] | None = [] if isinstance(self.dtype, pl.List) else None
        return pl.Series(self.name, [nothing], dtype=self.dtype)

    def absent_everywhere(self) -> pl.Expr:
        """Return the column as a constant of one value for any height, if no file has it."""
        return self._nothing_at_all

    @cached_property
    def _nothing_at_all(self) -> pl.Expr:
        nothing: list[Any] | None = [] if isinstance(self.dtype, pl.List) else None
        return pl.lit(nothing, self.dtype).alias(self.name)

    @property
    def is_scalar(self) -> bool:
        """True if a CSV cell has it as plain text, not as JSON."""
        return self.kind in ("id", "text", "word", "integer", "number", "yes_no", "date")


@dataclass(frozen=True)
class DeclaredTable:
    """One table: its columns, and the columns that together identify a row.

    Two rows with the same ``key`` contradict each other, unless they are the same in every column.
    An empty ``key`` means that rows have no identity.
    """

    name: str
    meaning: str
    columns: tuple[DeclaredColumn, ...]
    key: tuple[str, ...] = ()
    required: bool = False
    by_name: dict[str, DeclaredColumn] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "by_name", {column.name: column for column in self.columns})

    @cached_property
    def empty(self) -> pl.DataFrame:
        """Return the table without rows, with ``extra`` as text and ``_row``."""
        schema = {column.name: column.dtype for column in self.columns}
        return pl.DataFrame(schema=schema | {"extra": pl.String(), "_row": pl.UInt32()})


CASE: Final = DeclaredColumn("case", "id", "`id` of the case", required=True)
MODEL: Final = DeclaredColumn("model", "id", "`id` of the model", required=True)
READER: Final = DeclaredColumn("reader", "id", "`id` of the reader", required=True)
COMMENT: Final = DeclaredColumn("comment", "text", "free text")
CREATED: Final = DeclaredColumn("created", "date", "when it was made")
ANSWER_DIGEST: Final = DeclaredColumn(
    "answer_digest", "id", "digest of the answer that was read; absent: of the answer as it is"
)
EXTRA: Final = DeclaredColumn(
    "extra", "object", "any other fields, where they have no column of their own"
)

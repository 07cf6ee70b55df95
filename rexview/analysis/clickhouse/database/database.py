"""What the tables are asked through, and what values become on the way."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Protocol

import polars as pl

Parameter = str | int | float | list[str] | list[int]
"""A value of a query. It is never pasted into the SQL, which has ``{name:Type}`` in its place."""
QUERY_S: Final = 30
"""No query may take longer."""
_PLAIN: Final[Mapping[type[pl.DataType], str]] = {
    pl.String: "String",
    pl.UInt8: "UInt8",
    pl.UInt16: "UInt16",
    pl.UInt32: "UInt32",
    pl.UInt64: "UInt64",
    pl.Int64: "Int64",
    pl.Float32: "Float32",
    pl.Float64: "Float64",
}


@dataclass(frozen=True)
class Server:
    """A ClickHouse server; ``cluster`` is empty where it stands alone."""

    host: str
    port: int
    user: str
    database: str
    cluster: str
    secure: bool


class Database(Protocol):
    """One database of a ClickHouse. Safe for several threads.

    Raises
    ------
    EngineUnreachable
        It does not answer, not in time, or not with what was asked for.
    """

    def query(
        self,
        sql: str,
        parameters: Mapping[str, Parameter] | None = None,
        tables: Mapping[str, pl.DataFrame] | None = None,
    ) -> pl.DataFrame:
        """Return the rows of a query. ``tables`` are sent along and known by name in it alone."""

    def run(self, sql: str, parameters: Mapping[str, Parameter] | None = None) -> None:
        """Run a statement that returns nothing."""

    def insert(self, table: str, frame: pl.DataFrame) -> None:
        """Add rows to a table; the columns are found by their names."""

    @property
    def cluster(self) -> str:
        """The name of the cluster that the tables are spread over; empty on a single server."""


def type_of(dtype: pl.DataType) -> str:
    """Return ClickHouse's name of a type of columns that are sent along."""
    if isinstance(dtype, pl.List):
        return f"Array({type_of(dtype.inner)})"  # type: ignore[arg-type]
    return _PLAIN[type(dtype)]


def quoted(name: str) -> str:
    """Return a name (of a database, a cluster) as SQL takes it."""
    return "`" + name.replace("\\", "\\\\").replace("`", "\\`") + "`"

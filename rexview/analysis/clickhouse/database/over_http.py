"""A ClickHouse server, asked over HTTP by clickhouse-connect."""

from __future__ import annotations

import contextlib
import io
import os
import time
from collections.abc import Iterator, Mapping
from threading import Lock
from typing import Any, Final

import polars as pl

from rexview.analysis.clickhouse.database.database import QUERY_S, Parameter, Server, type_of
from rexview.errors import EngineUnreachable

PASSWORD: Final = "REXVIEW_CLICKHOUSE_PASSWORD"  # noqa: S105  the variable that holds it
_CONNECT_S: Final = 4
_TRY_AGAIN_S: Final = 3.0
"""So long after it was away it is not asked again, so that pages stay quick."""
_AWAY: Final = "Wait a little, or ask whoever runs the server; what you write is kept as ever."


class OverHttp:
    """A database of a ClickHouse server (:class:`.Database`)."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self.cluster = server.cluster
        self._client: Any = None
        self._connecting = Lock()
        self._away_since = 0.0

    def _connected(self) -> Any:
        if time.monotonic() - self._away_since < _TRY_AGAIN_S:
            raise self._away("does not answer")
        with self._connecting:
            if self._client is None:
                self._client = self._connect()
            return self._client

    def _connect(self) -> Any:
        try:
            from clickhouse_connect import get_client
        except ImportError:
            raise EngineUnreachable(
                "What talks to ClickHouse is not installed.",
                "Install it with: pip install -r requirements-clickhouse.txt",
            ) from None
        server = self._server
        with self._failing():
            return get_client(
                host=server.host,
                port=server.port,
                username=server.user,
                password=os.environ.get(PASSWORD, ""),
                database=server.database,
                secure=server.secure,
                connect_timeout=_CONNECT_S,
                send_receive_timeout=QUERY_S + _CONNECT_S,
                autogenerate_session_id=False,  # several at once
                query_retries=0,
                settings={"max_execution_time": QUERY_S},
            )

    def _away(self, what: str) -> EngineUnreachable:
        server = self._server
        return EngineUnreachable(
            f"The tables on {server.host}:{server.port}, database {server.database}, {what}.", _AWAY
        )

    @contextlib.contextmanager
    def _failing(self) -> Iterator[None]:
        """Say in words what failed: never the query, nor what is in it."""
        from clickhouse_connect.driver.exceptions import ClickHouseError, DatabaseError
        from urllib3.exceptions import HTTPError

        try:
            yield
        except DatabaseError as error:
            text = str(error)
            if "TIMEOUT_EXCEEDED" in text or "timed out" in text:
                raise self._away(f"took longer than {QUERY_S} s") from None
            if "AUTHENTICATION_FAILED" in text or "REQUIRED_PASSWORD" in text:
                raise self._away(f"do not take the user or the password in {PASSWORD}") from None
            if "UNKNOWN_DATABASE" in text:
                raise self._away("do not exist: there is no such database") from None
            if "UNKNOWN_TABLE" in text:
                raise self._away("are not there: load the set first") from None
            if "Error" in text and "Code:" not in text:  # the connection, not the query
                self._away_since = time.monotonic()
                raise self._away("do not answer") from None
            raise self._away(f"did not take the question ({_code(text)})") from None
        except (ClickHouseError, HTTPError, OSError):
            self._away_since = time.monotonic()
            raise self._away("do not answer") from None

    def query(
        self,
        sql: str,
        parameters: Mapping[str, Parameter] | None = None,
        tables: Mapping[str, pl.DataFrame] | None = None,
    ) -> pl.DataFrame:
        """Return the rows of a query."""
        client = self._connected()
        with self._failing():
            found = client.raw_query(
                sql,
                parameters=dict(parameters or {}),
                fmt="Arrow",
                use_database=True,
                external_data=_sent_along(tables) if tables else None,
                settings={"output_format_arrow_string_as_string": 1},
            )
        return pl.read_ipc(found) if found else pl.DataFrame()

    def run(self, sql: str, parameters: Mapping[str, Parameter] | None = None) -> None:
        """Run a statement."""
        client = self._connected()
        with self._failing():
            client.command(sql, parameters=dict(parameters or {}))

    def insert(self, table: str, frame: pl.DataFrame) -> None:
        """Add rows to a table."""
        client = self._connected()
        with self._failing():
            client.raw_insert(
                table,
                column_names=frame.columns,
                insert_block=_arrow(frame),
                fmt="ArrowStream",
                settings={"distributed_foreground_insert": 1},
            )


def _sent_along(tables: Mapping[str, pl.DataFrame]) -> Any:
    from clickhouse_connect.driver.external import ExternalData

    sent = ExternalData()
    for name, frame in tables.items():
        columns = [f"{one} {type_of(kind)}" for one, kind in frame.schema.items()]
        sent.add_file(file_name=name, data=_arrow(frame), fmt="ArrowStream", structure=columns)
    return sent


def _arrow(frame: pl.DataFrame) -> bytes:
    stream = io.BytesIO()
    frame.write_ipc_stream(stream, compat_level=pl.CompatLevel.oldest())
    return stream.getvalue()


def _code(text: str) -> str:
    """Return ClickHouse's name of an error, such as ``SYNTAX_ERROR``."""
    words = (word.strip("().,") for word in text.split())
    return next((word for word in words if "_" in word and word.isupper()), "error")

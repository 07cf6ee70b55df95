"""Queries to ClickHouse: a server over HTTP, or chDB, the same engine inside this process."""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import io
import os
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import NamedTemporaryFile
from threading import Lock, RLock
from typing import Any, Final, Protocol
from urllib.parse import parse_qs, unquote, urlsplit

import polars as pl

from rexview.errors import EngineUnreachable, SettingsError

# The interface to a database, and the conversion of values.

QueryParameter = str | int | float | list[str] | list[int]
"""A value of a query. It is never part of the SQL, which has ``{name:Type}`` in its place."""
QUERY_TIMEOUT_S: Final = 30
"""Longest time of a query, in seconds."""
_COLUMN_TYPES: Final[Mapping[type[pl.DataType], str]] = {
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
class DatabaseServer:
    """The address of a ClickHouse server; ``cluster`` is empty for a single server."""

    host: str
    port: int
    user: str
    database: str
    cluster: str
    secure: bool


class ClickHouseDatabase(Protocol):
    """A ClickHouse database. Safe for several threads.

    Raises
    ------
    EngineUnreachable
        A method gets no result: no connection, a timeout or an error.
    """

    def query(
        self,
        sql: str,
        parameters: Mapping[str, QueryParameter] | None = None,
        tables: Mapping[str, pl.DataFrame] | None = None,
    ) -> pl.DataFrame:
        """Return the rows of a query; ``tables`` are sent with it, for this query only, by name."""

    def run(self, sql: str, parameters: Mapping[str, QueryParameter] | None = None) -> None:
        """Run a statement that returns nothing."""

    def insert(self, table: str, frame: pl.DataFrame) -> None:
        """Add rows to a table; columns are matched by name."""

    @property
    def cluster(self) -> str:
        """Name of the cluster that stores the tables; empty for a single server."""


def column_type(dtype: pl.DataType) -> str:
    """Return ClickHouse's name of the type of a column that is sent with a query."""
    if isinstance(dtype, pl.List):
        return f"Array({column_type(dtype.inner)})"  # type: ignore[arg-type]
    return _COLUMN_TYPES[type(dtype)]


def quote_name(name: str) -> str:
    """Return a name (of a database, a cluster) quoted for SQL."""
    return "`" + name.replace("\\", "\\\\").replace("`", "\\`") + "`"


# Addresses of databases, as in the setting ``engine``.

_PORTS: Final = {False: 8123, True: 8443}


@cache
def database_at(address: str) -> ClickHouseDatabase:
    """Return the database at an address, without connecting to it yet.

    The address is ``clickhouse://user@host:port/database`` or ``chdb:///folder``. ``?secure=1``
    uses TLS, ``?cluster=NAME`` spreads the tables over that cluster's shards.

    Raises
    ------
    SettingsError
    """
    parts = urlsplit(address)
    if parts.scheme == "chdb" and parts.path.strip("/"):
        return ChdbDatabase(Path(unquote(parts.path)))
    if parts.scheme == "clickhouse" and parts.hostname and parts.path.strip("/"):
        options = parse_qs(parts.query)
        secure = options.get("secure", ["0"])[0] not in ("", "0")
        return HttpDatabase(
            DatabaseServer(
                parts.hostname,
                parts.port or _PORTS[secure],
                unquote(parts.username or "default"),
                unquote(parts.path.strip("/")),
                options.get("cluster", [""])[0],
                secure,
            )
        )
    raise SettingsError("The engine is memory or clickhouse://user@host:port/database.")


# ClickHouse in this process, by chDB: for tests and trials on one machine.
#
# chDB locks its folder: one process at a time, and one query after the other.

_LOCK = RLock()
_SESSIONS: Final[dict[str, Any]] = {}
"""Sessions by folder, None once closed; chDB allows one folder a process."""
_SENT_TABLES: Final[dict[str, pl.DataFrame]] = {}
"""Tables that were sent with the last queries and still exist in chDB."""
_ESCAPES: Final = {"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r", "\0": "\\0"}
_SETTINGS: Final = f"SETTINGS max_execution_time = {QUERY_TIMEOUT_S}"


class ChdbDatabase:
    """A chDB database (:class:`.ClickHouseDatabase`); without ``folder`` it is in memory."""

    cluster = ""

    def __init__(self, folder: Path | None, name: str = "rexview") -> None:
        self._folder, self._name = "" if folder is None else str(folder), name
        with self._failing():
            self.session.query(f"CREATE DATABASE IF NOT EXISTS {name}")

    @property
    def session(self) -> Any:
        """The chDB session; a process has only one."""
        if self._folder not in _SESSIONS:
            try:
                from chdb.session import Session
            except ImportError:
                raise EngineUnreachable(
                    "chDB is not installed.",
                    "Install it with: pip install chdb",
                ) from None
            if _SESSIONS:
                raise EngineUnreachable(
                    "chDB is open in another folder.", "One process can have one chDB."
                )
            _SESSIONS[self._folder] = Session(self._folder or None)
            atexit.register(_close)  # registered now, to run before chDB's own handler at exit
        if _SESSIONS[self._folder] is None:
            raise EngineUnreachable("chDB is closed: the app ends.", "Start it again.")
        return _SESSIONS[self._folder]

    @contextlib.contextmanager
    def _failing(self) -> Iterator[None]:
        with _LOCK:
            try:
                yield
            except (RuntimeError, ValueError, OSError) as error:
                raise EngineUnreachable(
                    f"The tables do not answer ({_reason(error)}).",
                    "Whoever runs this server has to look at chDB's folder.",
                ) from error

    def query(
        self,
        sql: str,
        parameters: Mapping[str, QueryParameter] | None = None,
        tables: Mapping[str, pl.DataFrame] | None = None,
    ) -> pl.DataFrame:
        """Return the rows of a query."""
        with self._failing():
            self.session.query(f"USE {self._name}")
            self._send_along(tables or {})
            found = self.session.query(f"{sql} {_SETTINGS}", "Arrow", params=_texts(parameters))
            return pl.read_ipc(found.bytes()) if found.bytes() else pl.DataFrame()

    def _send_along(self, tables: Mapping[str, pl.DataFrame]) -> None:
        """Create the tables for a query; a table that the last query used is kept."""
        for name, frame in tables.items():
            if _SENT_TABLES.get(name) is frame:
                continue
            _SENT_TABLES.pop(name, None)
            columns = ", ".join(f"{one} {column_type(kind)}" for one, kind in frame.schema.items())
            self.session.query(f"DROP TEMPORARY TABLE IF EXISTS {name}")
            self.session.query(f"CREATE TEMPORARY TABLE {name} ({columns}) ENGINE = Memory")
            self._add(name, frame)
            _SENT_TABLES[name] = frame

    def run(self, sql: str, parameters: Mapping[str, QueryParameter] | None = None) -> None:
        """Run a statement."""
        with self._failing():
            self.session.query(f"USE {self._name}")
            self.session.query(sql, params=_texts(parameters))

    def insert(self, table: str, frame: pl.DataFrame) -> None:
        """Add rows to a table."""
        with self._failing():
            self._add(f"{self._name}.{table}", frame)

    def _add(self, table: str, frame: pl.DataFrame) -> None:
        if frame.is_empty():
            return
        names = ", ".join(frame.columns)
        with NamedTemporaryFile(suffix=".arrow") as file:
            frame.write_ipc_stream(file, compat_level=pl.CompatLevel.oldest())
            file.flush()
            rows = f"SELECT {names} FROM file('{file.name}', 'ArrowStream')"
            self.session.query(f"INSERT INTO {table} ({names}) {rows}")


def _close() -> None:
    """Close chDB after any running query, because its threads must not outlive the interpreter."""
    with _LOCK:
        for folder, session in _SESSIONS.items():
            _SESSIONS[folder] = None
            if session is not None:
                session.cleanup()


def _abandon_after_fork() -> None:
    """Give up chDB in a forked process: its threads do not exist there, so calls would hang."""
    global _LOCK
    atexit.unregister(_close)
    _LOCK = RLock()  # the thread that held it does not exist here
    for folder, session in _SESSIONS.items():
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(session))  # no garbage collection
        _SESSIONS[folder] = None


os.register_at_fork(after_in_child=_abandon_after_fork)


def _reason(error: Exception) -> str:
    """Return the name of an error, without the query or a path."""
    words = str(error).rpartition("(")[2].partition(")")[0]
    return words if words.isupper() else type(error).__name__


def _texts(parameters: Mapping[str, QueryParameter] | None) -> dict[str, str]:
    """Return values in ClickHouse's format for parameters: a field of tab-separated text."""
    return {name: _text(value) for name, value in (parameters or {}).items()}


def _text(value: QueryParameter) -> str:
    if isinstance(value, list):
        return f"[{','.join(_list_element(one) for one in value)}]"
    if isinstance(value, str):
        return "".join(_ESCAPES.get(letter, letter) for letter in value)
    return repr(value)


def _list_element(value: str | int) -> str:
    if isinstance(value, int):
        return str(value)
    escaped = value.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


# A ClickHouse server over HTTP, by clickhouse-connect.

CLICKHOUSE_PASSWORD_VARIABLE: Final = "REXVIEW_CLICKHOUSE_PASSWORD"  # noqa: S105  the variable that holds it
_CONNECT_S: Final = 4
_RETRY_AFTER_S: Final = 3.0
"""Seconds without a new try after a failed connection, so that pages stay quick."""
_UNREACHABLE_ADVICE: Final = (
    "Wait a little, or ask whoever runs the server; what you write is kept as ever."
)


class HttpDatabase:
    """A database of a ClickHouse server (:class:`.ClickHouseDatabase`)."""

    def __init__(self, server: DatabaseServer) -> None:
        self._server = server
        self.cluster = server.cluster
        self._client: Any = None
        self._connecting = Lock()
        self._away_since = 0.0

    def _connected(self) -> Any:
        if time.monotonic() - self._away_since < _RETRY_AFTER_S:
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
                password=os.environ.get(CLICKHOUSE_PASSWORD_VARIABLE, ""),
                database=server.database,
                secure=server.secure,
                connect_timeout=_CONNECT_S,
                send_receive_timeout=QUERY_TIMEOUT_S + _CONNECT_S,
                autogenerate_session_id=False,  # several at once
                query_retries=0,
                settings={"max_execution_time": QUERY_TIMEOUT_S},
            )

    def _away(self, what: str) -> EngineUnreachable:
        server = self._server
        return EngineUnreachable(
            f"The tables on {server.host}:{server.port}, database {server.database}, {what}.",
            _UNREACHABLE_ADVICE,
        )

    @contextlib.contextmanager
    def _failing(self) -> Iterator[None]:
        """Raise errors with a message that never contains the query or its values."""
        from clickhouse_connect.driver.exceptions import ClickHouseError, DatabaseError
        from urllib3.exceptions import HTTPError

        try:
            yield
        except DatabaseError as error:
            text = str(error)
            if "TIMEOUT_EXCEEDED" in text or "timed out" in text:
                raise self._away(f"took longer than {QUERY_TIMEOUT_S} s") from None
            if "AUTHENTICATION_FAILED" in text or "REQUIRED_PASSWORD" in text:
                raise self._away(
                    f"do not take the user or the password in {CLICKHOUSE_PASSWORD_VARIABLE}"
                ) from None
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
        parameters: Mapping[str, QueryParameter] | None = None,
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
                external_data=_external_data(tables) if tables else None,
                settings={"output_format_arrow_string_as_string": 1},
            )
        return pl.read_ipc(found) if found else pl.DataFrame()

    def run(self, sql: str, parameters: Mapping[str, QueryParameter] | None = None) -> None:
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


def _external_data(tables: Mapping[str, pl.DataFrame]) -> Any:
    from clickhouse_connect.driver.external import ExternalData

    sent = ExternalData()
    for name, frame in tables.items():
        columns = [f"{one} {column_type(kind)}" for one, kind in frame.schema.items()]
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

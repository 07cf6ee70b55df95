"""ClickHouse inside this process, by chDB: for tests, and to try it on one machine.

chDB holds its folder: one process at a time, and one query after the other.
"""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from tempfile import NamedTemporaryFile
from threading import RLock
from typing import Any, Final

import polars as pl

from rexview.analysis.clickhouse.database.database import QUERY_S, Parameter, type_of
from rexview.errors import EngineUnreachable

_LOCK = RLock()
_SESSIONS: Final[dict[str, Any]] = {}
"""chDB has one folder in a process; the sessions by folder, None once it was closed."""
_SENT: Final[dict[str, pl.DataFrame]] = {}
"""Tables that were sent along with the last queries, and are there still."""
_ESCAPES: Final = {"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r", "\0": "\\0"}
_SETTINGS: Final = f"SETTINGS max_execution_time = {QUERY_S}"


class InProcess:
    """A database of a chDB (:class:`.Database`); ``folder`` None keeps it in memory."""

    cluster = ""

    def __init__(self, folder: Path | None, name: str = "rexview") -> None:
        self._folder, self._name = "" if folder is None else str(folder), name
        with self._failing():
            self.session.query(f"CREATE DATABASE IF NOT EXISTS {name}")

    @property
    def session(self) -> Any:
        """The session of chDB; there is one in a process."""
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
            atexit.register(_close)  # now, so that it comes before what chDB itself does at the end
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
        parameters: Mapping[str, Parameter] | None = None,
        tables: Mapping[str, pl.DataFrame] | None = None,
    ) -> pl.DataFrame:
        """Return the rows of a query."""
        with self._failing():
            self.session.query(f"USE {self._name}")
            self._send_along(tables or {})
            found = self.session.query(f"{sql} {_SETTINGS}", "Arrow", params=_texts(parameters))
            return pl.read_ipc(found.bytes()) if found.bytes() else pl.DataFrame()

    def _send_along(self, tables: Mapping[str, pl.DataFrame]) -> None:
        """Have tables there for a query; one that was there for the last stays."""
        for name, frame in tables.items():
            if _SENT.get(name) is frame:
                continue
            _SENT.pop(name, None)
            columns = ", ".join(f"{one} {type_of(kind)}" for one, kind in frame.schema.items())
            self.session.query(f"DROP TEMPORARY TABLE IF EXISTS {name}")
            self.session.query(f"CREATE TEMPORARY TABLE {name} ({columns}) ENGINE = Memory")
            self._add(name, frame)
            _SENT[name] = frame

    def run(self, sql: str, parameters: Mapping[str, Parameter] | None = None) -> None:
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
    """Close chDB, whose threads must not outlive the interpreter; a query that runs ends first."""
    with _LOCK:
        for folder, session in _SESSIONS.items():
            _SESSIONS[folder] = None
            if session is not None:
                session.cleanup()


def _leave_to_parent() -> None:
    """In a forked process chDB's threads are not there: to close or to ask it would never end."""
    global _LOCK
    atexit.unregister(_close)
    _LOCK = RLock()  # whoever held it is not there either
    for folder, session in _SESSIONS.items():
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(session))  # nor is it closed as garbage
        _SESSIONS[folder] = None


os.register_at_fork(after_in_child=_leave_to_parent)


def _reason(error: Exception) -> str:
    """Return the name of what happened, without the query or a path."""
    words = str(error).rpartition("(")[2].partition(")")[0]
    return words if words.isupper() else type(error).__name__


def _texts(parameters: Mapping[str, Parameter] | None) -> dict[str, str]:
    """Write values as ClickHouse reads them: like a field of tab-separated text."""
    return {name: _text(value) for name, value in (parameters or {}).items()}


def _text(value: Parameter) -> str:
    if isinstance(value, list):
        return f"[{','.join(_in_list(one) for one in value)}]"
    if isinstance(value, str):
        return "".join(_ESCAPES.get(letter, letter) for letter in value)
    return repr(value)


def _in_list(value: str | int) -> str:
    if isinstance(value, int):
        return str(value)
    escaped = value.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"

"""Where the tables are, as the setting ``engine`` says it."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Final
from urllib.parse import parse_qs, unquote, urlsplit

from rexview.analysis.clickhouse.database.database import Database, Server
from rexview.errors import SettingsError

_PORTS: Final = {False: 8123, True: 8443}


@cache
def database_at(address: str) -> Database:
    """Return the database at an address; nothing is asked of it yet.

    ``clickhouse://user@host:port/database`` (with ``?secure=1`` by TLS, ``?cluster=NAME`` spread
    over that cluster's shards), or ``chdb:///folder``.

    Raises
    ------
    SettingsError
    """
    parts = urlsplit(address)
    if parts.scheme == "chdb" and parts.path.strip("/"):
        from rexview.analysis.clickhouse.database.in_process import InProcess

        return InProcess(Path(unquote(parts.path)))
    if parts.scheme == "clickhouse" and parts.hostname and parts.path.strip("/"):
        from rexview.analysis.clickhouse.database.over_http import OverHttp

        options = parse_qs(parts.query)
        secure = options.get("secure", ["0"])[0] not in ("", "0")
        return OverHttp(
            Server(
                parts.hostname,
                parts.port or _PORTS[secure],
                unquote(parts.username or "default"),
                unquote(parts.path.strip("/")),
                options.get("cluster", [""])[0],
                secure,
            )
        )
    raise SettingsError("The engine is memory or clickhouse://user@host:port/database.")

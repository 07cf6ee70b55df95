"""ClickHouse's HTTP interface over chDB: the real engine behind the real client, without a server.

What clickhouse-connect sends: a query in the body or in the address, values as ``param_NAME``,
tables as parts of a multipart body. Run as a program it serves one folder: ``PORT FOLDER``.
"""

from __future__ import annotations

import contextlib
import sys
import tempfile
from email.parser import BytesParser
from email.policy import HTTP
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Lock, Thread
from typing import Any
from urllib.parse import parse_qs, urlsplit

from chdb.session import Session

from rexview.analysis.query.clickhouse.database import _SENT_TABLES

_CHDB = Lock()


class ClickHouseServer(ThreadingHTTPServer):
    """Answers as a ClickHouse server does; ``password`` is what it asks for, ``slow`` says no."""

    daemon_threads = True

    def __init__(self, port: int = 0, session: Any = None, database: str = "rexview") -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self.session = session or Session()
        self.session.query(f"CREATE DATABASE IF NOT EXISTS {database}")
        self.database, self.password, self.fails = database, "", ""
        self.asked: list[str] = []

    @property
    def address(self) -> str:
        """What ``REXVIEW_ENGINE`` would be."""
        return f"clickhouse://default@127.0.0.1:{self.server_address[1]}/{self.database}"

    def __enter__(self) -> ClickHouseServer:
        Thread(target=self.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.shutdown()
        self.server_close()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: ClickHouseServer

    def log_message(self, *_: Any) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        self._answer(b"")

    def do_POST(self) -> None:
        length = self.headers.get("Content-Length")
        if length is not None:
            self._answer(self.rfile.read(int(length)))
            return
        body = b""
        while size := int(self.rfile.readline().split(b";")[0], 16):
            body += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        self._answer(body)

    def _answer(self, body: bytes) -> None:
        address = urlsplit(self.path)
        if address.path == "/ping":
            self._send(200, b"Ok.\n")
            return
        given = {
            name: values[0]
            for name, values in parse_qs(address.query, keep_blank_values=True).items()
        }
        key = self.headers.get("X-ClickHouse-Key") or self._basic()
        if self.server.password and key != self.server.password:
            self._failed(
                "Code: 516. DB::Exception: default: Authentication failed: password is "
                "incorrect. (AUTHENTICATION_FAILED)",
                403,
            )
            return
        if self.server.fails:
            self._failed(self.server.fails)
            return
        try:
            self._send(200, self._run(given, body))
        except Exception as error:
            self._failed(str(error))

    def _basic(self) -> str:
        import base64

        given = self.headers.get("Authorization", "").removeprefix("Basic ")
        return base64.b64decode(given).decode().partition(":")[2]

    def _run(self, given: dict[str, str], body: bytes) -> bytes:
        tables: dict[str, bytes] = {}
        kind = self.headers.get("Content-Type", "")
        if kind.startswith("multipart/form-data"):
            head = f"Content-Type: {kind}\r\n\r\n".encode()
            for part in BytesParser(policy=HTTP).parsebytes(head + body).iter_parts():
                name = part.get_param("name", header="content-disposition")
                content = part.get_payload(decode=True)
                if f"{name}_structure" in given:
                    tables[str(name)] = content
                else:
                    given[str(name)] = content.decode()
            body = b""
        asked, data = given.get("query", ""), body
        if not asked and body.startswith(b"INSERT"):  # the rows stand after the first line
            line, _, data = body.partition(b"\n")
            asked = line.decode()
        query = " ".join((asked or body.decode()).splitlines()).strip().rstrip(";")
        values = {
            one.removeprefix("param_"): value
            for one, value in given.items()
            if one.startswith("param_")
        }
        session = self.server.session
        with _CHDB, contextlib.ExitStack() as stack:
            self.server.asked.append(query)
            session.query(f"USE {given.get('database') or self.server.database}")
            for name, content in tables.items():
                file = stack.enter_context(tempfile.NamedTemporaryFile(suffix=".arrow"))
                file.write(content)
                file.flush()
                structure, form = given[f"{name}_structure"], given[f"{name}_format"]
                _SENT_TABLES.pop(name, None)  # where this process asks its chDB itself, too
                session.query(f"DROP TEMPORARY TABLE IF EXISTS {name}")
                session.query(f"CREATE TEMPORARY TABLE {name} ({structure}) ENGINE = Memory")
                stack.callback(session.query, f"DROP TEMPORARY TABLE {name}")
                session.query(f"INSERT INTO {name} SELECT * FROM file('{file.name}', '{form}')")
            if query.upper().startswith("INSERT") and data:
                into, _, form = query.rpartition(" FORMAT ")
                file = stack.enter_context(tempfile.NamedTemporaryFile(suffix=".arrow"))
                file.write(data)
                file.flush()
                query = f"{into} SELECT * FROM file('{file.name}', '{form.strip()}')"
            form = given.get("default_format", "TabSeparated")
            if " FORMAT " in query:
                query, _, form = query.rpartition(" FORMAT ")
            found = session.query(query, form.strip(), params=values)
            return bytes(found.bytes() or b"")

    def _failed(self, message: str, status: int = 500) -> None:
        code = message.partition("Code: ")[2].partition(".")[0]
        self._send(status, message.encode(), {"X-ClickHouse-Exception-Code": code or "1000"})

    def _send(self, status: int, body: bytes, more: dict[str, str] | None = None) -> None:
        with contextlib.suppress(BrokenPipeError):
            self.send_response(status)
            for name, value in (more or {}).items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)


def main(port: str, folder: str) -> None:
    """Serve a folder of chDB."""
    Path(folder).mkdir(parents=True, exist_ok=True)
    ClickHouseServer(int(port), Session(folder)).serve_forever()


if __name__ == "__main__":
    main(*sys.argv[1:])

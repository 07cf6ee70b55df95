"""A PostgreSQL server for the readers, and databases that are closed again."""

import pytest

from rexview.store.database import close_databases
from tools.postgres import PostgresServer, ServerMissing


@pytest.fixture(scope="session")
def postgres_server():
    try:
        server = PostgresServer()
    except ServerMissing as error:
        pytest.skip(f"No PostgreSQL server: {error}")
    with server:
        yield server


@pytest.fixture(autouse=True)
def closed_databases(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "own"))
    yield
    close_databases()

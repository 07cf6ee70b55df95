"""Databases that are the test's own and are closed again."""

import pytest

from rexview.store.database.connection import close_databases


@pytest.fixture(autouse=True)
def closed_databases(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "own"))
    yield
    close_databases()

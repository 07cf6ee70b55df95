"""A PostgreSQL server that belongs to a test."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tools.postgres import PostgresServer, ServerMissing


@contextmanager
def running() -> Iterator[PostgresServer]:
    """Run a server; skip the test where none can be had."""
    try:
        server = PostgresServer()
    except ServerMissing as error:
        pytest.skip(f"No PostgreSQL server: {error}")
    with server:
        yield server

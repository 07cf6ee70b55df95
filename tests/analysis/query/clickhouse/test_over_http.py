"""ClickHouse asked over HTTP: the same answers, and what fails is said in words."""

from __future__ import annotations

import socket
from collections.abc import Iterator

import pytest
from support.clickhouse.server import ClickHouseServer

from rexview.analysis.query.clickhouse.database import (
    CLICKHOUSE_PASSWORD_VARIABLE,
    DatabaseServer,
    HttpDatabase,
    database_at,
)
from rexview.analysis.query.filter.case_filter import CaseFilter
from rexview.errors import EngineUnreachable, SettingsError

pytest.importorskip("clickhouse_connect", reason="clickhouse-connect is not installed")
HOSTILE = ["'); DROP TABLE x; --", "{x:String}", "\\", "\\'", "a\tb\n", "%s", "\\N", ""]


@pytest.fixture(scope="module")
def server(database) -> Iterator[ClickHouseServer]:
    with ClickHouseServer(session=database.session, database="by_http") as running:
        yield running


def test_a_set_is_loaded_and_asked_for_over_http(server, given, in_memory):
    engine = given.opened_on(database_at(server.address), "set")
    for asked in (CaseFilter(), CaseFilter(search="effusion", failures=("omission",))):
        assert engine.facets(asked) == in_memory.facets(asked)
        assert engine.page(asked, 0, 50) == in_memory.page(asked, 0, 50)


def test_values_arrive_as_they_are(server):
    database = database_at(server.address)
    for value in HOSTILE:
        found = database.query(
            "SELECT {a:String}, {b:Array(String)}[1]", {"a": value, "b": [value]}
        )
        assert found.row(0) == (value, value)


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ("Code: 159. DB::Exception: Timeout exceeded. (TIMEOUT_EXCEEDED)", "took longer than"),
        ("Code: 60. DB::Exception: Unknown table secret (UNKNOWN_TABLE)", "load the set first"),
        ("Code: 241. DB::Exception: for secret (MEMORY_LIMIT_EXCEEDED)", "MEMORY_LIMIT_EXCEEDED"),
    ],
)
def test_a_refusal_is_a_sentence_without_the_query(server, answer, words):
    database = HttpDatabase(_server(server.server_address[1]))
    database.query("SELECT 1")
    server.fails = answer
    try:
        with pytest.raises(EngineUnreachable, match=words) as raised:
            database.query("SELECT 'of a patient'")
    finally:
        server.fails = ""
    assert "patient" not in str(raised.value)
    assert "secret" not in str(raised.value)
    assert database.query("SELECT 1").item() == 1


def test_a_wrong_password_is_said_and_not_shown(server, monkeypatch):
    monkeypatch.setenv(CLICKHOUSE_PASSWORD_VARIABLE, "opensesame")
    server.password = "another"
    try:
        with pytest.raises(EngineUnreachable, match="user or the password") as raised:
            HttpDatabase(_server(server.server_address[1])).query("SELECT 1")
    finally:
        server.password = ""
    assert "opensesame" not in str(raised.value)


def test_a_server_that_is_away_is_named():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    database = HttpDatabase(_server(port))
    for _ in range(2):
        with pytest.raises(EngineUnreachable, match=f"127.0.0.1:{port}.*do(es)? not answer"):
            database.query("SELECT 1")


@pytest.mark.parametrize("address", ["clickhouse://host", "chdb:///", "http://host/db", ""])
def test_an_address_that_is_none_is_refused(address):
    with pytest.raises(SettingsError):
        database_at(address)


def _server(port: int) -> DatabaseServer:
    return DatabaseServer("127.0.0.1", port, "default", "by_http", "", secure=False)

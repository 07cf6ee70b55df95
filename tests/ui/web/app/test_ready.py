"""Whoever watches a server hears whether it can serve people, and nothing else about it."""

import socket
from concurrent.futures import ThreadPoolExecutor
from itertools import count

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient
from support.opened_app import server_for
from support.small_set import write_set

from rexview.store.database.connection import close_databases
from rexview.store.database.tables import VERSION_TABLE
from rexview.ui.web.app import routes
from rexview.ui.web.app.routes import AppRoutes
from rexview.ui.web.server import warm_up

_numbers = count(1)


@pytest.fixture(scope="module")
def review_set(tmp_path_factory):
    return write_set(tmp_path_factory.mktemp("ready") / "set")


@pytest.fixture
def client(review_set, tmp_path, monkeypatch):
    """A server that asks the database each time it is asked itself."""
    monkeypatch.setattr(routes, "_KEPT_S", 0)
    monkeypatch.setattr(routes, "_last", None)
    with server_for(review_set, tmp_path, monkeypatch):
        yield TestClient(Starlette(routes=[AppRoutes()]))


def asked(client):
    answer = client.get("/rexview/ready")
    assert answer.headers["Cache-Control"] == "no-store"
    return answer.status_code, answer.text.strip()


def test_with_files_beside_the_sets_it_is_ready(client):
    assert asked(client) == (200, "Ready.")
    assert client.head("/rexview/ready").status_code == 200
    assert client.post("/rexview/ready").status_code == 404


def test_while_it_starts_it_is_not(client, monkeypatch):
    monkeypatch.setattr(warm_up, "is_done", lambda: False)
    assert asked(client) == (503, "The server is starting.")


@pytest.mark.parametrize(
    ("variable", "value"),
    [("REXVIEW_PEOPLE", "anna@clinic.example"), ("REXVIEW_DATABASE_URL", "mysql://anna:pw@db/r")],
)
def test_settings_that_cannot_be_used_are_told_without_them(client, monkeypatch, variable, value):
    monkeypatch.setenv(variable, value)
    status, words = asked(client)
    assert (status, words.split(".")[0]) == (503, "The settings cannot be used")
    assert not {"anna", "pw", "db"} & set(words.replace("@", " ").split())


def test_a_database_that_comes_goes_and_becomes_newer(client, monkeypatch, postgres_server):
    name = f"ready_{next(_numbers)}"
    address = postgres_server.address(name).replace("//rexview", "//rexview:not-told")
    monkeypatch.setenv("REXVIEW_DATABASE_URL", address)
    status, words = asked(client)
    assert (status, words.split(".")[0]) == (
        503,
        "The database server for reviews cannot be reached",
    )
    assert "not-told" not in words
    assert str(postgres_server.port) not in words
    postgres_server.new_database(name)
    assert asked(client) == (200, "Ready.")
    postgres_server.run(f"UPDATE {VERSION_TABLE} SET version_num = '9999'", name)
    close_databases()
    status, words = asked(client)
    assert status == 503
    assert "made by a newer rexview" in words


def test_a_database_without_an_encoding_will_do(client, monkeypatch, postgres_server):
    name = f"ready_{next(_numbers)}"
    encoding = "ENCODING SQL_ASCII LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0"
    postgres_server.run(f'CREATE DATABASE "{name}" {encoding}')
    monkeypatch.setenv("REXVIEW_DATABASE_URL", postgres_server.address(name))
    assert asked(client) == (200, "Ready.")


def test_nobody_waits_behind_a_database_that_does_not_answer(client, monkeypatch):
    with socket.create_server(("127.0.0.1", 0)) as silent, ThreadPoolExecutor(1) as pool:
        monkeypatch.setenv(
            "REXVIEW_DATABASE_URL", f"postgresql://r@127.0.0.1:{silent.getsockname()[1]}/r"
        )
        first = pool.submit(asked, client)
        connection, _ = silent.accept()  # the first one asks now
        assert asked(client) == (503, "The reviews database has not answered yet.")
        connection.close()
        silent.close()
        assert "cannot be reached" in first.result()[1]


def test_what_was_heard_a_moment_ago_is_not_asked_again(client, monkeypatch, postgres_server):
    monkeypatch.setattr(routes, "_KEPT_S", 3600)
    name = f"ready_{next(_numbers)}"
    monkeypatch.setenv("REXVIEW_DATABASE_URL", postgres_server.new_database(name))
    assert asked(client)[0] == 200
    close_databases()
    postgres_server.run(f'DROP DATABASE "{name}"')
    assert asked(client)[0] == 200
    monkeypatch.setattr(routes, "_KEPT_S", 0)
    assert asked(client)[0] == 503

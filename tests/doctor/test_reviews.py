"""The reviews database: away, refusing, older, newer, read-only, and as it was after each look."""

import socket
import sqlite3
from contextlib import closing

import pytest
from support.entries.stored import ANN, score
from support.postgres import running

from rexview.reviewset import load_review_set
from rexview.settings import Settings
from rexview.store import open_reviews
from rexview.store.database.connection import ReviewsDatabase, close_databases
from rexview.store.database.migrate import migrate
from rexview.store.database.tables import SCHEMA_VERSION, VERSION_TABLE


@pytest.fixture(scope="module")
def server():
    with running() as one:
        yield one


def look_at(look, folder, url):
    return look("reviews", review_set=folder, database_url=url)


def dump(server, name):
    """Return the tables and all their rows."""
    import psycopg

    with psycopg.connect(server.address(name)) as connection:
        names = "SELECT table_name FROM information_schema.tables WHERE table_schema = 'public'"
        tables = sorted(name for (name,) in connection.execute(names))
        rows = {one: connection.execute(f'SELECT * FROM "{one}"').fetchall() for one in tables}
        sequences = connection.execute("SELECT sequencename, last_value FROM pg_sequences")
        return rows, sorted(sequences.fetchall())


def made_by(url, version):
    database = ReviewsDatabase(url)
    with database._engine.begin() as connection:
        migrate(connection, to=version)
    database.close()


def test_an_empty_one_stays_empty(look, folder, server):
    url = server.new_database("empty")
    found = look_at(look, folder, url)
    assert [one.state for one in found.values()] == ["ok", "ok"]
    assert "empty" in found["database"].said
    assert dump(server, "empty") == ({}, [])


def test_one_of_this_version_takes_entries_and_has_none_more(look, folder, server):
    url = server.new_database("ours")
    made_by(url, SCHEMA_VERSION)
    before = dump(server, "ours")
    assert look_at(look, folder, url)["database"].said.startswith("reached, writable")
    assert dump(server, "ours") == before


def test_an_older_one_is_not_brought_up_to_date(look, folder, server):
    url = server.new_database("older")
    made_by(url, "0003")
    before = dump(server, "older")
    found = look_at(look, folder, url)["database"]
    assert found.state == "note"
    assert "0003, older" in found.said
    assert "backup" in found.remedy
    assert dump(server, "older") == before


def test_a_newer_one_is_told(look, folder, server):
    url = server.new_database("newer")
    made_by(url, SCHEMA_VERSION)
    server.run(f"UPDATE {VERSION_TABLE} SET version_num = '9999'", "newer")
    found = look_at(look, folder, url)["database"]
    assert (found.state, found.remedy) == ("wrong", "Update rexview on this computer.")
    assert "9999" in found.said


@pytest.mark.parametrize("has_tables", [True, False])
def test_one_that_may_not_be_written_to(look, folder, server, has_tables):
    name = f"read_only_{has_tables}"
    url = server.new_database(name)
    if has_tables:
        made_by(url, SCHEMA_VERSION)
    server.run(f'ALTER DATABASE "{name}" SET default_transaction_read_only = on')
    found = look_at(look, folder, url)["database"]
    assert found.state == "wrong"
    assert "does not let this app" in found.said


def test_a_wrong_password_is_told_from_a_server_that_is_away(look, folder, server):
    server.run("CREATE ROLE other LOGIN PASSWORD 'right'")
    hba = server.folder / "data" / "pg_hba.conf"
    given = hba.read_text()
    hba.write_text(f"host all other 127.0.0.1/32 scram-sha-256\n{given}")
    server.run("SELECT pg_reload_conf()")
    url = server.address("postgres").replace("rexview@", "other:wrong-one@")
    found = look_at(look, folder, url)["database"]
    assert found.state == "wrong"
    assert "no database lets this app in" in found.said
    assert "password" in found.remedy
    assert "wrong-one" not in f"{found}"
    server.stop()
    away = look_at(look, folder, url)["database"]
    assert "Nothing answers" in away.said
    server.start()


def test_a_port_that_says_nothing(look, folder):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"postgresql://rexview@127.0.0.1:{silent.getsockname()[1]}/x"
        found = look_at(look, folder, url)["database"]
    assert found.state == "wrong"


def test_a_file_beside_the_set(look, folder):
    assert "none yet" in look("reviews", review_set=folder)["database"].said
    assert not (folder / "reviews.sqlite").exists()
    reviews = open_reviews(load_review_set(folder), Settings())
    reviews.database.write(lambda _: None, lock="x")
    close_databases()
    file = folder / "reviews.sqlite"
    before = file.read_bytes()
    names = sorted(path.name for path in folder.iterdir())
    assert look("reviews", review_set=folder)["database"].said.startswith("reached, writable")
    assert file.read_bytes() == before
    assert sorted(path.name for path in folder.iterdir()) == names
    file.write_bytes(b"no database at all" * 100)
    found = look("reviews", review_set=folder)["database"]
    assert found.state == "wrong"
    assert "damaged" in found.said


def test_an_entry_changed_in_the_file_is_told(look, folder):
    reviews = open_reviews(load_review_set(folder), Settings())
    reviews.record([score(4)], ANN)
    close_databases()
    with closing(sqlite3.connect(reviews.database.file)) as connection, connection:
        connection.execute("DROP TRIGGER history_no_update")
        connection.execute("UPDATE history SET person = 'eve'")
    found = look("reviews", review_set=folder)["database"]
    assert "1 entry damaged" in found.said

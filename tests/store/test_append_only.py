"""The database itself keeps the history as it is, whoever is connected to it."""

import sqlite3

import pytest
from sqlalchemy import create_engine, text
from sqlalchemy.exc import DBAPIError
from support.entries.stored import ANN, BOB, score

from rexview.store.database.tables import HISTORY

CHANGES = [
    "UPDATE history SET person = 'eve'",
    "UPDATE history SET value = NULL WHERE id = 1",
    "DELETE FROM history",
    "DELETE FROM history WHERE person = 'bob'",
]


@pytest.mark.parametrize("change", CHANGES)
def test_no_row_is_changed_or_removed(reviews, change):
    reviews.record([score(4)], ANN)
    reviews.record([score(2)], BOB)
    before = reviews.history()
    engine = create_engine(reviews.database.url)
    with engine.connect() as connection:
        connection.execute(text("SELECT 1"))
        with pytest.raises(DBAPIError, match="only added to"):
            connection.execute(text(change))
    engine.dispose()
    assert reviews.history() == before


def test_no_row_takes_the_place_of_another_in_a_file(reviews, settings):
    if not reviews.database.is_sqlite:
        pytest.skip("PostgreSQL has no INSERT OR REPLACE")
    (row,) = reviews.record([score(4)], ANN)
    columns = ("id", "token", "at", "review_set", "person", "kind", "via")
    values = (99, row.token, "2026-01-01 00:00:00", "x", "eve", "score", "x")
    with sqlite3.connect(reviews.database.file) as connection:
        for replaced in (values, (row.id, "other", *values[2:])):
            with pytest.raises(sqlite3.IntegrityError, match="only added to"):
                connection.execute(
                    f"INSERT OR REPLACE INTO history ({', '.join(columns)}) "
                    f"VALUES ({', '.join('?' * len(columns))})",
                    replaced,
                )
    connection.close()
    assert reviews.history() == (row,)


def test_a_server_does_not_empty_the_table(reviews):
    if reviews.database.is_sqlite:
        pytest.skip("SQLite has no TRUNCATE")
    reviews.record([score(4)], ANN)
    engine = create_engine(reviews.database.url)
    with engine.connect() as connection, pytest.raises(DBAPIError, match="only added to"):
        connection.execute(text("TRUNCATE history"))
    engine.dispose()
    assert len(reviews.history()) == 1


def test_two_rows_never_have_one_token(reviews):
    (row,) = reviews.record([score(4)], ANN)
    engine = create_engine(reviews.database.url)
    values = {
        "token": row.token,
        "at": row.at,
        "review_set": "other",
        "person": "eve",
        "kind": "score",
        "via": "x",
    }
    with engine.connect() as connection, pytest.raises(DBAPIError):
        connection.execute(HISTORY.insert().values(values))
    engine.dispose()
    assert len(reviews.history()) == 1

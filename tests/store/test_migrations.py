"""Databases of older versions are brought up to date, newer ones are left alone."""

import subprocess
import sys
from threading import Thread

import pytest
import sqlalchemy as sa
from alembic import command
from alembic.script import ScriptDirectory
from support import ROOT
from support.entries.stored import ANN, score

from rexview.errors import StoreBusy, StoreNewer
from rexview.store import Reviews, open_reviews
from rexview.store.database import connection as connection_module
from rexview.store.database.connection import ReviewsDatabase, open_reviews_database
from rexview.store.database.migrate import find_schema_version, migrate, migration_config
from rexview.store.database.tables import HISTORY, SCHEMA_VERSION, VERSION_TABLE


@pytest.fixture
def address(settings, tmp_path):
    return settings.database_url or f"sqlite:///{tmp_path}/reviews.sqlite"


@pytest.fixture
def engine(address):
    engine = sa.create_engine(address.replace("postgresql://", "postgresql+psycopg://"))
    yield engine
    engine.dispose()


def old_row(number, value):
    return {
        "token": f"00000000-0000-4000-8000-00000000000{number}",
        "at": "2026-01-02 03:04:05+00:00",
        "review_set": "old",
        "person": "ann",
        "kind": "score",
        "case_id": "c1",
        "model_id": "m",
        "subject": "process",
        "value": value,
        "via": "test",
    }


def test_version_1_is_brought_up_to_date_and_keeps_its_rows(engine, address, review_set):
    with engine.begin() as connection:
        migrate(connection, to="0001")
        assert find_schema_version(connection) == "0001"
        columns = ", ".join(old_row(1, ""))
        names = ", ".join(f":{name}" for name in old_row(1, ""))
        insert = sa.text(f"INSERT INTO history ({columns}) VALUES ({names})")
        for number in (1, 2):
            connection.execute(insert, old_row(number, f'{{"score": {number}, "comment": "ä"}}'))
    reviews = Reviews(open_reviews_database(address), review_set, "old", dedicated=False)
    assert [row.value["score"] for row in reviews.history()] == [2, 1]
    assert reviews.history()[0].person_name == "ann"
    assert reviews.people()["ann"].role == "viewer", "of an old row the role is not known"
    (row,) = reviews.record([score(5)], ANN)
    assert row.previous == {"score": 2, "comment": "ä"}
    assert reviews.history()[1].answer_digest is None, "of the answer as it is"
    with engine.connect() as connection:
        assert find_schema_version(connection) == SCHEMA_VERSION


def test_the_newest_step_is_the_version_of_the_code():
    assert ScriptDirectory.from_config(migration_config()).get_current_head() == SCHEMA_VERSION


def test_the_steps_make_the_table_that_the_code_uses(reviews, engine):
    reviews.record([score(4)], ANN)
    if reviews.database.url.render_as_string(False) != engine.url.render_as_string(False):
        engine = reviews.database._engine
    found = sa.inspect(engine).get_columns("history")
    assert [column["name"] for column in found] == [column.name for column in HISTORY.columns]
    assert [column["nullable"] for column in found] == [c.nullable for c in HISTORY.columns]
    assert any(
        "token" in one["column_names"]
        for one in sa.inspect(engine).get_unique_constraints("history")
    )


def test_a_newer_database_is_refused_and_left_as_it_is(reviews, review_set, settings):
    reviews.record([score(4)], ANN)
    engine = reviews.database._engine
    with engine.connect() as connection:
        connection.execute(sa.text(f"UPDATE {VERSION_TABLE} SET version_num = '0009'"))
        connection.commit()
    fresh = Reviews(
        ReviewsDatabase(reviews.database.url.render_as_string(False)),
        review_set,
        reviews.key,
        dedicated=False,
    )
    for work in (fresh.revision, lambda: fresh.record([score(5)], ANN)):
        with pytest.raises(StoreNewer, match="Update rexview"):
            work()
    fresh.database.close()
    with engine.connect() as connection:
        assert find_schema_version(connection) == "0009"
        assert connection.execute(sa.text("SELECT count(*) FROM history")).scalar() == 1


def test_an_open_server_meets_a_newer_one(reviews, monkeypatch):
    """While it runs another rexview brings the tables up to date, then they are put back."""
    monkeypatch.setattr(connection_module, "_VERSION_EVERY_S", 0)
    reviews.record([score(4)], ANN)
    assert len(reviews.history()) == 1

    def set_version(number):
        with reviews.database._engine.connect() as connection:
            connection.execute(sa.text(f"UPDATE {VERSION_TABLE} SET version_num = '{number}'"))
            connection.commit()

    set_version("0009")
    for work in (lambda: reviews.record([score(5)], ANN), reviews.history, reviews.current_state):
        with pytest.raises(StoreNewer, match=r"version 0009, made by a newer rexview.*Update"):
            work()
    set_version(SCHEMA_VERSION)
    assert [row.value["score"] for row in reviews.history()] == [4], "nothing was written"
    reviews.record([score(5)], ANN)
    assert len(reviews.history()) == 2


def test_no_step_comes_into_an_entry_that_is_being_written(reviews):
    """The newer server waits for who writes, and who writes next sees what it made of it."""
    if reviews.database.is_sqlite:
        pytest.skip("a SQLite file has one lock for all that is written")
    reviews.record([score(4)], ANN)
    other = ReviewsDatabase(reviews.database.url.render_as_string(False), wait_s=0.2)
    found = []

    def while_writing(connection):
        with pytest.raises(StoreBusy):
            other.write(lambda _: None, lock=connection_module._MIGRATIONS)
        found.append(find_schema_version(connection))

    reviews.database.write(while_writing, lock=reviews.lock)
    other.write(lambda _: None, lock=connection_module._MIGRATIONS)
    other.close()
    assert found == [SCHEMA_VERSION]


def test_several_servers_start_at_once(settings, review_set, address):
    databases = [ReviewsDatabase(address) for _ in range(6)]
    problems = []

    def start(database):
        try:
            reviews = Reviews(database, review_set, "set", dedicated=False)
            reviews.record([score(4)], ANN)
        except Exception as error:
            problems.append(error)

    threads = [Thread(target=start, args=(database,)) for database in databases]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not problems
    assert len(Reviews(databases[0], review_set, "set", dedicated=False).history()) == 6
    for database in databases:
        database.close()


@pytest.mark.parametrize("dialect", ["sqlite", "postgresql+psycopg"])
def test_the_steps_can_be_written_as_sql(dialect, capsys):
    config = migration_config()
    config.set_main_option("sqlalchemy.url", f"{dialect}://")
    command.upgrade(config, "head", sql=True)
    text = capsys.readouterr().out
    for part in ("CREATE TABLE history", "CREATE TRIGGER", "person_name", VERSION_TABLE):
        assert part in text


def test_the_sql_makes_a_database_that_works(tmp_path, review_set, capsys):
    import sqlite3

    config = migration_config()
    config.set_main_option("sqlalchemy.url", "sqlite://")
    command.upgrade(config, "head", sql=True)
    with sqlite3.connect(tmp_path / "made.sqlite") as connection:
        connection.executescript(capsys.readouterr().out)
    connection.close()
    database = ReviewsDatabase(f"sqlite:///{tmp_path}/made.sqlite")
    reviews = Reviews(database, review_set, "set", dedicated=False)
    reviews.record([score(4)], ANN)
    assert reviews.scores()["score"].to_list() == [4]
    database.close()


def test_nothing_is_ever_taken_down(engine):
    with engine.begin() as connection:
        migrate(connection)
    config = migration_config()
    with engine.connect() as connection:
        config.attributes["connection"] = connection
        with pytest.raises(NotImplementedError):
            command.downgrade(config, "base")


def test_reading_does_not_need_the_tool_for_migrations(reviews, review_set):
    if not reviews.database.is_sqlite:
        pytest.skip("one kind of database is enough")
    reviews.record([score(4)], ANN)
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); from pathlib import Path;"
        "from rexview.reviewset import load_review_set; from rexview.settings import Settings;"
        "from rexview.store import open_reviews;"
        "print(open_reviews(load_review_set(Path(sys.argv[2])), Settings()).revision(),"
        "'alembic' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(ROOT), str(review_set.folder)],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == ["1", "False"]


def test_opening_again_changes_nothing(reviews, review_set, settings):
    reviews.record([score(4)], ANN)
    before = reviews.history()
    assert open_reviews(review_set, settings).history() == before


def test_a_new_sqlite_file_is_as_all_steps_make_it():
    made = []
    for begin in ({}, {"to": "0001"}):
        engine = sa.create_engine("sqlite://")
        with engine.begin() as connection:
            migrate(connection, **begin)
            migrate(connection)
            found = sa.text("SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY 1, 2")
            made.append((set(connection.execute(found).all()), find_schema_version(connection)))
        engine.dispose()
    assert made[0] == made[1]
    assert made[0][1] == SCHEMA_VERSION

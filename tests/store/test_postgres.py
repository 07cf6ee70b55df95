"""What only a database server can do to us: go away, come back, be slow, be full of others."""

import re
from threading import Barrier, Thread

import psycopg
import pytest
from sqlalchemy import event, text
from support.entries.stored import ANN, BOB, score

from rexview.errors import StoreBusy, StoreUnreachable
from rexview.people import Person
from rexview.settings import Settings
from rexview.store import Reviews, open_reviews
from rexview.store.database.connection import ReviewsDatabase
from tools.postgres import PostgresServer


@pytest.fixture
def reviews(review_set, new_address):
    return open_reviews(review_set, Settings(database_url=new_address()))


def test_many_connections_write_and_ids_appear_in_order(reviews, review_set):
    """Whoever asks for what is new never misses an entry that was written at the same time."""
    address = reviews.database.url.render_as_string(False)
    people = [Person(f"p{number}", "P", "reader") for number in range(8)]
    start, problems, seen = Barrier(len(people) + 1), [], []
    ends = [False]

    def write(person):
        database = ReviewsDatabase(address)
        own = Reviews(database, review_set, reviews.key, dedicated=False)
        start.wait()
        try:
            for value in (1, 2, 3, 4, 5) * 3:
                own.record([score(value), score(value, dimension="language")], person)
        except Exception as error:
            problems.append(error)
        database.close()

    def watch():
        start.wait()
        newest = 0
        while True:
            last = ends[0]
            for row in (row for row in reversed(reviews.history()) if row.id > newest):
                seen.append(row.token)
                newest = row.id
            if last:
                return

    threads = [Thread(target=write, args=(person,)) for person in people]
    watching = Thread(target=watch)
    for thread in (*threads, watching):
        thread.start()
    for thread in threads:
        thread.join()
    ends[0] = True
    watching.join()
    assert not problems
    assert len(seen) == len(set(seen)) == 8 * 15 * 2
    assert {row.token for row in reviews.history()} == set(seen)


def test_a_lock_held_by_others_is_told_and_can_be_read(reviews, review_set):
    reviews.record([score(1)], ANN)
    address = reviews.database.url.render_as_string(False)
    hurried = Reviews(
        ReviewsDatabase(address, wait_s=0.5), review_set, reviews.key, dedicated=False
    )
    assert hurried.revision()
    with psycopg.connect(address.replace("+psycopg", "")) as other:
        other.execute("LOCK TABLE history IN SHARE ROW EXCLUSIVE MODE")
        entry = score(2)
        limits = []
        event.listen(
            hurried.database._engine,
            "before_cursor_execute",
            lambda *call: limits.extend(re.findall(r"lock_timeout = (\d+)", call[2])),
        )
        with pytest.raises(StoreBusy):
            hurried.record([entry], ANN)
        assert limits == ["500"], "so many milliseconds it waits, and once"
        assert hurried.scores()["score"].to_list() == [1], "reading goes on"
    hurried.record([entry], ANN)
    assert reviews.scores()["score"].to_list() == [2]
    hurried.database.close()


def test_dropped_connections_are_made_anew(reviews):
    reviews.record([score(1)], ANN)
    address = reviews.database.url.render_as_string(False).replace("+psycopg", "")
    with psycopg.connect(address, autocommit=True) as other:
        other.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
    assert reviews.scores()["score"].to_list() == [1]
    reviews.record([score(2)], ANN)
    assert reviews.scores()["score"].to_list() == [2]


def test_a_server_that_goes_away_and_comes_back(review_set, postgres_server):
    with PostgresServer() as server:
        reviews = open_reviews(review_set, Settings(database_url=server.new_database("reviews")))
        reviews.record([score(1)], ANN)
        server.stop(crash=True)
        entry = score(2)
        for work in (reviews.revision, lambda: reviews.record([entry], BOB)):
            with pytest.raises(StoreUnreachable, match="cannot be reached") as caught:
                work()
            assert caught.value.again
            assert "rexview@" not in str(caught.value)
        server.start()
        reviews.record([entry], BOB)
        assert sorted(reviews.scores()["score"]) == [1, 2], "what was taken is there"


def test_a_server_that_was_never_there(review_set):
    settings = Settings(database_url="postgresql://ann:secret@127.0.0.1:9/none")
    reviews = open_reviews(review_set, settings)
    with pytest.raises(StoreUnreachable) as caught:
        reviews.record([score(4)], ANN)
    assert "secret" not in str(caught.value)


def test_whoever_may_not_write_is_told(review_set, postgres_server, new_address):
    address = new_address()
    open_reviews(review_set, Settings(database_url=address)).record([score(4)], ANN)
    name = address.rpartition("/")[2]
    postgres_server.run("CREATE ROLE looker LOGIN", name)
    postgres_server.run("GRANT SELECT ON ALL TABLES IN SCHEMA public TO looker", name)
    settings = Settings(database_url=address.replace("rexview@", "looker@"))
    reviews = open_reviews(review_set, settings)
    assert reviews.scores()["score"].to_list() == [4]
    with pytest.raises(StoreUnreachable, match="does not let this app write"):
        reviews.record([score(5)], ANN)


def test_a_short_address_is_understood(review_set, new_address):
    settings = Settings(database_url=new_address().replace("postgresql://", "postgres://"))
    open_reviews(review_set, settings).record([score(4)], ANN)
    assert open_reviews(review_set, settings).scores()["score"].to_list() == [4]


def test_reading_sees_one_state(reviews):
    reviews.record([score(1)], ANN)
    count = text("SELECT count(*) FROM history")

    def work(connection):
        before = connection.execute(count).scalar_one()
        reviews.record([score(2)], BOB)
        return before, connection.execute(count).scalar_one()

    assert reviews.database.read(work, (0, 0)) == (1, 1)
    assert len(reviews.history()) == 2

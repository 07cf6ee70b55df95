"""Locks that go with their process: one holder at a time, and what is lost is noticed."""

import time

import pytest
from sqlalchemy import text

from rexview.errors import StoreUnreachable
from rexview.store.database import shared_state
from rexview.store.database.connection import ReviewsDatabase
from rexview.store.database.shared_state import AdvisoryLocks


@pytest.fixture
def servers(new_address, monkeypatch):
    monkeypatch.setattr(shared_state, "CHECK_EVERY_S", 0.05)
    address = new_address()
    made = [AdvisoryLocks(ReviewsDatabase(address)) for _ in range(2)]
    yield made
    for one in made:
        one.close()


def test_one_holds_until_it_lets_go(servers):
    here, there = servers
    assert here.hold("a")
    assert here.hold("a")
    assert not there.hold("a")
    assert there.hold("b")
    assert (here.is_held("a"), there.is_held("a")) == (True, False)
    here.let_go("a")
    assert there.hold("a")
    assert not here.hold("a")


def test_who_lost_its_connection_has_it_again_or_knows_who_has(servers):
    here, there = servers
    assert here.hold("a")
    assert here.hold("b")
    with there._database.open_alone() as connection:
        cut = "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory'"
        here._lock.acquire()  # it has not noticed yet
        connection.execute(text(cut))
        while not there.hold("a"):
            time.sleep(0.01)
        here._lock.release()
    while here.is_held("a"):
        time.sleep(0.02)
    assert here.is_held("b"), "nobody else wanted it"
    assert not there.hold("b")
    here.close()
    assert there.hold("b")


def test_a_server_that_is_away_is_told():
    locks = AdvisoryLocks(ReviewsDatabase("postgresql://rexview@127.0.0.1:9/none"))
    with pytest.raises(StoreUnreachable, match="cannot be reached"):
        locks.hold("a")
    locks.close()


def test_a_file_is_one_servers(tmp_path):
    locks = AdvisoryLocks(ReviewsDatabase(f"sqlite:///{tmp_path}/reviews.sqlite"))
    assert locks.hold("a")
    assert not list(tmp_path.iterdir())

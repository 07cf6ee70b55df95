"""Reviews of the small set in real SQLite files and on a real PostgreSQL server."""

import itertools

import pytest
from support.small_set import write_set

from rexview.reviewset import load_review_set
from rexview.settings import Settings
from rexview.store import open_reviews
from rexview.store.database.connection import close_databases

_numbers = itertools.count(1)


@pytest.fixture
def new_address(postgres_server):
    """Return a function that makes a PostgreSQL database and returns its address."""
    return lambda: postgres_server.new_database(f"reviews_{next(_numbers)}")


@pytest.fixture(autouse=True)
def own_data_folder(tmp_path, monkeypatch):
    """Databases that lie with the user are the test's own; all are closed when it ends."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    yield tmp_path / "data"
    close_databases()


@pytest.fixture
def review_set(tmp_path):
    return load_review_set(write_set(tmp_path / "set"))


@pytest.fixture(params=["sqlite", "postgresql"])
def settings(request):
    """Settings for either kind of database."""
    if request.param == "sqlite":
        return Settings()
    return Settings(database_url=request.getfixturevalue("new_address")())


@pytest.fixture
def reviews(review_set, settings):
    return open_reviews(review_set, settings)

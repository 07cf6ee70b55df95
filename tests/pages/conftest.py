"""The real app opened on the small set without a browser."""

import pytest
from support.opened_app import run_page, server_for
from support.small_set import write_set


@pytest.fixture
def review_folder(tmp_path):
    return write_set(tmp_path / "set")


@pytest.fixture
def open_app(review_folder, tmp_path, monkeypatch):
    """Return a function that opens a page of the app on the small set."""

    def open_page(page=None, /, **query):
        app = run_page(page, **query)
        assert not app.exception
        return app

    with server_for(review_folder, tmp_path, monkeypatch):
        yield open_page

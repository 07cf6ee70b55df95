"""The real app opened on the small set without a browser."""

import pytest
from streamlit.testing.v1 import AppTest
from support import ROOT
from support.small_set import write_set

from rexview.ui.server import review_sets, server_state


@pytest.fixture
def review_folder(tmp_path):
    return write_set(tmp_path / "set")


@pytest.fixture
def open_app(review_folder, tmp_path, monkeypatch):
    """Return a function that opens a page of the app on the small set."""
    monkeypatch.setenv("REXVIEW_SET", str(review_folder))
    monkeypatch.setenv("REXVIEW_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setattr("sys.argv", ["app.py"])
    for cached in (
        server_state.settings,
        server_state.team,
        server_state.signer,
        server_state.image_cache,
        review_sets._folders,
    ):
        cached.cache_clear()

    def open_page(page=None, /, **query):
        app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=180)
        for key, value in query.items():
            app.query_params[key] = value
        app.run()
        if page:
            app.switch_page(str(ROOT / "pages" / f"{page}.py"))
            for key, value in query.items():
                app.query_params[key] = value
            app.run()
        assert not app.exception
        return app

    yield open_page
    for cached in (
        server_state.settings,
        server_state.team,
        server_state.signer,
        server_state.image_cache,
        review_sets._folders,
    ):
        cached.cache_clear()

"""A review set opened by the app's own parts, without a page or a server."""

from contextlib import contextmanager

from rexview.store.database.connection import close_databases
from rexview.ui.server import review_sets, server_state


@contextmanager
def opened_set(folder, tmp_path, monkeypatch):
    """Give the review set in a folder as the server's own, with nothing kept from before."""
    monkeypatch.setenv("REXVIEW_SET", str(folder))
    monkeypatch.setenv("REXVIEW_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setattr("sys.argv", ["app.py"])
    cached = (
        server_state.settings,
        server_state.team,
        server_state.signer,
        server_state.image_cache,
        review_sets._folders,
    )
    for one in cached:
        one.cache_clear()
    yield review_sets.open_set(folder)
    for one in cached:
        one.cache_clear()
    close_databases()

"""A review set opened by the app's own parts, without a page or a server."""

from contextlib import contextmanager

from rexview.store.database.connection import close_databases
from rexview.ui.server import resources


@contextmanager
def opened_set(folder, tmp_path, monkeypatch):
    """Give the review set in a folder as the server's own, with nothing kept from before."""
    monkeypatch.setenv("REXVIEW_SET", str(folder))
    monkeypatch.setenv("REXVIEW_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setattr("sys.argv", ["app.py"])
    cached = (
        resources.settings,
        resources.team,
        resources.signer,
        resources.image_cache,
        resources._registry,
    )
    for one in cached:
        one.cache_clear()
    yield resources.open_set(folder)
    for one in cached:
        one.cache_clear()
    close_databases()

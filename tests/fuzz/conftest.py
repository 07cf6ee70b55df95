"""The app's own parts on the small set, for hostile input."""

import pytest
from small_set import write_set

from rexview.store.database import close_databases
from rexview.ui import resources


@pytest.fixture
def review_set(tmp_path, monkeypatch):
    folder = write_set(tmp_path / "set")
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

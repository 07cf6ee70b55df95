"""The app without a server: its own parts, or its pages in AppTest, on a review set."""

from contextlib import contextmanager
from functools import cache

from streamlit.components.v2 import manifest_scanner
from streamlit.runtime.scriptrunner.script_cache import ScriptCache
from streamlit.testing.v1 import AppTest, local_script_runner

from rexview.store.database.connection import close_databases
from rexview.ui.web.link import keys as link_keys
from rexview.ui.web.server import failure_scans, review_sets, server_state, set_folders
from rexview.ui.web.server.clickhouse_sets import clickhouse_set
from support import ROOT

_KEPT = (
    server_state.settings,
    server_state.requires_sign_in,
    server_state.signer,
    server_state.image_cache,
    set_folders._folders,
    clickhouse_set,
)
"""What a server keeps until it ends."""
_installed_components = cache(manifest_scanner.scan_component_manifests)
"""A server reads the metadata of all installed packages once; AppTest does so at each run."""
_compiled_scripts = ScriptCache()
"""A server compiles each page once; AppTest does so at each run."""
_ask_whether_it_ended = local_script_runner.require_widgets_deltas


def _wait_for_script(runner, timeout=3):
    """Wait for the end of a script's thread; AppTest asks for it a thousand times a second."""
    runner._script_thread.join(timeout)
    _ask_whether_it_ended(runner, 0.1)


def _spare_repeated_work(monkeypatch):
    """Let AppTest do once what a server does once."""
    monkeypatch.setattr(manifest_scanner, "scan_component_manifests", _installed_components)
    monkeypatch.setattr(local_script_runner, "ScriptCache", lambda: _compiled_scripts)
    monkeypatch.setattr(local_script_runner, "require_widgets_deltas", _wait_for_script)


@contextmanager
def server_for(folder, tmp_path, monkeypatch):
    """Let this process be the server of the review set in a folder, with nothing kept before."""
    monkeypatch.setenv("REXVIEW_SET", str(folder))
    monkeypatch.setenv("REXVIEW_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setattr("sys.argv", ["app.py"])
    monkeypatch.setattr(failure_scans, "MAX_SCAN_WAIT_S", 60.0)  # of few answers all is known
    _spare_repeated_work(monkeypatch)
    for kept in _KEPT:
        kept.cache_clear()
    yield
    for kept in _KEPT:
        kept.cache_clear()
    close_databases()


@contextmanager
def opened_set(folder, tmp_path, monkeypatch):
    """Give the review set in a folder as the server's own."""
    with server_for(folder, tmp_path, monkeypatch):
        yield review_sets.open_set(folder)


def run_in_new_session(app):
    """Send what a page sends to a session that has drawn nothing yet, as after a restart.

    Its browser keeps the name that it has.
    """
    after = AppTest.from_file(app._script_path, default_timeout=180)
    if link_keys.SESSION_NAME in app.session_state:
        after.session_state[link_keys.SESSION_NAME] = app.session_state[link_keys.SESSION_NAME]
    after._page_hash, after.query_params = app._finished_page_script_hash, app.query_params
    return after._run(app._tree.get_widget_states())


def run_page(page=None, /, *, name=None, **query):
    """Run a page of the app, by default its first, for a browser with or without a name."""
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=180)
    if page:
        app.switch_page(str(ROOT / "pages" / f"{page}.py"))
    if name:  # there are no cookies here
        app.session_state[link_keys.SESSION_NAME] = name
    for key, value in query.items():
        app.query_params[key] = value
    return app.run()

"""A server that has just started shows a radiograph before it imports the rest of the app."""

import json
import os
import subprocess
import sys
import time
from urllib.error import URLError
from urllib.request import urlopen

import pytest
from support import ROOT
from support.page_text import data_of
from support.websocket_session import Hand

from bench.serving import free_port, stop

MOST_MODULES = 150
"""Modules of rexview that a server may have imported when it has sent the first radiograph."""
NOT_YET = {
    *{"rexview.analysis", "rexview.detect", "rexview.export", "rexview.models", "rexview.store"},
    *{"altair", "pandas", "pyarrow", "scipy", "sklearn", "sqlalchemy"},
}
ONLY_WITH_CHARTS = {"altair", "pandas"}
_PATIENCE_S = 120
_SERVER = """
import json, sys
from pathlib import Path
from streamlit.web import cli
from rexview.ui.web.server import warm_up

out = Path(sys.argv.pop(1))

def note(name):
    if not (out / name).exists():
        (out / "part").write_text(json.dumps(sorted(sys.modules)))
        (out / "part").rename(out / name)

request_pages, release_memory = warm_up.request_pages, warm_up.release_memory

def noting():
    note("picture")
    request_pages()

def last():
    note("all")
    release_memory()

warm_up.request_pages, warm_up.release_memory = noting, last
warm_up._REST_AFTER_S = 0
cli.main(prog_name="streamlit")
"""
"""A server that writes down its modules when the first radiograph was sent, and at the end."""


@pytest.fixture(scope="module")
def started(tmp_path_factory):
    """The demo on a new server, a process of its own: its address, and where it writes."""
    folder = tmp_path_factory.mktemp("started")
    (folder / "server.py").write_text(_SERVER, encoding="utf-8")
    port = free_port()
    kept = {"REXVIEW_CACHE": str(folder / "cache"), "XDG_DATA_HOME": str(folder / "data")}
    server = subprocess.Popen(
        [
            *(sys.executable, folder / "server.py", folder, "run", "app.py"),
            *("--server.headless=true", f"--server.port={port}"),
        ],
        cwd=ROOT,
        env={**os.environ, **kept, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    address = f"http://localhost:{port}"
    try:
        _wait_for(lambda: _answers(address))
        yield address, folder
    finally:
        stop(server)


def _answers(address):
    try:
        with urlopen(f"{address}/_stcore/health", timeout=1) as answer:
            return answer.status == 200
    except (URLError, OSError):
        return False


def _wait_for(there):
    end = time.monotonic() + _PATIENCE_S
    while not there():
        assert time.monotonic() < end
        time.sleep(0.05)


def _modules(folder, name):
    _wait_for((folder / name).exists)
    return set(json.loads((folder / name).read_text(encoding="utf-8")))


def _is_viewer(message):
    drawn = message.delta.new_element
    return (
        drawn.WhichOneof("type") == "bidi_component"
        and drawn.bidi_component.component_name == "rexview_viewer"
    )


def test_the_first_radiograph_needs_few_modules_and_the_page_follows(started):
    address, folder = started
    with Hand(address) as hand:
        hand.rerun("case", query="sort=order", until=_is_viewer)
        first = hand.component("rexview_viewer")
        shown = data_of(first)
        assert (shown["case"], shown["groups"]) == ("c01", [])
        assert hand.get(shown["views"][0]["url"]).startswith(b"RXV1")
        found = _modules(folder, "picture")
        ours = {name for name in found if name.partition(".")[0] == "rexview"}
        assert 100 < len(ours) <= MOST_MODULES
        assert not found & NOT_YET

        # the same viewer then gets the boxes, beside the rest of the page
        hand.read(until=_is_viewer)
        second = hand.component("rexview_viewer")
        assert second.id == first.id
        whole = data_of(second)
        assert whole["case"] == "c01"
        assert whole["groups"]
        assert [view["key"] for view in whole["views"]][: len(shown["views"])] == [
            view["key"] for view in shown["views"]
        ]


def test_what_draws_charts_comes_with_its_pages(started):
    _, folder = started
    found = _modules(folder, "all")
    assert not found & ONLY_WITH_CHARTS
    assert {"rexview.ui.score_cases.scored_case", "rexview.ui.curate.study_desk"} <= found

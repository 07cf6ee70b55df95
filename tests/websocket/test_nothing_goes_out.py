"""A real server asks nobody outside: not at its start, not for a page, not for foreign pages."""

import ipaddress
import json
import urllib.error
import urllib.request

import pytest
from support.small_set import write_set
from support.websocket_session import Hand
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from bench.serving import ROOT, serve

RECORDER = """
import json, socket, sys

def record(event, arguments):
    if event in ("socket.connect", "socket.getaddrinfo", "socket.gethostbyname", "socket.sendto"):
        place = arguments[0] if event.startswith("socket.get") else arguments[1]
        with open({file!r}, "a", encoding="utf-8") as told:
            told.write(json.dumps([event, str(place[0] if isinstance(place, tuple) else place)]))
            told.write("\\n")

sys.addaudithook(record)
socket.getaddrinfo("localhost", 1)  # the record is known to work
"""
"""Put first into the server's Python: writes down whom it looks up or connects to."""


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """Return the address of a server on all addresses of this machine, and whom it has asked."""
    folder = tmp_path_factory.mktemp("network")
    told = folder / "asked.jsonl"
    (folder / "sitecustomize.py").write_text(RECORDER.format(file=str(told)), encoding="utf-8")
    environment = {
        "PYTHONPATH": f"{folder}:{ROOT}",
        "REXVIEW_SET": str(write_set(folder / "set")),
        "REXVIEW_CACHE": str(folder / "cache"),
        "XDG_DATA_HOME": str(folder / "data"),
        "HOME": str(folder),
    }
    options = {"server.address": "0.0.0.0", "server.fileWatcherType": "none"}
    log = folder / "log.txt"

    def asked():
        lines = told.read_text(encoding="utf-8").splitlines() if told.exists() else []
        return [json.loads(line) for line in lines]

    with serve(ROOT / "app.py", options=options, environment=environment, log=log) as address:
        yield address, asked


def outside(asked):
    """Return what is not this machine of whom was asked."""
    return [one for one in asked if not is_here(one[1])]


def is_here(place):
    try:
        address = ipaddress.ip_address(place)
    except ValueError:
        return place in ("localhost", "None", "") or place.startswith("/")
    return address.is_loopback or address.is_unspecified


def refused(address, origin):
    try:
        with connect(address.replace("http", "ws", 1) + "/_stcore/stream", origin=origin):
            return None
    except InvalidStatus as error:
        return error.response.status_code


def test_the_server_asks_nobody_outside(server):
    address, asked = server
    assert ["socket.getaddrinfo", "localhost"] in asked()
    for origin in ("http://evil.example", "http://localhost:1", "null"):
        assert refused(address, origin) == 403
    with Hand(address) as hand:
        for page in ("", "browse", "case", "scores", "data"):
            assert hand.rerun(page).last
    assert not outside(asked())


def test_its_errors_and_its_static_files_have_the_headers_too(server):
    address, _ = server
    for path in ("", "/nothing", "/static/js/none.js", "/rexview/pixels/x", "/_stcore/health"):
        try:
            with urllib.request.urlopen(address + path, timeout=30) as answer:
                headers = answer.headers
        except urllib.error.HTTPError as error:
            headers = error.headers
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert "frame-ancestors 'none'" in headers["Content-Security-Policy"]

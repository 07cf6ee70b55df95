"""What Streamlit serves and takes is what the table says: nothing new gets past it unseen."""

from pathlib import Path

import pytest
import streamlit as st
from streamlit import file_util
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.runtime import Runtime

from rexview.ui.web.streamlit_adapter.served_routes import MESSAGES, ROUTES, STATIC_FILES, STREAM

WEBSOCKETS = {STREAM}
MOUNTS = {""}
OFFERED = {
    "/_stcore/health": "GET HEAD OPTIONS",
    "/_stcore/metrics": "GET HEAD OPTIONS",
    "/_stcore/host-config": "GET HEAD",
    "/media/{file_id:path}": "GET HEAD OPTIONS",
    "/component/{path:path}": "GET HEAD OPTIONS",
    "/_stcore/upload_file/{session_id}/{file_id}": "DELETE OPTIONS PUT",
    "/_stcore/bidi-components/{path:path}": "GET HEAD OPTIONS",
    "/auth/login": "GET HEAD",
    "/auth/logout": "GET HEAD",
    "/oauth2callback": "GET HEAD",
    "/_stcore/agent/interact": "DELETE GET HEAD OPTIONS PATCH POST PUT",
    "/_stcore/agent/openapi.json": "DELETE GET HEAD OPTIONS PATCH POST PUT",
    "/_stcore/agent/mcp": "DELETE GET HEAD OPTIONS PATCH POST PUT",
}
"""All that the Streamlit which rexview is made for has beside its pages. Where this test fails
after an update, look at what is new, then decide in ``served_routes`` who gets it."""


@pytest.fixture(scope="module")
def streamlits_routes(tmp_path_factory):
    script = tmp_path_factory.mktemp("app") / "page.py"
    script.write_text("", encoding="utf-8")
    kept, Runtime._instance = Runtime._instance, None
    try:
        yield st.App(script)._build_starlette_app().routes
    finally:
        Runtime._instance = kept


def test_streamlit_serves_what_the_table_says_and_nothing_else(streamlits_routes):
    found = {}
    for route in streamlits_routes:
        if type(route).__name__ == "Route":
            found.setdefault(route.path, set()).update(route.methods)
    assert {path: " ".join(sorted(methods)) for path, methods in found.items()} == OFFERED
    assert {route.path for route in ROUTES} == set(OFFERED)
    for route in ROUTES:
        assert set(route.methods) <= set(OFFERED[route.path].split())
    kinds = {kind: set() for kind in ("Route", "WebSocketRoute", "Mount")}
    for route in streamlits_routes:
        kinds[type(route).__name__].add(route.path)
    assert kinds["WebSocketRoute"] == WEBSOCKETS
    assert kinds["Mount"] == MOUNTS
    names = {path.name for path in Path(file_util.get_static_dir()).iterdir()}
    assert names == {"index.html", "static", *(name.strip("/") for name in STATIC_FILES)}


def test_browsers_send_what_the_table_of_messages_says():
    kinds = {field.name for field in BackMsg.DESCRIPTOR.oneofs_by_name["type"].fields}
    assert kinds - MESSAGES == {
        "clear_cache",
        "set_run_on_save",
        "load_git_info",
        "debug_disconnect_websocket",
        "debug_shutdown_runtime",
    }
    assert kinds > MESSAGES

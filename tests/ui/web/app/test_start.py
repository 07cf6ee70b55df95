"""What the server does before it answers: it imports nothing heavy, and its routes wait."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from rexview.ui.web.app.routes import AppRoutes
from rexview.ui.web.server import server_state
from rexview.ui.web.server.sealed_tokens import LinkSigner

ROOT = Path(__file__).resolve().parents[4]
HEAVY = ["altair", "cv2", "numpy", "pandas", "polars", "pydicom", "scipy", "sklearn", "sqlalchemy"]
AS_SERVER = f"""
import importlib.util, json, sys
found = importlib.util.spec_from_file_location("app", {str(ROOT / "app.py")!r})
found.loader.exec_module(importlib.util.module_from_spec(found))
print(json.dumps([name for name in {HEAVY} if name in sys.modules]))
"""


def test_the_server_imports_nothing_heavy_before_it_answers():
    done = subprocess.run(
        [sys.executable, "-c", AS_SERVER], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert json.loads(done.stdout) == []


@pytest.fixture
def client():
    return TestClient(Starlette(routes=[AppRoutes()]))


@pytest.mark.parametrize(
    ("method", "path"),
    [("GET", "/rexview/nothing"), ("POST", "/rexview/pixels/x"), ("GET", "/rexview/")],
)
def test_what_is_no_route_of_ours_is_not_there(client, method, path):
    answer = client.request(method, path)
    assert answer.status_code == 404
    assert answer.text == "There is nothing at this address."


def test_our_routes_answer(client, monkeypatch):
    monkeypatch.setattr(server_state, "signer", lambda: LinkSigner("secret"))
    assert client.get("/rexview/assets/old/viewer.js").text.startswith("There is no such file.")
    assert client.get("/rexview/pixels/none").status_code == 403

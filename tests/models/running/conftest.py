import pytest
from support import model_server

from rexview.models.running import request_gate as gates


@pytest.fixture
def server():
    with model_server.started() as running:
        yield running


@pytest.fixture(autouse=True)
def quick_backoff(monkeypatch):
    monkeypatch.setattr(gates, "FIRST_PAUSE_S", 0.05)

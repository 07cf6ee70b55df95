"""What tests of commands that ask models share."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from support import model_server

from rexview.models.running import request_gate as gates


@pytest.fixture
def asks_models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Folders and a key of the test's own, and no long rests before another try."""
    monkeypatch.setenv("REXVIEW_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("OPENAI_API_KEY", "a-key-of-a-test")
    monkeypatch.setattr(gates, "FIRST_PAUSE_S", 0.05)


@pytest.fixture
def server(request: pytest.FixtureRequest) -> Iterator[model_server.ModelServer]:
    """A server of models that answers by the test module's ``RULES``."""
    with model_server.started(request.module.RULES) as running:
        yield running

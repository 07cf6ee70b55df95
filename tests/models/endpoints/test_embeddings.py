"""Vectors of a server: numbers with a direction, or words about it."""

from types import SimpleNamespace

import pytest

from rexview.models.asking.model_cards import find_card
from rexview.models.backend import AttemptFailed
from rexview.models.endpoints import embeddings
from rexview.models.endpoints.server_addresses import check_base_url, confirm_server_address


def vectors(monkeypatch, *rows):
    """What comes of two texts where a server answers with some rows."""
    data = [SimpleNamespace(index=at, embedding=row) for at, row in enumerate(rows)]
    create = lambda **asked: SimpleNamespace(data=data)  # noqa: E731
    client = SimpleNamespace(embeddings=SimpleNamespace(create=create), close=lambda: None)
    monkeypatch.setattr(embeddings, "make_openai_client", lambda *how: client)
    confirm_server_address(check_base_url("http://localhost:1/v1"))
    asked = embeddings.Embeddings("v", find_card("v"), "http://localhost:1/v1")
    return asked.vectors(["a", "b"])


def test_numbers_are_taken(monkeypatch):
    assert vectors(monkeypatch, [1, 0.5], [0, -1]).tolist() == [[1, 0.5], [0, -1]]


@pytest.mark.parametrize(
    "row",
    [
        *(None, "AACAPw==", [None, 1.0], ["1", 2.0], [[1.0], [2.0, 3.0]], []),
        *([0.0, 0.0], [float("nan"), 1.0], [10**400, 1.0], [1e308, 1e308], [1.0]),
    ],
)
def test_all_else_is_refused(monkeypatch, row):
    with pytest.raises(AttemptFailed):
        vectors(monkeypatch, [1.0, 0.0], row)

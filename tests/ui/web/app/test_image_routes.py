"""Pictures over HTTP: what is sent when the server has no memory left for another one."""

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient
from support.opened_app import opened_set
from support.small_set import write_set

from rexview.imaging.limits import DECODING_MEMORY, MAX_BYTES_AT_ONCE
from rexview.ui.web.access import image_links
from rexview.ui.web.app import image_routes


@pytest.fixture
def review_set(tmp_path, monkeypatch):
    with opened_set(write_set(tmp_path / "set"), tmp_path, monkeypatch) as review_set:
        yield review_set


@pytest.mark.parametrize("link", [image_links.pixel_url, image_links.thumbnail_url])
def test_a_busy_server_says_so_and_shows_the_picture_later(review_set, monkeypatch, link):
    client = TestClient(Starlette(routes=image_routes.routes()))
    url = f"/{link(review_set, 'one.png')}"
    monkeypatch.setattr(DECODING_MEMORY, "seconds", 0)
    with DECODING_MEMORY.scope():
        DECODING_MEMORY.take(MAX_BYTES_AT_ONCE, MAX_BYTES_AT_ONCE)
        busy = client.get(url)  # answered by another thread, which has nothing of this room
        broken = client.get(f"/{link(review_set, 'broken.png')}")
    assert busy.status_code == 503
    assert busy.headers["cache-control"] == "no-store"
    assert "Try again" in busy.text
    assert broken.status_code == 422
    assert client.get(url).status_code == 200

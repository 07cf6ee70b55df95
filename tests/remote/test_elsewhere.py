"""Sets on disk with pictures on web servers: one that is dead, films that no table describes."""

import threading
import time
from contextlib import ExitStack
from io import BytesIO

import httpx
import pydicom
import pytest
from support.live_meeting import served
from support.opened_app import opened_set
from support.review_folder import write_review_set
from support.storage import spoiling

from rexview.analysis.query.engine import Position
from rexview.remote import http_storage, remote_pictures
from rexview.reviewset import check_review_set, find_image_file
from rexview.ui.viewer.case_payload import viewer_data
from rexview.ui.web.access import image_links
from rexview.ui.web.app import image_routes
from rexview.ui.web.server import prefetch, review_sets
from tests.remote.conftest import IMAGES
from tests.remote.test_pages import wait_until_idle
from tests.remote.test_pictures import RAMP

MANY = 40
"""More than there are turns with one storage, and than threads for its pictures."""


@pytest.fixture
def servers(monkeypatch):
    """Two web servers that are allowed; ``spoil`` says what they answer."""
    with spoiling(0) as first, spoiling(0) as second:
        bases = [f"http://127.0.0.1:{one.port}/" for one in (first, second)]
        monkeypatch.setenv("REXVIEW_REMOTE_HOSTS", " ".join(bases))
        for server, base in zip((first, second), bases, strict=True):
            server.base = base
            server.spoil = lambda answer: answer.say(200, RAMP, ETag='"1"')
        yield first, second


@pytest.fixture
def opened(servers, tmp_path, monkeypatch):
    """Return what opens a set whose cases have these images (path and what is given of each)."""
    with ExitStack() as stack:

        def open_it(*images):
            cases = [
                {"id": f"c{n}", "question": "?", "images": [{"id": "i", **image}]}
                for n, image in enumerate(images)
            ]
            boxes = [
                {"image": "i", "label": "effusion", "box": [5, 60, 30, 30]},
                {"image": "i", "label": "nodule", "box": [90_000, 60, 30, 30]},
            ]
            answers = [
                {"case": one["id"], "model": "m", "text": "Effusion.", "boxes": boxes}
                for one in cases
            ]
            folder = write_review_set(
                tmp_path / "set", info={"name": "Set"}, cases=cases, answers=answers
            )
            return stack.enter_context(opened_set(folder, tmp_path, monkeypatch))

        yield open_it
        wait_until_idle()


@pytest.fixture
def dead(servers, monkeypatch):
    """The first server, which takes requests and answers none before ``ended``."""
    monkeypatch.setattr(http_storage, "SILENCE_LIMIT_S", 600.0)
    monkeypatch.setattr(remote_pictures, "MAX_TURN_WAIT_S", 600.0)
    dead = servers[0]
    dead.ended = threading.Event()

    def wait(answer):
        dead.ended.wait(120)
        return answer.say(503)

    dead.spoil = wait
    yield dead
    dead.ended.set()


def in_threads(work, given):
    threads = [threading.Thread(target=work, args=(one,), daemon=True) for one in given]
    for thread in threads:
        thread.start()
    return threads


def test_a_dead_storage_holds_up_no_picture_of_another(servers, opened, dead):
    paths = [f"{dead.base}{n}.png" for n in range(MANY)]
    living = f"{servers[1].base}one.png"
    another = f"{servers[1].base}two.png"
    review_set = opened(*({"path": path} for path in (*paths, living, another)))
    for path in paths:
        image_links.pixel_url(review_set, path)
    ahead_of = image_links.pixel_url(review_set, living)
    for thread, origin in list(prefetch._AT_WORK.items()):
        if living.startswith(origin):
            thread.join()
    assert servers[1].asked == ["/one.png"], "fetched before anybody asked"

    links = [image_links.thumbnail_url(review_set, path) for path in paths]
    with served(image_routes.routes()) as base, httpx.Client(timeout=None, base_url=base) as client:
        waiting = in_threads(lambda link: client.get(f"/{link}"), links)
        while len(dead.asked) < remote_pictures.MAX_PARALLEL_FETCHES:
            assert any(thread.is_alive() for thread in waiting)
            time.sleep(0.01)
        with httpx.Client(timeout=60, base_url=base) as other:
            assert other.get(f"/{ahead_of}").status_code == 200
            thumbnail = other.get(f"/{image_links.thumbnail_url(review_set, another)}")
            assert thumbnail.status_code == 200
        assert all(thread.is_alive() for thread in waiting), "nobody waited for the dead one"
        assert len(dead.asked) <= remote_pictures.MAX_PARALLEL_FETCHES, (
            "which has its turns, no more"
        )
        dead.ended.set()
        for thread in waiting:
            thread.join()


def mirrored_film():
    film = pydicom.dcmread(IMAGES / "effusion-left-pa.dcm")
    film.PatientOrientation = ["R", "F"]
    content = BytesIO()
    film.save_as(content)
    return content.getvalue(), film


def viewed(review_set):
    review_set = review_sets.with_current_reviews(review_set)
    page = review_sets.case_page(review_set, "c0")
    data = viewer_data(
        review_set, page, lambda case: Position(1, 1, None, None), {"m": "#fff"}, {"m": "M"}
    )
    return data.views[0], data.groups[0]


def test_a_film_says_by_itself_how_it_is_stored(servers, opened):
    content, film = mirrored_film()
    servers[0].spoil = lambda answer: answer.say(200, content, ETag='"1"')
    path = f"{servers[0].base}film.dcm"
    review_set = opened({"path": path, "view": "PA"})

    view, boxes = viewed(review_set)
    assert not view.orientation.known, "its view would name the wrong side"
    assert [box.side for box in boxes.boxes] == [None, None]
    wait_until_idle()
    find_image_file(review_set, path)
    view, boxes = viewed(review_set)
    assert (view.orientation.left, view.orientation.source) == ("L", "PatientOrientation")
    assert [(box.label, box.side) for box in boxes.boxes] == [("effusion", "on the patient's left")]
    assert "outside the image" in boxes.reasons[0]
    assert film.Columns < 90_000


def test_what_the_tables_give_holds_without_a_file(opened, servers):
    given = {"width": 100, "height": 120, "view": "PA", "patient_orientation": ["L", "F"]}
    review_set = opened({"path": f"{servers[0].base}film.dcm", **given})
    view, boxes = viewed(review_set)
    assert view.orientation.left == "R"
    assert [box.side for box in boxes.boxes] == ["on the patient's right"]


def test_it_is_told_that_films_at_addresses_were_not_looked_at(opened, servers):
    base = servers[0].base
    given = {"width": 100, "height": 120, "view": "PA"}
    review_set = opened(
        {"path": f"{base}one.png"},
        {"path": f"{base}two.png", **given},
        {"path": f"{base}3", **given},
    )
    assert servers[0].asked == [], "a set opens without asking anybody"
    (said,) = [one for one in check_review_set(review_set.folder) if "lie elsewhere" in one.message]
    assert "of 2 images with boxes" in said.message
    assert "go by the view" in said.message

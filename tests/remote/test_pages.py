"""What pages and routes do with pictures that lie elsewhere."""

import json

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient
from support.opened_app import opened_set
from support.small_set import CASES, write_set

from rexview.cli.main import main
from rexview.remote import remote_pictures
from rexview.remote import remote_pictures as fetching
from rexview.reviewset import find_image_file, load_review_set
from rexview.ui.web.access import image_links
from rexview.ui.web.app import image_routes
from rexview.ui.web.server import prefetch


@pytest.fixture
def opened(s3_set, tmp_path, monkeypatch):
    """A set of this computer whose pictures lie in a bucket, and the client of a browser."""
    there = write_set(s3_set.folder / "shown" / tmp_path.name)
    base = f"s3://shown/{tmp_path.name}/images"
    monkeypatch.setenv("REXVIEW_REMOTE_HOSTS", base)
    folder = write_set(tmp_path / "set", cases=CASES)
    info = (folder / "reviewset.yaml").read_text(encoding="utf-8")
    (folder / "reviewset.yaml").write_text(f"{info}\nimages: {base}\n", encoding="utf-8")
    with opened_set(folder, tmp_path, monkeypatch) as review_set:
        yield review_set, TestClient(Starlette(routes=image_routes.routes())), there


def wait_until_idle():
    while prefetch._AT_WORK:
        for thread in list(prefetch._AT_WORK):
            thread.join()


def test_links_to_thumbnails_ask_nobody(opened, s3_set):
    review_set, client, _ = opened
    before = list(s3_set.asked)
    url = image_links.thumbnail_url(review_set, "one.png")
    image_links.image_name(review_set, "one.png")
    assert s3_set.asked == before
    assert client.get(f"/{url}").status_code == 200


def test_a_picture_is_fetched_ahead_of_whoever_has_its_link(opened, s3_set):
    review_set, client, _ = opened
    url = image_links.pixel_url(review_set, "one.png")
    wait_until_idle()
    asked = len(s3_set.asked)
    assert asked
    assert client.get(f"/{url}").status_code == 200
    assert len(s3_set.asked) == asked, "it was there already"


def test_a_storage_that_is_away_is_told_and_the_link_works_later(opened, s3_set, monkeypatch):
    monkeypatch.setattr(fetching, "SILENT_STORAGE_PAUSE_S", 0.0)
    review_set, client, _ = opened
    s3_set.spoil = lambda answer: answer.say(503)
    url = image_links.pixel_url(review_set, "one.png")
    wait_until_idle()
    away = client.get(f"/{url}")
    assert (away.status_code, away.headers["cache-control"]) == (503, "no-store")
    assert "s3://shown" in away.text
    missing = image_links.pixel_url(review_set, "missing.png")
    s3_set.spoil = None
    assert client.get(f"/{url}").status_code == 200
    assert client.get(f"/{missing}").status_code == 422


def test_a_picture_that_changed_is_not_sent_under_its_old_link(opened, monkeypatch):
    review_set, client, there = opened
    monkeypatch.setattr(remote_pictures, "RECHECK_AFTER_S", 0.0)
    image_links.pixel_url(review_set, "one.png")
    wait_until_idle()
    # as after a restart: links name the stored state
    remote_pictures._KNOWN_ADDRESSES.links.clear()
    first = image_links.pixel_url(review_set, "one.png")
    wait_until_idle()
    assert client.get(f"/{first}").status_code == 200
    picture = there / "images" / "one.png"
    picture.write_bytes((picture.read_bytes()) + b" ")
    changed = client.get(f"/{first}")
    assert changed.status_code == 410
    second = image_links.pixel_url(review_set, "one.png")
    wait_until_idle()
    assert second != first
    assert client.get(f"/{second}").status_code == 200


def test_an_archives_studies_become_a_set(dicomweb, stored_studies, tmp_path, capsys):
    out = tmp_path / "from archive"
    studies = [str(film.StudyInstanceUID) for film in stored_studies]
    asked = [part for uid in studies for part in ("--study", uid)]
    url = dicomweb.base.removeprefix("dicomweb+")
    assert main(["import", "dicomweb", url, "--out", str(out), *asked]) == 0
    assert "2 studies with 2 pictures" in capsys.readouterr().out
    cases = [json.loads(line) for line in (out / "cases.jsonl").read_text().splitlines()]
    assert {case["images"][0]["width"] for case in cases} == {
        film.Columns for film in stored_studies
    }
    assert not {str(film.PatientID) for film in stored_studies} & {c["patient_id"] for c in cases}
    assert main(["check", str(out)]) == 0
    assert (
        find_image_file(load_review_set(out), cases[0]["images"][0]["path"]).stat().st_size > 1000
    )


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--study", "1.2.3"], "no study 1.2.3"),
        (["--study", "*"], "no Study Instance UID"),
    ],
)
def test_a_study_that_is_not_there(dicomweb, stored_studies, tmp_path, capsys, arguments, words):
    out = tmp_path / "out"
    assert main(["import", "dicomweb", dicomweb.base, "--out", str(out), *arguments]) == 1
    assert words in capsys.readouterr().err
    assert not out.exists()


def test_an_archive_that_does_not_answer(dicomweb, tmp_path, capsys):
    dicomweb.spoil = lambda answer: answer.say(200, b"<html>", Content_Type="text/html")
    assert main(["import", "dicomweb", dicomweb.base, "--out", str(tmp_path / "out")]) == 1
    assert "something else than a list" in capsys.readouterr().err

"""The guides: each picture is there, taken by the script, served; names in them are right."""

import re

import pytest
from PIL import Image
from starlette.applications import Starlette
from starlette.testclient import TestClient
from support import ROOT

from rexview.ui.guide import guides
from rexview.ui.guide.guides import FOLDER, GUIDES, image_names, read_guide
from rexview.ui.web.link.pages import PAGES
from tools.guide_pictures import PICTURES, README_PICTURE, SCENES

each_guide = pytest.mark.parametrize("name", GUIDES)


@pytest.fixture
def client():
    return TestClient(Starlette(routes=guides.routes()))


@each_guide
def test_a_guide_begins_with_words_and_shows_pictures(name):
    shown = read_guide(name)
    assert shown[0].markdown.startswith("# ")
    assert any(one.picture for one in shown)
    assert not any("![" in one.markdown for one in shown)


def test_every_guide_is_on_the_page_and_every_picture_in_a_guide():
    assert {path.stem for path in FOLDER.glob("*.md")} == set(GUIDES)
    lying = {path.name for path in (FOLDER / "pictures").iterdir()}
    assert lying == image_names() == {f"{name}.webp" for name in SCENES}


def test_the_readme_shows_a_picture_that_the_script_takes_too():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    shown = {ROOT / path for path in re.findall(r"!\[[^\]]*\]\(([^)]+)\)", readme)}
    taken = {kept for _, kept in PICTURES.values()}
    assert shown == taken - {FOLDER / "pictures" / f"{name}.webp" for name in SCENES}
    assert README_PICTURE in shown


def test_pictures_are_small_enough_for_a_page():
    for path in (FOLDER / "pictures").iterdir():
        assert path.stat().st_size < 150_000
        with Image.open(path) as picture:
            assert picture.width <= 1600


@each_guide
def test_pages_named_under_a_group_are_there(name):
    text = (FOLDER / f"{name}.md").read_text(encoding="utf-8")
    titles = {page.title: page.group for page in PAGES}
    for title, group in re.findall(r"\*\*([^*]+)\*\* \(under \*([^*]+)\*\)", text):
        assert titles[title] == group


@each_guide
def test_documents_that_a_guide_names_are_there(name):
    text = (FOLDER / f"{name}.md").read_text(encoding="utf-8")
    for path in re.findall(r"`(docs/[\w.-]+)`", text):
        assert (ROOT / path).exists()


def test_a_picture_is_served_and_nothing_else(client):
    found = client.get(guides.image_address("case.webp"))
    assert found.status_code == 200
    assert found.headers["content-type"] == "image/webp"
    for name in ("clinician.md", "..%2Fclinician.md", "%2e%2e", "none.webp"):
        assert client.get(guides.image_address(name)).status_code == 404

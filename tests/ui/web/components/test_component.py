"""How our components are declared and their modules served."""

import re
from pathlib import PurePosixPath

import pytest
from starlette.applications import Starlette
from starlette.routing import Route
from starlette.testclient import TestClient
from support import ROOT
from support.rows import each_row

from rexview.ui.web.components import module_address, modules, modules_version, serve_module

HTML_OF_THE_SERVER = ("web/streamlit_adapter/in_app.js", "score_cases/pad/assets/")


@pytest.fixture(scope="module")
def client():
    return TestClient(
        Starlette(routes=[Route("/rexview/assets/{version}/{name:path}", serve_module)])
    )


@each_row("name", modules())
def test_every_module_that_is_imported_is_served(name, client):
    content = modules()[name]
    for imported in re.findall(r'from "([^"]+[.]js)"', content.decode()):
        path = str(PurePosixPath("/", name).parent / imported)
        told = client.get(f"/rexview/assets/{modules_version()}{path}")
        assert told.status_code == 200, f"{name} imports {imported}"
    told = client.get("/" + module_address(name))
    assert told.content == content
    assert told.headers["content-type"].startswith("text/javascript")


@each_row("name", modules())
def test_modules_never_turn_data_into_markup(name):
    if not name.startswith(HTML_OF_THE_SERVER):
        written = r"innerHTML|insertAdjacentHTML|eval\("
        assert not re.search(written, modules()[name].decode())


def test_nothing_else_is_served(client):
    version = modules_version()
    for path in (f"{version}/components/loader.js", f"{version}/x.js", "0/components/dom.js"):
        assert client.get(f"/rexview/assets/{path}").status_code == 404
    for path in (f"{version}/components/component.py", f"{version}/../../app.py"):
        assert client.get(f"/rexview/assets/{path}").status_code == 404


def test_version_is_fit_for_a_path():
    assert re.fullmatch(r"[0-9a-f]{16}", modules_version())


def test_what_components_tell_the_page_is_what_the_page_takes():
    scripts = "\n".join(content.decode() for content in modules().values())
    files = (ROOT / "rexview/ui").rglob("*.py")
    code = "\n".join(file.read_text(encoding="utf-8") for file in files)
    (declared,) = re.findall(r"@typedef \{(.*?)\} Trigger", scripts)
    told = set(re.findall(r"\btell\(\s*\"(\w+)\"", scripts))
    taken = set(re.findall(r"\bon_(\w+)_change=", code))
    assert told == set(re.findall(r"\w+", declared))
    assert taken <= told

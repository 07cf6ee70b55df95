"""What every answer tells the browser that it may do."""

import base64
import hashlib
import re

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.routing import Route
from starlette.testclient import TestClient

from rexview.ui.web.app.security_headers import SecurityHeaders, page_policy, server_error
from rexview.ui.web.streamlit_adapter.page_markup import DefaultDarkTheme

PAGE = "<!DOCTYPE html><html><head><script>\n let a = 1;\n</script><script src='x'></script></head>"
SVG = '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'


async def fails(request):
    raise RuntimeError("as it does")


ROUTES = {
    "/": lambda _: HTMLResponse(PAGE),
    "/script.js": lambda _: Response("1", media_type="text/javascript"),
    "/a.svg": lambda _: Response(SVG, media_type="image/svg+xml"),
    "/refused": lambda _: PlainTextResponse("No.", 403),
    "/fails": fails,
}


@pytest.fixture
def client():
    app = Starlette(
        routes=[Route(path, answer) for path, answer in ROUTES.items()],
        middleware=[Middleware(SecurityHeaders), Middleware(DefaultDarkTheme)],
        exception_handlers={Exception: server_error},
    )
    return TestClient(app, base_url="http://localhost:8501", raise_server_exceptions=False)


def rules(answer):
    parts = answer.headers["content-security-policy"].split("; ")
    return {name: set(sources) for name, *sources in (part.split() for part in parts)}


@pytest.mark.parametrize("path", [*ROUTES, "/nothing"])
def test_every_answer_says_what_may_be_done_with_it(client, path):
    answer = client.get(path, headers={"Accept": "text/html"})
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["x-frame-options"] == "DENY"
    assert answer.headers["referrer-policy"] == "same-origin"
    assert answer.headers["cross-origin-resource-policy"] == "same-origin"
    assert rules(answer)["default-src"] == rules(answer)["frame-ancestors"] == {"'none'"}


def test_a_failure_tells_no_more_than_that(client):
    answer = client.get("/fails")
    assert (answer.status_code, "as it does" in answer.text) == (500, False)


def test_a_page_reaches_this_server_only(client):
    found = rules(client.get("/", headers={"Accept": "text/html"}))
    here = {"'self'", "ws://localhost:8501", "wss://localhost:8501"}
    assert found["connect-src"] == here
    assert found["img-src"] == {"'self'", "data:", "blob:"}
    known = {"'self'", "'none'", "data:", "blob:", "'unsafe-inline'", "'wasm-unsafe-eval'", *here}
    hashes = {source for source in found["script-src"] if source.startswith("'sha256-")}
    assert set.union(*found.values()) - hashes <= known
    assert "'unsafe-inline'" not in found["script-src"]


def test_the_inline_scripts_of_a_page_are_named_and_no_others(client):
    answer = client.get("/", headers={"Accept": "text/html"})
    scripts = re.findall(r"<script>(.*?)</script>", answer.text, re.DOTALL)
    assert len(scripts) == 2  # the page's own, and that for the theme
    digests = [hashlib.sha256(script.encode()).digest() for script in scripts]
    wanted = {f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests}
    assert {one for one in rules(answer)["script-src"] if "sha256" in one} == wanted


def test_a_file_opened_in_a_tab_runs_nothing(client):
    found = rules(client.get("/a.svg"))
    assert "script-src" not in found
    assert found["sandbox"] == set()
    assert "sandbox" not in rules(client.get("/script.js")), "a worker goes by this one"


@pytest.mark.parametrize("host", ["a b", "x; script-src *", "x'y", "localhost:port", "", None])
def test_a_name_that_is_none_does_not_get_into_the_policy(host):
    assert page_policy(host).count("ws:") == page_policy(host).count("*") == 0


@pytest.mark.parametrize("host", ["review.example.org", "127.0.0.1:8501", "[::1]:8501"])
def test_the_websocket_of_the_asked_name_is_ours(host):
    assert f" ws://{host} wss://{host};" in page_policy(host)

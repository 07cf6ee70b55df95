import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.responses import HTMLResponse, PlainTextResponse, StreamingResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from rexview.ui.web.streamlit_adapter.page_markup import THEME_KEY, DefaultDarkTheme

PAGE = "<!DOCTYPE html>\n<html>\n  <head>\n<title>ä</title></head><body>" + "x" * 2000


async def page(request):
    return HTMLResponse(PAGE, headers={"ETag": "x"})


async def parts(request):
    async def pieces():
        yield PAGE[:10].encode()
        yield PAGE[10:].encode()

    return StreamingResponse(pieces(), media_type="text/html")


async def text(request):
    return PlainTextResponse("<head> of a text")


@pytest.fixture
def client():
    routes = [Route("/", page), Route("/parts", parts), Route("/text", text)]
    # the compression stands inside, as Streamlit's own does
    app = Starlette(
        routes=routes, middleware=[Middleware(DefaultDarkTheme), Middleware(GZipMiddleware)]
    )
    return TestClient(app)


@pytest.mark.parametrize("path", ["/", "/parts"])
def test_a_page_gets_the_script_first_in_its_head(client, path):
    answer = client.get(path, headers={"Accept": "text/html,*/*"})
    assert answer.text.replace(PAGE.split("<head>")[0], "").startswith("<head>\n<script>")
    assert THEME_KEY in answer.text
    assert "<title>ä</title>" in answer.text
    assert "etag" not in answer.headers
    assert int(answer.headers["content-length"]) == len(answer.content)


def test_what_else_is_added_stands_at_the_end_of_the_head():
    app = DefaultDarkTheme(
        Starlette(routes=[Route("/case", page)]), more=lambda path: f"<!--{path}-->".encode()
    )
    told = TestClient(app).get("/case", headers={"Accept": "text/html"})
    assert "ä</title><!--/case--></head>" in told.text


def test_everything_else_is_left_alone(client):
    assert client.get("/text", headers={"Accept": "text/html"}).text == "<head> of a text"
    other = client.get("/", headers={"Accept": "application/json"})
    assert other.text == PAGE
    assert other.headers["content-encoding"] == "gzip"
    assert client.get("/none", headers={"Accept": "text/html"}).status_code == 404

"""To which names and pages a server answers, and what it serves beside its own pages."""

from contextlib import suppress

import pytest
import streamlit as st
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.responses import PlainTextResponse
from starlette.routing import Route, WebSocketRoute
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect
from streamlit.proto.BackMsg_pb2 import BackMsg

from rexview.errors import NotAdmitted, SettingsError
from rexview.people import Person
from rexview.settings import Settings
from rexview.ui.web.access import sign_in
from rexview.ui.web.access.request_checks import KnownRoutesOnly, OriginCheck
from rexview.ui.web.server import server_state
from rexview.ui.web.streamlit_adapter import sign_in_cookie
from rexview.ui.web.streamlit_adapter.served_routes import MESSAGES, STREAM

OWN = [
    Route("/rexview/write", lambda _: PlainTextResponse("written"), methods=["POST"]),
    Route("/rexview/ready", lambda _: PlainTextResponse("Ready.")),
]
EVERY_METHOD = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]


async def anything(request):
    return PlainTextResponse("passed on")


async def stream(websocket):
    """Say under which name it was asked, then which messages come."""
    await websocket.accept()
    await websocket.send_text(websocket.headers["host"])
    with suppress(WebSocketDisconnect):
        while True:
            message = BackMsg.FromString(await websocket.receive_bytes())
            await websocket.send_text(str(message.WhichOneof("type")))


@pytest.fixture
def serve(monkeypatch):
    """Return a function that makes a client of a server: its settings, its team, who asks."""

    def client(
        *,
        address="localhost",
        base="",
        browser="localhost",
        public=None,
        team=False,
        sign_in_at=None,
        person=None,
    ):
        def is_team():
            if isinstance(team, Exception):
                raise team
            return team

        def who(_):
            if isinstance(person, Exception):
                raise person
            return person

        options = {
            "server.address": address,
            "server.baseUrlPath": base,
            "browser.serverAddress": browser,
        }
        monkeypatch.setattr(st, "get_option", options.get)
        monkeypatch.setattr(server_state, "requires_sign_in", is_team)
        monkeypatch.setattr(server_state, "settings", lambda: Settings(public_address=public))
        monkeypatch.setattr(sign_in, "signed_in_for_request", who)
        monkeypatch.setattr(sign_in_cookie, "sign_in_origin", lambda: sign_in_at)
        routes = [
            *OWN,
            WebSocketRoute(f"/{base}{STREAM}" if base else STREAM, stream),
            WebSocketRoute("/other", stream),
            Route("/{path:path}", anything, methods=EVERY_METHOD),
        ]
        gates = [
            Middleware(OriginCheck),
            Middleware(KnownRoutesOnly, app_routes=OWN, pages=["", "browse"]),
        ]
        app = Starlette(routes=routes, middleware=gates)
        return TestClient(app, base_url="http://localhost:8501")

    return client


def opened(client, path=STREAM, **headers):
    """Open the websocket; return the name under which it was asked, or how it was refused."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    try:
        with client.websocket_connect(path, headers=named) as socket:
            return socket.receive_text()
    except WebSocketDisconnect as closed:
        return closed.code


def ask(client, name):
    """Return whether a page and a websocket are given under a name."""
    page = client.get("/", headers={"Host": name}).status_code
    socket = opened(client, host=name)
    assert (page, socket) in [(200, name), (403, 1008)]
    return page == 200


@pytest.mark.parametrize("name", ["localhost:8501", "LOCALHOST", "127.0.0.1:8501", "[::1]:8501"])
def test_alone_it_answers_to_names_of_this_machine(serve, name):
    assert ask(serve(), name)


@pytest.mark.parametrize(
    "name",
    ["evil.example:8501", "localhost.evil.example", "127.0.0.1.evil.example:8501", "[", ""],
)
def test_alone_it_refuses_names_that_were_made_to_point_here(serve, name):
    assert not ask(serve(), name)


def test_other_names_are_for_an_open_server_or_when_said(serve):
    name = "review.example.org"
    assert ask(serve(address="0.0.0.0"), name)
    assert ask(serve(browser="Review.example.org"), name)
    assert not ask(serve(browser=name), "evil.example")


def test_a_public_address_is_the_only_other_name_also_for_a_team(serve):
    name, public = "review.example.org", "https://review.example.org"
    for known in ({"public": public}, {"team": True, "sign_in_at": public}):
        for address in ("localhost", "0.0.0.0"):
            client = serve(address=address, **known)
            assert ask(client, name)
            assert ask(client, "localhost:8501")
            assert not ask(client, "evil.example")
    assert ask(serve(team=True), name), "a sign-in that says no address is told of by the page"


def test_settings_that_cannot_be_used_are_told_by_the_page(serve):
    assert ask(serve(team=SettingsError("No [auth].")), "review.example.org")


def test_whatever_watches_the_server_may_use_any_name(serve):
    client = serve()
    for path in ("/_stcore/health", "/rexview/ready"):
        assert client.get(path, headers={"Host": "10.0.0.5:8501"}).status_code == 200
    assert client.get("/_stcore/metrics", headers={"Host": "10.0.0.5:8501"}).status_code == 403


HERE = {"host": "localhost:8501"}
FOREIGN = [
    "http://evil.example",
    "http://localhost:8502",
    "http://localhost",
    "http://127.0.0.1:8501",
    "null",
    "file://",
    "http://localhost:x",
    "http://[",
    "",
]


@pytest.mark.parametrize("origin", FOREIGN)
def test_what_other_pages_send_is_refused(serve, origin):
    client = serve()
    assert opened(client, **HERE, origin=origin) == 1008
    headers = {**HERE, "origin": origin}
    assert client.post("/rexview/write", headers=headers).status_code == 403
    upload = "/_stcore/upload_file/a/b"
    assert client.put(upload, headers=headers).status_code == 403
    assert client.delete(upload, headers=headers).status_code == 403
    assert client.get("/media/a.csv", headers=headers).status_code == 403
    assert client.get("/", headers=headers).status_code == 403


def test_what_our_own_pages_send_is_taken(serve):
    client = serve()
    headers = {**HERE, "origin": "http://localhost:8501", "sec-fetch-site": "same-origin"}
    assert opened(client, **{name.replace("-", "_"): value for name, value in headers.items()})
    assert client.post("/rexview/write", headers=headers).text == "written"
    assert client.put("/_stcore/upload_file/a/b", headers=headers).status_code == 200
    assert client.get("/media/a.csv", headers=headers).status_code == 200


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_without_an_origin_the_browsers_word_on_the_site_decides(serve, site):
    client = serve(team=True)
    headers = {**HERE, "sec-fetch-site": site}
    assert client.post("/rexview/write", headers=headers).status_code == 403
    assert client.get("/auth/logout", headers=headers).status_code == 403
    assert client.get("/browse", headers=headers).status_code == 200, "a link somebody sent"
    assert client.get("/oauth2callback", headers=headers).status_code == 200
    assert client.post("/rexview/write", headers=HERE).text == "written", "no browser"


def test_behind_a_proxy_the_public_address_is_ours_and_streamlit_sees_one_name(serve):
    public = "https://review.example.org"
    client = serve(public=public)
    for host in ("review.example.org", "127.0.0.1:8501"):  # as the proxy passes it on, or not
        assert opened(client, host=host, origin=public) == "review.example.org"
        headers = {"host": host, "origin": public}
        assert client.post("/rexview/write", headers=headers).text == "written"
        for other in ("http://review.example.org", "https://review.example.org:8443"):
            assert opened(client, host=host, origin=other) == 1008
    assert opened(client, **HERE, origin="http://localhost:8501") == "localhost:8501"


def statuses(client, paths, method="GET"):
    return {path: client.request(method, path).status_code for path in paths}


GUARDED = {"/media/a.csv": "GET", "/_stcore/upload_file/a/b": "PUT"}
ALWAYS = ["/", "/browse", "/browse/", "/static/js/a.js", "/favicon.png", "/_stcore/host-config"]


def test_alone_all_that_is_known_is_served(serve):
    client = serve()
    assert set(statuses(client, [*ALWAYS, "/_stcore/metrics"]).values()) == {200}
    assert {client.request(verb, path).status_code for path, verb in GUARDED.items()} == {200}


@pytest.mark.parametrize(
    "path",
    [
        "/nothing",
        "/browse/more",
        "/browse/_stcore/health",
        "/index.html",
        "/app/static/a.js",
        "/component/x/index.html",
        "/_stcore/agent/openapi.json",
        "/_stcore/agent/interact",
        "/_stcore/agent/new",
        "/_stcore/bidi-components/x/a.js",
        "/_stcore/script-health-check",
        "/_stcore/metrics/",
        "//_stcore/metrics",
        "/_stcore/new-in-the-next-streamlit",
        "/auth/login",  # nobody signs in here
    ],
)
def test_what_is_not_known_is_not_there(serve, path):
    client = serve()
    assert {client.request(method, path).status_code for method in EVERY_METHOD} == {404}


def test_a_browser_at_an_unknown_address_is_led_back(serve):
    client = serve(base="review")
    answer = client.get("/review/nothing", headers={"Accept": "text/html,*/*"})
    assert answer.status_code == 404
    assert "There is nothing at this address." in answer.text
    assert '<a href="/review/">Overview</a>' in answer.text


def test_known_paths_take_only_known_methods(serve):
    client = serve()
    for path in ("/", "/browse", "/static/js/a.js", "/media/a.csv", "/_stcore/health"):
        assert set(statuses(client, [path], "POST").values()) == {404}
        assert set(statuses(client, [path], "OPTIONS").values()) == {404}
    assert client.get("/_stcore/upload_file/a/b").status_code == 404
    assert client.get("/rexview/write").status_code == 404


@pytest.mark.parametrize(
    ("person", "files", "metrics"),
    [
        (None, 401, 401),
        (NotAdmitted("Out."), 401, 401),
        (Person("r", "R", "reader"), 403, 403),
        (Person("v", "V", "viewer"), 200, 403),
        (Person("a", "A", "adjudicator"), 200, 403),
        (Person("l", "L", "lead"), 200, 200),
    ],
)
def test_of_a_team_only_those_get_files_and_numbers_who_may(serve, person, files, metrics):
    client = serve(team=True, person=person)
    assert {client.request(verb, path).status_code for path, verb in GUARDED.items()} == {files}
    assert client.get("/_stcore/metrics").status_code == metrics
    known = [*ALWAYS, "/auth/login", "/auth/logout", "/oauth2callback", "/_stcore/health"]
    assert set(statuses(client, known).values()) == {200}, "the way to the sign-in"


def test_with_a_sign_in_that_cannot_be_used_nobody_gets_files(serve):
    client = serve(team=SettingsError("No [auth]."))
    assert {client.request(verb, path).status_code for path, verb in GUARDED.items()} == {401}
    assert client.get("/_stcore/metrics").status_code == 401


def test_under_a_path_it_is_the_same_and_nothing_stands_outside_it(serve):
    client = serve(base="review")
    inside = [f"/review{path}" for path in [*ALWAYS, "/_stcore/metrics"]]
    assert set(statuses(client, [*inside, "/review"]).values()) == {200}
    outside = ["/", "/browse", "/_stcore/metrics", "/reviewer", "/review/nothing"]
    assert set(statuses(client, outside).values()) == {404}
    assert opened(client, "/review" + STREAM, **HERE) == "localhost:8501"


def test_no_websocket_but_the_one(serve):
    assert opened(serve(), "/other", **HERE) == 1008


def test_messages_that_the_app_does_not_use_do_not_arrive(serve):
    def message(kind):
        whole = BackMsg()
        field = getattr(whole, kind)
        setattr(whole, kind, True) if isinstance(field, bool) else field.SetInParent()
        return whole.SerializeToString()

    kinds = [field.name for field in BackMsg.DESCRIPTOR.oneofs_by_name["type"].fields]
    with serve().websocket_connect(STREAM, headers=HERE) as socket:
        socket.receive_text()
        socket.send_bytes(b"")  # of no kind
        socket.send_bytes(b"\xff no message")
        socket.send_text("text")
        for kind in kinds:
            socket.send_bytes(message(kind))
        arrived = {socket.receive_text() for _ in MESSAGES}
    assert arrived == MESSAGES

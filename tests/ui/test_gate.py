"""To which names a server answers on which nobody signs in."""

import pytest
import streamlit as st
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.responses import PlainTextResponse
from starlette.routing import Route, WebSocketRoute
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect

from rexview.errors import SettingsError
from rexview.ui import resources
from rexview.ui.gate import OwnNamesOnly


async def page(_):
    return PlainTextResponse("Overview")


async def stream(websocket):
    await websocket.accept()
    await websocket.send_text("Overview")
    await websocket.close()


@pytest.fixture
def ask(monkeypatch):
    """Return a function that asks a server under a name; what a page and a websocket gave."""

    def under(name, *, address="localhost", public="localhost", team=False):
        def is_team():
            if isinstance(team, Exception):
                raise team
            return team

        options = {"server.address": address, "browser.serverAddress": public}
        monkeypatch.setattr(st, "get_option", options.get)
        monkeypatch.setattr(resources, "team", is_team)
        routes = [Route("/", page), WebSocketRoute("/stream", stream)]
        client = TestClient(Starlette(routes=routes, middleware=[Middleware(OwnNamesOnly)]))
        headers = {"Host": name}
        try:
            with client.websocket_connect("/stream", headers=headers) as socket:
                told = socket.receive_text()
        except WebSocketDisconnect as closed:
            told = closed.code
        return client.get("/", headers=headers).status_code, told

    return under


GIVEN, REFUSED = (200, "Overview"), (403, 1008)


@pytest.mark.parametrize("name", ["localhost:8501", "LOCALHOST", "127.0.0.1:8501", "[::1]:8501"])
def test_alone_it_answers_to_names_of_this_machine(ask, name):
    assert ask(name) == GIVEN


@pytest.mark.parametrize(
    "name",
    ["evil.example:8501", "localhost.evil.example", "127.0.0.1.evil.example:8501", "[", ""],
)
def test_alone_it_refuses_names_that_were_made_to_point_here(ask, name):
    assert ask(name) == REFUSED


def test_other_names_are_for_a_team_for_an_open_server_or_when_said(ask):
    name = "review.example.org"
    assert ask(name, team=True) == GIVEN
    assert ask(name, address="0.0.0.0") == GIVEN
    assert ask(name, public="Review.example.org") == GIVEN
    assert ask("evil.example", public=name) == REFUSED


def test_settings_that_cannot_be_used_are_told_by_the_page(ask):
    assert ask("review.example.org", team=SettingsError("No [auth].")) == GIVEN

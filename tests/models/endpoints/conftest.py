"""One request, asked of a real server over real HTTP."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Protocol

import pytest
from support.model_server import ModelServer, started
from support.model_server.asked import KEY, make_request

from rexview.models.backend import Api, AttemptFailed, Parameters, Reply
from rexview.models.endpoints.endpoint import Endpoint


class Ask(Protocol):
    def __call__(self, turn: Mapping[str, Any], **parameters: Any) -> Reply | AttemptFailed: ...


@pytest.fixture(name="api", params=["responses", "chat"])
def api_fixture(request: pytest.FixtureRequest) -> Api:
    return request.param


@pytest.fixture(name="server", scope="module")
def server_fixture() -> Iterator[ModelServer]:
    with started() as server:
        yield server


@pytest.fixture(name="ask")
def ask_fixture(server: ModelServer, api: Api) -> Ask:
    """Ask once; ``turn`` is what the server does then."""

    def ask(turn: Mapping[str, Any], **parameters: Any) -> Reply | AttemptFailed:
        server.script([{"turns": [turn]}])
        server.options()
        server.reset()
        told = Parameters("gpt-5-mini", api, server.base_url, **{"timeout_s": 20.0, **parameters})
        endpoint = Endpoint(told, key=KEY)
        try:
            (came,) = endpoint.ask([make_request(told)])
            return came
        finally:
            endpoint.close()

    return ask

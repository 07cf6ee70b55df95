"""What a server is asked: everything of the request, once, and nothing else."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
from support import ROOT
from support.model_server import started, started_apart
from support.model_server.asked import KEY, PICTURE, make_request

from rexview.models.backend import Parameters, Reply
from rexview.models.endpoints.endpoint import NO_SCHEMA_NOTE, Endpoint

SCHEMA = {
    "type": "object",
    "properties": {"answer": {"type": "string"}},
    "required": ["answer"],
    "additionalProperties": False,
}


def ask(server, api, schema=None, times=1, **more):
    told = Parameters("gpt-5-mini", api, server.base_url, **more)
    endpoint = Endpoint(told, key=KEY)
    try:
        requests = [make_request(told, f"c{number}", schema) for number in range(times)]
        return endpoint.ask(requests)
    finally:
        endpoint.close()


def test_texts_and_pictures_come_in_order_with_all_parameters(api):
    with started() as server:
        more = {"seed": 7} if api == "chat" else {}
        ask(server, api, max_output_tokens=50, temperature=0.0, reasoning_effort="low", **more)
        (entry,) = server.requests()
        assert entry["text"] == ("You are a radiologist.\nPA view:\nIs there a pneumothorax? (c0)")
        (picture,) = entry["pictures"]
        assert picture["sha256"] == PICTURE.sha256
        assert (picture["width"], picture["height"], picture["detail"]) == (64, 48, "high")
        common = {"model": "gpt-5-mini", "temperature": 0.0, "stream": False}
        if api == "responses":
            assert entry["roles"] == ["instructions", "user"]
            own = {"max_output_tokens": 50, "reasoning": {"effort": "low"}, "store": False}
        else:
            assert entry["roles"] == ["system", "user"]
            own = {"max_tokens": 50, "reasoning_effort": "low", "seed": 7}
        assert entry["sent"] == common | own
        assert entry["key_end"] == KEY[-4:]


def test_nothing_is_sent_that_nobody_asked_for(api):
    with started() as server:
        ask(server, api)
        (entry,) = server.requests()
        also = {"store"} if api == "responses" else set()
        assert entry["sent"].keys() == {"model", "stream"} | also


def test_an_account_at_openai_is_not_told_to_other_servers(api, monkeypatch):
    monkeypatch.setenv("OPENAI_ORG_ID", "org-secret")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "project-secret")
    with started() as server:
        ask(server, api)
        (entry,) = server.requests()
        assert "authorization" in entry["headers"]
        assert not [name for name in entry["headers"] if name.startswith("openai")]


def test_a_schema_is_sent_where_it_is_asked_for(api):
    with started() as server:
        (reply,) = ask(server, api, SCHEMA, structured=True)
        assert reply.text.startswith('{"answer": ')
        assert reply.notes == ()
        ask(server, api, SCHEMA)
        first, second = server.requests()
        assert {"text", "response_format"} & first["sent"].keys()
        assert not {"text", "response_format"} & second["sent"].keys()


def test_a_server_without_schemas_is_asked_without_and_that_is_remembered(api):
    with started(structured=False) as server:
        replies = ask(server, api, SCHEMA, times=3, structured=True)
        assert [reply.outcome for reply in replies] == ["answered"] * 3
        assert [reply.notes for reply in replies] == [(NO_SCHEMA_NOTE,)] * 3
        assert [entry["status"] for entry in server.requests()] == [400, 200, 200, 200]


@pytest.mark.parametrize(
    "words",
    [
        "1 validation error: {'loc': ('body', 'response_format', 'type'), 'input': 'json_schema'}",
        "Structured output is not supported.",
    ],
)
def test_a_server_that_fails_on_schemas_is_asked_without(api, words):
    """So does the server of llama-cpp-python, with status 500."""
    turn = {"error": {"status": 500, "message": words}}
    with started([{"turns": [turn, {}]}]) as server:
        (reply,) = ask(server, api, SCHEMA, structured=True)
        assert (reply.outcome, reply.notes) == ("answered", (NO_SCHEMA_NOTE,))


def test_a_server_that_does_not_say_why_is_learned_by_all_that_are_under_way(api):
    delays = [
        {"match": f"(c{number})", "turns": [{"delay_s": number / 10}, {}]} for number in range(4)
    ]
    with started(delays, structured=False, says_why=False) as server:
        told = Parameters("gpt-5-mini", api, server.base_url, structured=True)
        endpoint = Endpoint(told, key=KEY)
        with ThreadPoolExecutor(4) as pool:
            requests = [make_request(told, f"c{number}", SCHEMA) for number in range(4)]
            came = list(pool.map(lambda request: endpoint.ask([request])[0], requests))
        endpoint.close()
        assert [type(reply) for reply in came] == [Reply] * 4
        assert {reply.notes for reply in came} == {(NO_SCHEMA_NOTE,)}


def test_a_bad_request_without_a_reason_is_tried_without_the_schema_once(api):
    turn = {"error": {"status": 400, "message": "Bad Request"}}
    with started([{"turns": [turn]}]) as server:
        (failed,) = ask(server, api, SCHEMA, structured=True)
        assert (failed.kind, failed.again) == ("request", False)
        assert len(server.requests()) == 2


@pytest.mark.parametrize("other", ["max_tokens", "max_completion_tokens"])
def test_the_limit_has_the_name_that_the_server_wants(other):
    """Many are under way before the first answer says so."""
    with started(other_limit=other, delay_s=0.1) as server:
        told = Parameters("gpt-5-mini", "chat", server.base_url, max_output_tokens=50)
        endpoint = Endpoint(told, key=KEY)
        endpoint._limit_name = other
        with ThreadPoolExecutor(8) as pool:
            requests = [make_request(told, f"c{number}") for number in range(16)]
            came = list(pool.map(lambda request: endpoint.ask([request])[0], requests))
        endpoint.close()
        assert {type(reply) for reply in came} == {Reply}
        refused = [entry for entry in server.requests() if entry["status"] == 400]
        assert 1 <= len(refused) <= 8
        assert all(other in entry["sent"] for entry in refused)


def test_pictures_are_sent_as_they_are_for_every_request_of_many_at_once(api):
    with started_apart() as server:
        told = Parameters("gpt-5-mini", api, server.base_url)
        endpoint = Endpoint(told, key=KEY, connections=16)
        with ThreadPoolExecutor(16) as pool:
            cases = [f"case-{number:03}" for number in range(200)]
            came = list(pool.map(lambda case: endpoint.ask([make_request(told, case)]), cases))
        endpoint.close()
        assert {reply.outcome for (reply,) in came} == {"answered"}
        entries = server.requests()
        assert sorted(entry["text"][-9:-1] for entry in entries) == cases
        assert {entry["pictures"][0]["sha256"] for entry in entries} == {PICTURE.sha256}


def test_the_heavy_package_is_imported_when_the_first_endpoint_is_made():
    code = (
        "import sys; import rexview.models.endpoints.endpoint; "
        "sys.exit('openai' in sys.modules or 'httpx2' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False).returncode == 0
